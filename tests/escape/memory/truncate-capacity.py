#: attacks = the capacity that files keep when they are cut
#: finding = C3
#: timeout = 4
#: memory = 96M
#: disk = 4M
#: status = any
data = b"x" * 65536
n = 0
while True:
    try:
        with open(f"/tmp/f{n}", "wb", buffering=0) as f:
            f.write(data)
            f.truncate(1)
    except OSError:
        break
    n += 1
print(n)

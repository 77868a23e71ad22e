#: attacks = memory by one object of every size
#: memory = 96M
#: status = 0
#: says = contained
for n in (1 << 27, 1 << 30, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40, 1 << 62):
    for f in (bytearray, bytes, lambda n: "x" * n, lambda n: [0] * n, lambda n: (0,) * n, lambda n: list(range(n)) if n > 1 << 40 else None):
        try:
            f(n)
        except (MemoryError, OverflowError):
            pass
print("contained")

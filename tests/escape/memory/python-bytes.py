#: attacks = memory by one object after the other
#: timeout = 3
#: memory = 96M
#: status = 1
#: limit = memory
#: says = MemoryError
x = []
while True:
    x.append(bytearray(1 << 20))

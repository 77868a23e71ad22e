#: attacks = memory by dictionaries and sets that double
#: timeout = 1
#: memory = 96M
#: status = 1 124
d, s, i = {}, set(), 0
while True:
    d[i] = (i,)
    s.add(str(i))
    i += 1

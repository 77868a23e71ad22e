#: attacks = reading and writing beyond an array by its strides
#: timeout = 2
#: status = any
import numpy as np
a = np.lib.stride_tricks.as_strided(np.ones(4, dtype=np.uint8), (1 << 31,), (1,))
for step in (1 << 12, 1 << 16, 1 << 20):
    for at in range(0, 1 << 31, step << 4):
        a[at]
for at in range(0, 1 << 31, 4096):
    a[at] = 65

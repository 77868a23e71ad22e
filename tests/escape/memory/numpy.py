#: attacks = memory by arrays, touched or not
#: timeout = 2
#: memory = 128M
#: status = any
import numpy as np
for f in (lambda: np.zeros(1 << 33), lambda: np.ones(1 << 28), lambda: np.empty((1 << 16, 1 << 16)),
          lambda: np.arange(1 << 40), lambda: np.broadcast_to(np.ones(1), (1 << 30,)).copy(), lambda: np.eye(100000),
          lambda: np.ones(4).repeat(1 << 30), lambda: np.pad(np.ones(3), 1 << 29), lambda: np.random.rand(1 << 30)):
    try:
        f()
    except (MemoryError, ValueError, OverflowError) as e:
        print(type(e).__name__)
print("contained")

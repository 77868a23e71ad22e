#: attacks = output in one call that is larger than the limit
#: output = 1K
#: timeout = 5
#: status = 137
#: limit = output
import os
for _ in range(100):
    os.write(1, b"x" * 50_000_000)

#: attacks = handlers of signals that send signals
#: timeout = 1
#: status = 124 1 130 137 143
import os, signal
def again(n, frame):
    os.kill(os.getpid(), n)
    again(n, frame)
for n in range(1, 64):
    try:
        signal.signal(n, again)
    except (OSError, ValueError):
        pass
while True:
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except RecursionError:
        pass

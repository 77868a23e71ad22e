#: attacks = the time limit by loops in C, where no bytecode runs
#: timeout = 1
#: status = 124
#: limit = timeout
import itertools, collections, signal
try:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
except (OSError, ValueError):
    pass
collections.deque(itertools.repeat(None), maxlen=0)

#: attacks = clocks and pauses with numbers that overflow
#: timeout = 1
#: status = any
import select, time, os
for t in (-1, 0, 1e-300, float("nan"), float("inf"), -float("inf"), 1e18, 1e300, 2**31, 2**32, 2**63, 2**64, 10**30):
    for f in (time.sleep, lambda t: select.select([], [], [], t), time.gmtime, time.ctime, lambda t: os.utime("/tmp", (t, t)),
              lambda t: os.utime("/tmp", ns=(int(t), int(t))), lambda t: time.clock_gettime(int(t)), lambda t: time.clock_settime(int(t), t)):
        if f is time.sleep and 1 < t < 1e30:
            continue
        try:
            f(t if f is not select.select else min(t, 0.01))
        except (OSError, ValueError, OverflowError, TypeError):
            pass

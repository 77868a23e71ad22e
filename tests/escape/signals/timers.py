#: attacks = timers and alarms
#: timeout = 2
#: status = 0 1 142
#: says = contained
import signal
for f in (lambda: signal.setitimer(signal.ITIMER_REAL, 1e-9, 1e-9), lambda: signal.alarm(1), lambda: signal.pthread_kill(0, 9),
          lambda: signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64)), lambda: signal.sigwait([1]), lambda: signal.siginterrupt(2, True),
          lambda: signal.set_wakeup_fd(1), lambda: signal.raise_signal(0), lambda: signal.sigpending()):
    try:
        f()
    except (AttributeError, OSError, ValueError, NameError) as e:
        print(type(e).__name__)
print("contained")

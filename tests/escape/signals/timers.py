#: attacks = timers and alarms
#: timeout = 2
#: status = 0
#: says = contained
import signal
import threading
signal.signal(signal.SIGALRM, lambda *arguments: None)
for f in (lambda: signal.setitimer(signal.ITIMER_REAL, 1e-9, 1e-9), lambda: signal.setitimer(0, 1e300), lambda: signal.setitimer(7, 1),
          lambda: signal.pthread_kill(threading.get_ident(), 77), lambda: signal.pthread_kill(2**32 - 1, 0),
          lambda: signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64)), lambda: signal.sigtimedwait([1], 0.1), lambda: signal.siginterrupt(2, True),
          lambda: signal.sigwait([signal.SIGALRM]), lambda: signal.alarm(2**31),
          lambda: signal.set_wakeup_fd(1), lambda: signal.raise_signal(0), lambda: signal.sigpending()):
    try:
        f()
    except (OSError, ValueError, OverflowError) as e:
        print(type(e).__name__)
print("contained")

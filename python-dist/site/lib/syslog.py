"""The system's log, which nobody keeps here: messages go where they go without a log daemon,
nowhere, but for LOG_PERROR, which writes them to standard error. Numbers are Linux's.
"""

import os as _os
import sys as _sys

(LOG_EMERG, LOG_ALERT, LOG_CRIT, LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO,
 LOG_DEBUG) = range(8)
(LOG_KERN, LOG_USER, LOG_MAIL, LOG_DAEMON, LOG_AUTH, LOG_SYSLOG, LOG_LPR, LOG_NEWS, LOG_UUCP,
 LOG_CRON, LOG_AUTHPRIV) = range(0, 88, 8)
(LOG_LOCAL0, LOG_LOCAL1, LOG_LOCAL2, LOG_LOCAL3, LOG_LOCAL4, LOG_LOCAL5, LOG_LOCAL6,
 LOG_LOCAL7) = range(128, 192, 8)
LOG_PID, LOG_CONS, LOG_ODELAY, LOG_NDELAY, LOG_NOWAIT, LOG_PERROR = 1, 2, 4, 8, 16, 32

_ident = _options = None
_mask = 0xFF


def openlog(ident=None, logoption=0, facility=LOG_USER):
    """Notes what the messages to come begin with, and the options."""
    global _ident, _options
    if ident is None:
        ident = _os.path.basename(_sys.argv[0]) if getattr(_sys, "argv", None) else ""
    ident.encode()  # what cannot be written is refused at once
    _ident, _options = ident, logoption


def closelog():
    """Forgets that; the mask, too."""
    global _ident, _options, _mask
    _ident = _options = None
    _mask = 0xFF


def syslog(*arguments):
    """syslog([priority,] message)"""
    if not 1 <= len(arguments) <= 2:
        raise TypeError("[priority,] message string")
    priority, message = arguments if len(arguments) == 2 else (LOG_INFO, arguments[0])
    if not isinstance(message, str):
        raise TypeError(f"argument must be str, not {type(message).__name__}")
    if _options is None:
        openlog()
    if _options & LOG_PERROR and LOG_MASK(priority & 7) & _mask:
        number = f"[{_os.getpid()}]" if _options & LOG_PID else ""
        print(f"{_ident}{number}: {message}", file=_sys.stderr)


def setlogmask(maskpri, /):
    """Sets which priorities count, and gives what was set; 0 only asks."""
    global _mask
    before = _mask
    if maskpri:
        _mask = maskpri
    return before


def LOG_MASK(pri, /):
    """The bit of a priority."""
    return 1 << pri


def LOG_UPTO(pri, /):
    """The bits of all priorities up to one."""
    return (1 << pri + 1) - 1

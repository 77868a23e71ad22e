"""Limits and use of resources, as far as a process of the sandbox knows them.

The sandbox's own limits (memory, time, processes, files) belong to its policy: they are
not told, and nothing here changes them. What is told are the limits that programs rest on; the
shell's `ulimit` has the same. Numbers are Linux's.
"""

import errno as _errno
import os as _os
import time as _time
from collections import namedtuple as _namedtuple
from operator import index as _index

error = OSError

RLIM_INFINITY = -1
(RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_CORE, RLIMIT_RSS, RLIMIT_NPROC,
 RLIMIT_NOFILE, RLIMIT_MEMLOCK, RLIMIT_AS) = range(10)
RLIMIT_OFILE = RLIMIT_NOFILE
RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE, RLIMIT_NICE, RLIMIT_RTPRIO, RLIMIT_RTTIME = range(11, 16)
_RLIM_NLIMITS = 16

RUSAGE_SELF, RUSAGE_CHILDREN, RUSAGE_THREAD = 0, -1, 1

# What is not infinite: nothing dumps a core, and the stack is linked into the interpreter.
_LIMITS = {
    RLIMIT_STACK: 8 << 20,
    RLIMIT_CORE: 0,
    RLIMIT_NPROC: 1024,
    RLIMIT_NOFILE: _os.sysconf("SC_OPEN_MAX"),
    RLIMIT_MEMLOCK: 64 << 10,
    RLIMIT_SIGPENDING: 1024,
    RLIMIT_MSGQUEUE: 819200,
    RLIMIT_NICE: 0,
    RLIMIT_RTPRIO: 0,
}

struct_rusage = _namedtuple(
    "struct_rusage",
    "ru_utime ru_stime ru_maxrss ru_ixrss ru_idrss ru_isrss ru_minflt ru_majflt ru_nswap "
    "ru_inblock ru_oublock ru_msgsnd ru_msgrcv ru_nsignals ru_nvcsw ru_nivcsw",
    module="resource",
)


def getrlimit(resource, /):
    """(soft, hard) limit."""
    resource = _index(resource)
    if not -1 << 31 <= resource < 1 << 31:
        raise OverflowError("Python int too large to convert to C int")
    if not 0 <= resource < _RLIM_NLIMITS:
        raise ValueError("invalid resource specified")
    limit = _LIMITS.get(resource, RLIM_INFINITY)
    return limit, limit


def setrlimit(resource, limits, /):
    """Does nothing if nothing would change; else fails with ENOTSUP, or a ValueError if more is
    asked for than there is."""
    limit, _ = getrlimit(resource)
    limits = [_index(n) for n in tuple(limits)]
    if len(limits) != 2:
        raise ValueError("expected a tuple of 2 integers")
    soft, hard = limits
    if min(limits) < RLIM_INFINITY:
        raise ValueError("Cannot convert negative int")
    if max(limits) >= 1 << 64:
        raise OverflowError("int too big to convert")
    if soft == hard == limit:
        return
    if limit != RLIM_INFINITY and not (0 <= soft <= limit and 0 <= hard <= limit):
        raise ValueError("not allowed to raise maximum limit")
    raise OSError(_errno.ENOTSUP, "limits belong to the sandbox's policy")


def prlimit(pid, resource, limits=None, /):
    """As the other two, for the process itself."""
    if pid not in (0, _os.getpid()):
        if pid < 0:
            raise ProcessLookupError(_errno.ESRCH, _os.strerror(_errno.ESRCH))
        _os.kill(pid, 0)
        raise PermissionError(_errno.EPERM, _os.strerror(_errno.EPERM))
    before = getrlimit(resource)
    if limits is not None:
        setrlimit(resource, limits)
    return before


def getrusage(who, /):
    """Processor time of this process; what is not counted is 0, that of children too."""
    if who not in (RUSAGE_SELF, RUSAGE_CHILDREN, RUSAGE_THREAD):
        raise ValueError("invalid who parameter")
    own = 0.0 if who == RUSAGE_CHILDREN else _time.process_time()
    return struct_rusage(own, 0.0, *[0] * 14)


def getpagesize():
    """Bytes of a page of WebAssembly's memory."""
    return 65536

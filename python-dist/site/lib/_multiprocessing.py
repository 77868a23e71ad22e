"""Semaphores for `multiprocessing`, which are C elsewhere: pipes whose bytes are the permits.

To acquire is to take a byte, to release is to put one. A process that is spawned gets both
ends of the pipe, by their numbers. The reading end does not block: who finds no byte waits
until there is one, and tries again.

A process that is killed takes its permits along, as with POSIX semaphores.
"""

import os as _os
import select as _select
from threading import get_ident as _get_ident
from time import monotonic as _monotonic

# The kinds, as multiprocessing.synchronize numbers them.
_RECURSIVE_MUTEX, _SEMAPHORE = range(2)
# The least that POSIX allows; so many bytes fit into a pipe.
_MOST = 32767

flags = {"HAVE_SEM_OPEN": 1, "HAVE_SEM_TIMEDWAIT": 1}


def sem_unlink(name):
    """Names mean nothing here: there is nothing to be removed."""


class SemLock:
    """A semaphore or a recursive lock."""

    SEM_VALUE_MAX = _MOST

    def __init__(self, kind, value, maxvalue, name, unlink):
        if kind not in (_RECURSIVE_MUTEX, _SEMAPHORE):
            raise ValueError("unrecognized kind")
        if not 0 <= value <= maxvalue or value > _MOST:
            raise ValueError("invalid value")
        reading, writing = _os.pipe()
        _os.set_blocking(reading, False)
        # A list: multiprocessing.synchronize formats it by %.
        self._set_up([reading, writing], kind, min(maxvalue, _MOST), name)
        self._put(value)

    @classmethod
    def _rebuild(cls, handle, kind, maxvalue, name):
        self = cls.__new__(cls)
        self._set_up(handle, kind, maxvalue, name)
        return self

    def _set_up(self, handle, kind, maxvalue, name):
        self._reading, self._writing = self.handle = handle
        self.kind, self.maxvalue, self.name = kind, maxvalue, name
        # How often this process has it, and which of its threads had it last.
        self._held, self._owner = 0, None

    def __del__(self, _close=_os.close):
        for fd in getattr(self, "handle", ()):
            try:
                _close(fd)
            except OSError:
                pass

    def _passed_to(self, popen):
        """What `_rebuild` takes in the process that is being spawned."""
        return [popen.duplicate_for_child(fd) for fd in self.handle]

    def _put(self, count):
        while count > 0:
            count -= _os.write(self._writing, bytes(count))

    def _take(self, count=1):
        """The permits that are to be had at once, so many at most."""
        try:
            return len(_os.read(self._reading, count))
        except BlockingIOError:
            return 0

    def acquire(self, block=True, timeout=None):
        if self.kind == _RECURSIVE_MUTEX and self._is_mine():
            self._held += 1
            return True
        deadline = None
        if block and timeout is not None:
            deadline = _monotonic() + max(timeout, 0)
        while not self._take():
            if not block or not self._wait(deadline):
                return False
        self._held += 1
        self._owner = _get_ident()
        return True

    def _wait(self, deadline):
        """Waits until there may be a permit; False when the time is up."""
        left = None
        if deadline is not None:
            left = (deadline - _monotonic()) * 1000
            if left <= 0:
                return False
        # One of its own: a thread may not poll by an object that another one polls by.
        poll = _select.poll()
        poll.register(self._reading, _select.POLLIN)
        poll.poll(left)
        return True

    def release(self):
        if self.kind == _RECURSIVE_MUTEX:
            if not self._is_mine():
                raise AssertionError("attempt to release recursive lock not owned by thread")
            if self._held > 1:
                self._held -= 1
                return
        elif self.maxvalue == 1:
            if self._take():
                self._put(1)
                raise ValueError("semaphore or lock released too many times")
        elif self._get_value() >= self.maxvalue:
            raise ValueError("semaphore or lock released too many times")
        self._held -= 1
        self._put(1)

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *raised):
        self.release()

    def _count(self):
        return self._held

    def _is_mine(self):
        return self._held > 0 and self._owner == _get_ident()

    def _get_value(self):
        """The permits that nobody has. They are taken and put back: others that want one wait."""
        count = self._take(_MOST)
        self._put(count)
        return count

    def _is_zero(self):
        return self._get_value() == 0

    def _after_fork(self):
        self._held = 0

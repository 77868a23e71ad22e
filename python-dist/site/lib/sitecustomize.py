"""The image's part of every start with `site`; one of yours that comes earlier on the path
stands in for it."""

import os
import sys

import _wasibox_missing

# A prepared interpreter that has another path looks for a sitecustomize again.
if _wasibox_missing.Finder not in sys.meta_path:
    sys.meta_path.append(_wasibox_missing.Finder)

if not hasattr(os, "getloadavg"):

    def getloadavg():
        """Return average recent system load information, as /proc/loadavg has it."""
        with open("/proc/loadavg") as file:
            return tuple(map(float, file.read().split()[:3]))

    def sched_getaffinity(pid, /):
        """Return the affinity of the process identified by pid: every processor."""
        return set(range(os.cpu_count() or 1))

    os.getloadavg, os.sched_getaffinity = getloadavg, sched_getaffinity
    del getloadavg, sched_getaffinity

"""Times calls of a session of bashkit, and prints a line of JSON."""

import json
import time

from bashkit import Bash

RUNS = 200
SCRIPTS = {"true": "", "echo hi | wc -c": "3", "echo x > /tmp/x": ""}


def median(act, runs=RUNS):
    """Returns the median milliseconds of `runs` calls, after a tenth as many that do not count."""
    times = []
    for _ in range(runs + runs // 10):
        begun = time.perf_counter()
        act()
        times.append(time.perf_counter() - begun)
    times = sorted(times[runs // 10 :])
    return times[len(times) // 2] * 1e3


def run(bash, script, want):
    result = bash.execute_sync(script)
    assert (result.stdout.strip(), result.exit_code) == (want, 0), result


session = Bash()
times = {s: median(lambda: run(session, s, want)) for s, want in SCRIPTS.items()}
session.write_file("/tmp/data", "a" * 1_000_000)
times["read"] = median(lambda: session.read_file("/tmp/data"))
times["new"] = median(lambda: run(Bash(), "true", ""), RUNS // 10)
print(json.dumps({"peer": "bashkit", "times": times}))

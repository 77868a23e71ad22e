"""Runs one of pyperformance's benchmarks in this process: SCRIPT LOOPS [ARGUMENT...].

Prints the benchmark's name and the seconds that its best loop took. pyperf's description of the
machine is left out, because a guest has no processor to describe.
"""

import os
import runpy
import socket
import sys
import tempfile

import pyperf
from pyperf import _worker

if not hasattr(socket, "gethostname"):
    socket.gethostname = lambda: "guest"
_worker.collect_metadata = lambda *_, **__: {}

script, loops, *arguments = sys.argv[1:]
result = os.path.join(tempfile.mkdtemp(), "result.json")
measure = ["--worker", "--worker-task=0", f"--loops={loops}", "--warmups=1", "--values=3"]
sys.argv = [script, *measure, "--quiet", "-o", result, *arguments]
sys.path.insert(0, os.path.dirname(script))
runpy.run_path(script, run_name="__main__")
(benchmark,) = pyperf.BenchmarkSuite.load(result).get_benchmarks()
print(benchmark.get_name(), min(benchmark.get_values()) * (benchmark.get_inner_loops() or 1))

#!/usr/bin/env python3
"""Records how bash behaves at a terminal, for job_control.rs.

Run with bash 5.2: python3 record.py > recordings.txt
A case is a list of steps: text is typed, a number is a pause in seconds. After each typed text the
recorder waits until bash is silent. Numbers of processes become PID.
"""
import json
import os
import pty
import re
import select
import time

CASES = {
    "a stopped job continues in the foreground": [
        "sleep 100\n", "\x1a", "echo $?\n", "jobs\n", "jobs -l\n", "fg\n", "\x03", "echo $?\n",
        "jobs\n"],
    "a stopped job continues in the background": [
        "sleep 100\n", "\x1a", "bg\n", "jobs\n", "bg\n", "kill %1; sleep 0.2\n", "jobs\n"],
    "ended jobs are shown before the prompt": [
        "sleep 0.2 &\n", 0.6, "\n", "jobs\n", "(sleep 0.2; exit 3) &\n", 0.6, "\n", "sh -c 'sleep 0.2; exit 1' &\n", 0.6, "\n",
        "sleep 0.2 && echo hi &\n", 0.6, "\n", "sleep 0.2 & sleep 0.3 &\n", 0.7, "\n"],
    "jobs have marks": [
        "sleep 100 &\n", "sleep 200 &\n", "sleep 300\n", "\x1a", "jobs\n", "jobs -p | wc -l\n",
        "jobs -r\n", "jobs -s\n", "fg %1\n", "\x1a", "jobs\n", "%-\n", "\x03", "jobs\n"],
    "a stopped job stays the current one": [
        "sleep 100\n", "\x1a", "sleep 200\n", "\x1a", "sleep 300 &\n", "jobs\n", "fg\n", "\x03",
        "jobs\n"],
    "jobs have names": [
        "sleep 100\n", "\x1a", "%1 &\n", "jobs\n", "%1\n", "\x1a", "bg %?lee\n", "fg %sl\n",
        "\x03", "echo $?\n", "fg %3\n", "fg\n", "bg\n", "jobs %2\n", "kill %4\n", "wait %5\n"],
    "exit warns of stopped jobs once": [
        "sleep 100\n", "\x1a", "exit\n", "echo still\n", "exit\n", "exit\n"],
    "the end of input warns of stopped jobs, too": ["sleep 100\n", "\x1a", "\x04", "\x04"],
    "exit says so": ["exit 7\n"],
    "the end of input says so": ["\x04"],
    "an interrupted line is given up": [
        "echo half\x03", "echo $?\n", "for i in 1\n", "do\x03", "echo $?\n"],
    "an interrupted job gives up its list": [
        "for i in 1 2 3; do sleep 100; echo $i; done\n", "\x03", "echo $?\n",
        "sleep 100; echo after\n", "\x03", "echo $?\n", "x=$(sleep 100)\n", "\x03", "echo $?\n"],
    "a trap does not run for an interrupted job": [
        "trap 'echo T' INT\n", "sleep 100\n", "\x03", "echo $?\n"],
    "a stopped command ends its loop": [
        "for i in 1 2; do sleep 100; echo $i; done\n", "\x1a", "echo $?\n", "jobs\n"],
    "a list continues after a stopped command": [
        "sleep 100; echo after\n", "\x1a", "sleep 50 && echo and\n", "\x1a", "jobs\n"],
    "a function continues after a stopped command": [
        "f() { sleep 100; echo in f; }\n", "f\n", "\x1a", "jobs\n"],
    "a subshell is one job": [
        "(sleep 100; echo x)\n", "\x1a", "jobs\n", "fg\n", "\x03", "echo $?\n"],
    "a pipeline is one job": [
        "sleep 100 | cat\n", "\x1a", "jobs\n", "jobs -l\n", "fg\n", "\x03", "echo $?\n",
        "true | sleep 0.2 | cat\n", "echo ${PIPESTATUS[@]}\n"],
    "a loop in a pipeline belongs to the job": [
        "sleep 100 | while read x; do echo $x; done\n", "\x1a", "bg\n", "kill %1; sleep 0.2\n"],
    "wait waits for a job": [
        "sleep 0.4 &\n", "wait %1\n", 0.4, "sleep 100 &\n", "wait\n", "\x03", "echo $?\n",
        "kill %%; sleep 0.2\n"],
    "disown forgets jobs": [
        "sleep 9 &\n", "disown %1\n", "jobs\n", "sleep 9 &\n", "disown -a\n", "jobs\n", "fg\n"],
    "job control can be switched off": [
        "set +m\n", "sleep 0.2 &\n", 0.5, "\n", "fg\n", "set -m\n", "sleep 9\n", "\x1a",
        "jobs\n"],
    "signals of kill change a job": [
        "sleep 100 &\n", "kill -STOP %1; sleep 0.2\n", "jobs\n", "kill -CONT %1\n", "jobs\n",
        "kill -9 %1; sleep 0.2\n", "jobs\n"],
    "an inner shell can be suspended": [
        "bash --norc --noediting\n", 0.5, "suspend\n", "jobs\n", "fg\n", "exit\n", "jobs\n"],
    "an inner shell can stop itself": [
        "bash --norc --noediting\n", 0.5, "kill -STOP $$\n", "jobs\n", "fg\n", "exit\n"],
    "a background job may not read": [
        "cat &\n", 0.4, "\n", "jobs\n", "fg\n", "hello\n", "\x04", "jobs\n"],
    "quit ends a job": ["sleep 100\n", "\x1c", "echo $?\n"],
    "a job that a signal ends is shown": [
        "sh -c 'kill $$'\n", "echo $?\n", "sleep 9 &\n", "kill %1; sleep 0.2\n"],
    "read and select prompt": [
        "read -p 'name: ' n\n", "bob\n", "echo $n\n", "read -s -p 'pw: ' p\n", "secret\n",
        "echo \"[$p]\"\n", "select x in a b; do echo \"got $x\"; break; done\n", "2\n",
        "read -n 1 c\n", "y", "\n", "echo $c\n"],
    "a coprocess is a job": ["coproc cat\n", "jobs\n", "kill %1; sleep 0.2\n"],
    "commands continue at a second prompt": [
        "for i in 1\n", "do echo $i\n", "done\n", "echo \"a\n", "b\"\n", "cat <<E\n", "x\n",
        "E\n"],
    "a program that left its modes is forgotten when a signal ends it": [
        "sh -c 'stty -echo; sleep 9'\n", "\x03", "stty -a | grep -o -- '-*echo '\n"],
}


def record(steps):
    pid, fd = pty.fork()
    if pid == 0:
        env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "TERM": "xterm", "PS1": "> ",
               "LC_ALL": "C.UTF-8"}
        os.execve("/bin/bash", ["bash", "--norc", "--noediting"], env)

    def read():
        text, last = b"", time.time()
        while time.time() - last < 0.35:
            if select.select([fd], [], [], 0.05)[0]:
                try:
                    data = os.read(fd, 65536)
                except OSError:
                    break
                if not data:
                    break
                text, last = text + data, time.time()
        return text.decode()

    yield "show", read()
    for step in steps:
        if isinstance(step, float):
            time.sleep(step)
            yield "wait", step
        else:
            os.write(fd, step.encode())
            yield "type", step
            yield "show", read()
    os.close(fd)
    os.waitpid(pid, 0)


def plain(text):
    """Replaces numbers of processes; job_control.rs does the same."""
    text = re.sub(r"(\[\d+\]) \d+\r", r"\1 PID\r", text)
    text = re.sub(r"(\[\d+\][-+ ]) +\d+ ", r"\1 PID ", text)
    return re.sub(r"\n +\d+ ( +\|)", r"\n PID \1", text)


print("# Made by record.py from bash 5.2.")
for name, steps in CASES.items():
    print(f"\ncase {name}")
    for kind, value in record(steps):
        if kind == "wait":
            print(f"wait {value}")
        else:
            value = plain(value) if kind == "show" else value
            print(kind, json.dumps(value))

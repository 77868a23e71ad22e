"""Rollouts for reinforcement learning: fork a prepared session, try a solution in each, reward it.

The session is prepared once: its files, its shell and an interpreter that has imported what the
task needs. A fork shares all of that and costs no memory until it is used.

    pip install wasibox wasibox-image
    python rollouts.py
"""

from concurrent.futures import ThreadPoolExecutor

import wasibox

TEST = """
assert fizzbuzz(3) == "Fizz"
assert fizzbuzz(5) == "Buzz"
assert fizzbuzz(15) == "FizzBuzz"
assert fizzbuzz(7) == "7"
"""

# Solutions as a policy might sample them.
SAMPLES = [
    'def fizzbuzz(n): return "Fizz" if n % 3 == 0 else "Buzz" if n % 5 == 0 else str(n)',
    'def fizzbuzz(n): return ("Fizz" * (n % 3 == 0) + "Buzz" * (n % 5 == 0)) or str(n)',
    "def fizzbuzz(n): return FizzBuzz(n)",
    "def fizzbuzz(n):\n  while True: pass",
]


def reward(job: tuple[wasibox.Session, str]) -> float:
    """Returns the reward of a sample in its own fork: the part of the tests that pass."""
    session, sample = job
    with session:
        if not session.python(sample).ok:
            return 0.0
        tests = TEST.strip().splitlines()
        passed = 0
        for test in tests:
            outcome = session.python(test, timeout=1)
            passed += outcome.ok
            if outcome.limit_hit:
                break
        return passed / len(tests)


with wasibox.Session() as prepared:
    prepared.python("import json, math, re")
    forks = prepared.fork_many(len(SAMPLES))
    with ThreadPoolExecutor(2) as threads:
        rewards = list(threads.map(reward, zip(forks, SAMPLES)))
print(rewards)

# prints:
# [0.75, 1.0, 0.0, 0.0]

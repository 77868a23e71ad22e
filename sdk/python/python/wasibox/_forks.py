"""Many commands, each in a fork of its own."""

from __future__ import annotations

import contextlib
import os
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from ._errors import ClosedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future
    from typing import Dict, Tuple

    from ._outcome import Outcome
    from ._session import Session


def map_over_forks(
    session: Session, calls: Sequence[Callable[[Session], Outcome]], at_once: int | None
) -> Iterator[Tuple[int, Outcome]]:
    """Makes each call in a fork of the session, and yields its index and outcome when it has ended.

    When the iterator is closed, calls that run are ended, and others do not begin. All forks are
    closed in the end.
    """
    if at_once is not None and at_once < 1:
        raise ValueError("at_once must be at least 1")
    forks = session.fork_many(len(calls))
    threads = ThreadPoolExecutor(at_once or os.cpu_count() or 1, "wasibox-map")
    running: Dict[Future[Outcome], int] = {}

    def one(index: int) -> Outcome:
        with forks[index] as fork:
            return calls[index](fork)

    try:
        for index in range(len(calls)):
            running[threads.submit(one, index)] = index
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.result()
    finally:
        left = [index for future, index in running.items() if not future.cancel()]
        for index in left:
            with contextlib.suppress(ClosedError):  # its call has ended meanwhile
                forks[index].interrupt()
        threads.shutdown()
        for fork in forks:
            fork.close()

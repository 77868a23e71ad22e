"""Many commands, each in a fork of its own, for asyncio."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
    from typing import Any, Tuple

    from ._aio import AsyncSession
    from ._outcome import Outcome


async def map_over_forks(
    session: AsyncSession,
    calls: Sequence[Callable[[AsyncSession], Coroutine[Any, Any, Outcome]]],
    at_once: int | None,
) -> AsyncGenerator[Tuple[int, Outcome], None]:
    """Makes each call in a fork of the session, and yields its index and outcome when it has ended.

    When the iterator is closed, or the task that reads it is cancelled, calls that run are ended,
    and others do not begin. All forks are closed in the end.
    """
    if at_once is not None and at_once < 1:
        raise ValueError("at_once must be at least 1")
    forks = await session.fork_many(len(calls))
    turns = asyncio.Semaphore(at_once or os.cpu_count() or 1)

    async def one(index: int) -> Tuple[int, Outcome]:
        async with turns, forks[index] as fork:
            return index, await calls[index](fork)

    tasks = [asyncio.ensure_future(one(index)) for index in range(len(calls))]
    try:
        for task in asyncio.as_completed(tasks):
            yield await task
    finally:
        for waiting in tasks:
            waiting.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(fork.close() for fork in forks))

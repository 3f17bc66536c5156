"""Looking at a store again and again without being held up: while it does not answer, the last answer stands."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Glances(Generic[T]):
    """Asks one question at a time.

    Args:
        ask: The question; it may take as long as it likes.
        seconds: How long one glance waits for the answer.
    """

    def __init__(self, ask: Callable[[], Awaitable[T]], *, seconds: float) -> None:
        self._ask = ask
        self._seconds = seconds
        self._asking: asyncio.Task[T] | None = None

    async def take(self) -> T | None:
        """Return the answer; None when there is none yet: then the same question is waited for the next time."""
        if self._asking is None:
            self._asking = asyncio.ensure_future(self._answer())
        await asyncio.wait([self._asking], timeout=self._seconds)
        if not self._asking.done():
            return None
        asked, self._asking = self._asking, None
        return asked.result()

    async def _answer(self) -> T:
        return await self._ask()

    async def close(self) -> None:
        """Ask no more."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait([self._asking], timeout=self._seconds)

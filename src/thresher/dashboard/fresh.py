"""Answers that many may share for a moment: asked for once, however many look at the same time."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Any

MOST_ANSWERS = 256


class Fresh:
    """Keeps answers for a moment.

    Args:
        clock: Gives the time in seconds.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._answers: OrderedDict[Hashable, tuple[float, asyncio.Future[Any]]] = OrderedDict()

    async def get(self, question: Hashable, ask: Callable[[], Awaitable[Any]], *, seconds: float) -> Any:
        """Return an answer that is no older than `seconds`, counted from when it was asked for."""
        asked, answer = self._answers.get(question, (float("-inf"), None))
        is_usable = answer is not None and not (answer.done() and (answer.cancelled() or answer.exception()))
        if answer is None or not is_usable or (answer.done() and self._clock() - asked > seconds):
            answer = asyncio.ensure_future(ask())
            answer.add_done_callback(_look_at)
            self._answers[question] = self._clock(), answer
            self._forget()
        self._answers.move_to_end(question)
        return await asyncio.shield(answer)  # who leaves takes nothing from the others

    def clear(self) -> None:
        """Forget all answers: something was changed."""
        self._answers.clear()

    def _forget(self) -> None:
        while len(self._answers) > MOST_ANSWERS:
            self._answers.popitem(last=False)


def _look_at(answer: asyncio.Future[Any]) -> None:
    """Take note of an error, which perhaps nobody waits for any more."""
    if not answer.cancelled():
        answer.exception()

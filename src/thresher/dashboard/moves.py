"""What an answer did to the queue: who rose, who fell, who is new among the first, who left them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Place:
    """A URL among the first of the queue.

    Args:
        now: Its place after the answer, from 1; None when it left the first ones.
        was: Its place before; None when it was not among the first ones.
    """

    url: str
    score: float
    now: int | None
    was: int | None

    @property
    def rose(self) -> int:
        """By how many places it rose; less than 0 when it fell, 0 when it stayed, came or left."""
        return self.was - self.now if self.was is not None and self.now is not None else 0


def moves(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> list[Place]:
    """Put two lists of the first URLs together: those of now in their order, then those that left."""
    was = {entry["url"]: place for place, entry in enumerate(before, start=1)}
    now = {entry["url"]: place for place, entry in enumerate(after, start=1)}
    stay = [Place(url=e["url"], score=e["score"], now=now[e["url"]], was=was.get(e["url"])) for e in after]
    left = [Place(url=e["url"], score=e["score"], now=None, was=was[e["url"]]) for e in before if e["url"] not in now]
    return stay + left

"""How the head of the queue changed: URLs that rose, fell, are new, or left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class RankChange:
    """A URL at the head of the queue.

    Args:
        now: Its rank now, from 1; None when it left the head.
        was: Its rank before; None when it was not there.
    """

    url: str
    score: float
    now: int | None
    was: int | None

    @property
    def rose(self) -> int:
        """The ranks it rose; negative when it fell, 0 when it stayed, is new or left."""
        return self.was - self.now if self.was is not None and self.now is not None else 0


def rank_changes(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> list[RankChange]:
    """Compare two heads of the queue: the URLs of now in their order, then those that left."""
    was = {entry["url"]: place for place, entry in enumerate(before, start=1)}
    now = {entry["url"]: place for place, entry in enumerate(after, start=1)}
    stay = [RankChange(url=e["url"], score=e["score"], now=now[e["url"]], was=was.get(e["url"])) for e in after]
    left = [
        RankChange(url=e["url"], score=e["score"], now=None, was=was[e["url"]]) for e in before if e["url"] not in now
    ]
    return stay + left

"""What a worker writes down of its sample: a draw of its pages, the seeds among them, and what people said."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from thresher.classify.draw import Draw
from thresher.classify.entries import BadEntry, fitted, pack_both
from thresher.classify.note_formats import FORMAT, unpack_notes

MOST_SENT = 1_000
"""Pages that are written down at most; long pages fill an entry before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleNotes:
    """The notes of one worker.

    Args:
        told: What people said to this worker: yes, no, or that they take it back.
        given: The relevance that pages of the draw were last given, as far as somebody asked.
    """

    worker: str
    draw: Draw
    seeds: Collection[str]
    told: Mapping[str, bool | None]
    given: Mapping[str, float]

    def entry(self, **more: Any) -> bytes:
        """Write the notes, and more that JSON can hold, as an entry of a notebook."""
        arrays, values = self.draw.take_apart()
        given = [self.given.get(url) for url in self.draw.urls]
        notes = {"worker": self.worker, "seeds": list(self.seeds), "told": dict(self.told), "given": given}
        return pack_both(arrays, {"format": FORMAT} | values | notes | more)

    @classmethod
    def read(cls, entry: bytes) -> SampleNotes:
        """Read what `entry` wrote.

        Raises:
            ValueError: It did not.
        """
        return cls.read_with_more(entry)[0]

    @classmethod
    def read_with_more(cls, entry: bytes) -> tuple[SampleNotes, Mapping[str, Any]]:
        """Read what `entry` wrote, and all values that it holds by their names.

        Raises:
            ValueError: It did not.
        """
        arrays, values = unpack_notes(entry)
        draw, told = Draw.put_together(arrays, values), values["told"]
        if not isinstance(told, dict) or not all(isinstance(verdict, bool | None) for verdict in told.values()):
            raise BadEntry("what people said is neither yes nor no")
        given = zip(draw.urls, values["given"], strict=True)
        notes = cls(
            worker=str(values["worker"]),
            draw=draw,
            seeds=dict.fromkeys(values["seeds"]),
            told=told,
            given={url: relevance for url, relevance in given if relevance is not None},
        )
        return notes, values


class Fitting:
    """Makes entries of as many pages as fit, and begins with a few more than fitted last time."""

    def __init__(self) -> None:
        self._fits = MOST_SENT

    def entry(self, make: Callable[[int], bytes]) -> bytes:
        """Make an entry of as many pages as fit."""
        content, self._fits = fitted(make, min(MOST_SENT, self._fits + self._fits // 8 + 1))
        return content

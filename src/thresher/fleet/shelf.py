"""Where notebooks lie in the store: one entry per worker and kind, and one list of what each entry holds now.

An entry is written before its place in the list, so whoever is led by the list finds at least what it promises. All can
be repeated without harm.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from thresher.fleet.keys import Link, key_of, pairs_of

MAX_BYTES = 64 << 20


@dataclass(frozen=True, order=True)
class Stamp:
    """What an entry holds: so many bytes, with this digest."""

    size: int
    digest: str


class Shelf:
    """The notebooks of one part, a judge or a strategy, over all workers."""

    def __init__(self, link: Link, crawl: str, part: str) -> None:
        self._link = link
        self._list = key_of(crawl, "learned", part)

    async def write(self, worker: str, kind: str, content: bytes) -> None:
        """Replace an entry."""
        entry = self._entry(worker, kind)
        await self._link.call("SET", entry, content)
        digest = hashlib.sha256(content).hexdigest()[:16]
        await self._link.call("HSET", self._list, f"{worker} {kind}", f"{len(content)} {digest}")

    async def read(self, worker: str, kind: str) -> bytes | None:
        """Return an entry; None when there is none, or it is larger than any learner's."""
        content = await self._link.call("GETRANGE", self._entry(worker, kind), 0, MAX_BYTES)
        return content if isinstance(content, bytes) and 0 < len(content) <= MAX_BYTES else None

    async def stamps(self, kind: str) -> dict[str, Stamp]:
        """Say by worker what the entries of a kind hold."""
        listed = pairs_of(await self._link.call("HGETALL", self._list))
        stamps: dict[str, Stamp] = {}
        for place, stamp in listed.items():
            worker, _, of_kind = place.partition(" ")
            size, _, digest = stamp.partition(" ")
            if of_kind == kind and size.isdecimal():
                stamps[worker] = Stamp(int(size), digest)
        return stamps

    def _entry(self, worker: str, kind: str) -> str:
        return f"{self._list}:{worker}:{kind}"

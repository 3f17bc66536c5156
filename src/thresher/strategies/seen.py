"""Which URLs somebody has gone to, kept over restarts and shared between the workers of a crawl."""

from __future__ import annotations

import struct
from array import array
from itertools import islice
from uuid import uuid4

from thresher.classify.base import Notebook
from thresher.classify.entries import BadEntry, readable
from thresher.classify.rhythm import Rhythm
from thresher.urls.canonical import fingerprint

MOST_SEEN = 200_000
"""Of the own URLs, and of those of all other workers; beyond it the oldest are forgotten."""
MOST_SENT = 120_000
"""The latest own URLs, which others are told: eight bytes each, so that an entry stays below a megabyte."""
SAVE_PAGES = 1_000
"""How many pages' memory a crash may cost; at first it is less."""
SAVE_SHARE = 0.02
"""Of the pages done: how many come between two entries. Two agents that choose the same page are one too few, and the
entry is small while the crawl is."""
NOTES = "seen"
_HEAD = struct.Struct("<4s16sq")
_MARK = b"seen"


class SeenUrls:
    """A bounded memory of URLs, by their fingerprints.

    Sets unite: what is read twice, or told by two workers, is there once. With them goes how many agents a worker has
    out; those of all workers add up.
    """

    def __init__(self) -> None:
        self.out = 0
        self._others_out: dict[bytes, int] = {}
        self._worker = uuid4().bytes
        self._own: dict[int, None] = {}
        self._others: dict[int, None] = {}
        self._rhythm = Rhythm(write=(1, SAVE_SHARE, SAVE_PAGES), read_share=SAVE_SHARE)
        self._pages = 0
        self._notebook: Notebook | None = None

    def __contains__(self, url: str) -> bool:
        """Tell whether a URL was seen, as far as is remembered."""
        number = fingerprint(url)
        return number in self._own or number in self._others

    @property
    def all_out(self) -> int:
        """How many agents all workers have out, as far as is known."""
        return self.out + sum(self._others_out.values())

    def by_others(self, url: str) -> bool:
        """Tell whether another worker saw a URL."""
        return fingerprint(url) in self._others

    def add(self, url: str) -> None:
        """Remember a URL."""
        self._own[fingerprint(url)] = None
        _bound(self._own)

    def page_begun(self) -> None:
        """Count a page, and every now and then read what others saw."""
        self._pages += 1
        if self._rhythm.is_read_due(self._pages):
            self._read_others()

    def page_done(self) -> None:
        """Every now and then write down what was seen."""
        if self._rhythm.is_write_due(self._pages):
            self.write_down()

    def keep_in(self, notebook: Notebook) -> None:
        """Take up which URLs were seen before, by this worker and by others."""
        self._notebook = notebook
        if content := notebook.read(NOTES):
            self._worker, _, found = _read(content)
            _unite(self._own, found)
        self._read_others()

    def write_down(self) -> None:
        """Write down which URLs were seen."""
        if self._notebook:
            latest = islice(self._own, max(0, len(self._own) - MOST_SENT), None)
            head = _HEAD.pack(_MARK, self._worker, self.out)
            self._notebook.write(NOTES, head + array("q", latest).tobytes())
        self._rhythm.written(self._pages)

    def _read_others(self) -> None:
        self._rhythm.read(self._pages)
        entries = self._notebook.read_others(NOTES) if self._notebook else ()
        for worker, out, found in readable(entries, _read, "seen URLs"):
            if worker != self._worker:
                self._others_out[worker] = out
                _unite(self._others, found)


def _read(content: bytes) -> tuple[bytes, int, array[int]]:
    """Read an entry: whose it is, how many agents are out, and which URLs were seen."""
    numbers, found = content[_HEAD.size :], array("q")
    if len(content) < _HEAD.size or not content.startswith(_MARK) or len(numbers) % found.itemsize:
        raise BadEntry("it holds no seen URLs")
    _, worker, out = _HEAD.unpack_from(content)
    found.frombytes(numbers[-MOST_SEEN * found.itemsize :])
    return worker, max(0, out), found


def _unite(seen: dict[int, None], found: array[int]) -> None:
    seen.update(dict.fromkeys(found))
    _bound(seen)


def _bound(seen: dict[int, None]) -> None:
    for number in list(islice(seen, max(0, len(seen) - MOST_SEEN))):
        del seen[number]

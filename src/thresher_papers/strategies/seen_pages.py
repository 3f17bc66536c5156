"""The set of URLs that agents have chosen, persisted over restarts and shared between the workers of a crawl."""

from __future__ import annotations

import struct
from array import array
from itertools import islice
from uuid import uuid4

from thresher.judges.base import StateStore
from thresher.modelstate.codec import BadEntry, readable
from thresher.modelstate.schedule import RefitSchedule
from thresher.urls.canonical import fingerprint

MAX_SEEN = 200_000
"""Limit of the worker's own URLs, and of those of all other workers; beyond it the oldest are dropped."""
MAX_SENT = 120_000
"""Own URLs shared with other workers, the latest: eight bytes each, so that an entry stays below a megabyte."""
SAVE_PAGES = 1_000
"""The most pages between two saves, which a crash may lose; at first it is less."""
SAVE_SHARE = 0.02
"""Pages between two saves, as a share of all pages. Saves are frequent at first, because two agents that choose the
same page count as one, and the entry is small while the crawl is."""
STATE_KIND = "seen"
_HEAD = struct.Struct("<4s16sq")
_MARK = b"seen"


class SeenUrls:
    """A bounded set of URL fingerprints.

    Entries of workers are merged as sets, so reading one twice changes nothing. An entry also has the number of agents
    that a worker has sent and that have not arrived; the numbers of all workers are added.
    """

    def __init__(self) -> None:
        self.out = 0
        self._others_out: dict[bytes, int] = {}
        self._worker = uuid4().bytes
        self._own: dict[int, None] = {}
        self._others: dict[int, None] = {}
        self._refit_schedule = RefitSchedule(write=(1, SAVE_SHARE, SAVE_PAGES), read_share=SAVE_SHARE)
        self._pages = 0
        self._state_store: StateStore | None = None

    def __contains__(self, url: str) -> bool:
        number = fingerprint(url)
        return number in self._own or number in self._others

    @property
    def all_out(self) -> int:
        """Number of agents of all workers that are under way, as far as is known."""
        return self.out + sum(self._others_out.values())

    def by_others(self, url: str) -> bool:
        return fingerprint(url) in self._others

    def add(self, url: str) -> None:
        self._own[fingerprint(url)] = None
        _bound(self._own)

    def page_started(self) -> None:
        """Count a page, and read the entries of other workers when that is due."""
        self._pages += 1
        if self._refit_schedule.is_read_due(self._pages):
            self._read_others()

    def page_done(self) -> None:
        if self._refit_schedule.is_write_due(self._pages):
            self.save_state()

    def load_state(self, state_store: StateStore) -> None:
        self._state_store = state_store
        if content := state_store.read(STATE_KIND):
            self._worker, _, found = _read(content)
            _unite(self._own, found)
        self._read_others()

    def save_state(self) -> None:
        if self._state_store:
            latest = islice(self._own, max(0, len(self._own) - MAX_SENT), None)
            head = _HEAD.pack(_MARK, self._worker, self.out)
            self._state_store.write(STATE_KIND, head + array("q", latest).tobytes())
        self._refit_schedule.written(self._pages)

    def _read_others(self) -> None:
        self._refit_schedule.read(self._pages)
        entries = self._state_store.read_others(STATE_KIND) if self._state_store else ()
        for worker, out, found in readable(entries, _read, "seen URLs"):
            if worker != self._worker:
                self._others_out[worker] = out
                _unite(self._others, found)


def _read(content: bytes) -> tuple[bytes, int, array[int]]:
    """Decode an entry: worker, number of agents under way, and fingerprints."""
    numbers, found = content[_HEAD.size :], array("q")
    if len(content) < _HEAD.size or not content.startswith(_MARK) or len(numbers) % found.itemsize:
        raise BadEntry("it holds no seen URLs")
    _, worker, out = _HEAD.unpack_from(content)
    found.frombytes(numbers[-MAX_SEEN * found.itemsize :])
    return worker, max(0, out), found


def _unite(seen: dict[int, None], found: array[int]) -> None:
    seen.update(dict.fromkeys(found))
    _bound(seen)


def _bound(seen: dict[int, None]) -> None:
    for number in list(islice(seen, max(0, len(seen) - MAX_SEEN))):
        del seen[number]

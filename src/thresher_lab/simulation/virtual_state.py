"""State stores of virtual workers: in memory, with the delay of a shared store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

Entry = tuple[float, bytes]
"""When it was written, and what."""


class VirtualStateStores:
    """The saved state of all workers of a fleet.

    Args:
        clock: Gives the virtual time.
        delay_seconds: Time until others can read an entry.
        shared: Whether they can at all; a worker's own entries outlive its death either way.
    """

    def __init__(self, clock: Callable[[], float], *, delay_seconds: float = 0.0, shared: bool = True) -> None:
        self._clock = clock
        self._delay_seconds = delay_seconds
        self._shared = shared
        self._entries: dict[tuple[str, str], list[Entry]] = {}
        self.largest: dict[str, int] = {}
        """The bytes of the largest entry of each kind."""
        self.writes: Counter[str] = Counter()
        """Number of writes per kind."""

    def of(self, worker: str, part: str) -> VirtualStateStore:
        """Open the state store of a worker's judge or strategy."""
        return VirtualStateStore(self, worker, part)

    def write(self, worker: str, kind: str, content: bytes) -> None:
        """Replace an entry; others read the previous one until the delay is over."""
        entries = self._entries.setdefault((worker, kind), [])
        entries.append((self._clock(), content))
        while len(entries) > 1 and self._has_arrived(entries[1]):
            entries.pop(0)
        self.largest[kind] = max(self.largest.get(kind, 0), len(content))
        self.writes[kind] += 1

    def read(self, worker: str, kind: str) -> bytes | None:
        """Return the latest entry of a worker."""
        entries = self._entries.get((worker, kind))
        return entries[-1][1] if entries else None

    def others(self, worker: str, kind: str) -> dict[str, Entry]:
        """Return the latest entry of every other worker that has arrived."""
        found = {}
        for (writer, written), entries in self._entries.items():
            arrived = [entry for entry in entries if self._has_arrived(entry)]
            if self._shared and written == kind and writer != worker and arrived:
                found[writer] = arrived[-1]
        return found

    def _has_arrived(self, entry: Entry) -> bool:
        return entry[0] + self._delay_seconds <= self._clock()


class VirtualStateStore:
    """The state store of a worker's judge or strategy."""

    def __init__(self, state_stores: VirtualStateStores, worker: str, part: str) -> None:
        self._state_stores = state_stores
        self._worker = worker
        self._part = part
        self._seen: dict[tuple[str, str], float] = {}

    def write(self, kind: str, content: bytes) -> None:
        self._state_stores.write(self._worker, self._kind(kind), content)

    def read(self, kind: str) -> bytes | None:
        return self._state_stores.read(self._worker, self._kind(kind))

    def read_others(self, kind: str) -> Sequence[bytes]:
        """Return the entries of other workers that became readable since the last call."""
        new = []
        for writer, (written, content) in self._state_stores.others(self._worker, self._kind(kind)).items():
            if self._seen.get((writer, kind)) != written:
                self._seen[writer, kind] = written
                new.append(content)
        return new

    def _kind(self, kind: str) -> str:
        return f"{self._part}/{kind}"

"""Notebooks of virtual workers: in memory, and read by others as late as through a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

Entry = tuple[float, bytes]
"""When it was written, and what."""


class VirtualNotebooks:
    """What all workers of a fleet have written down.

    Args:
        clock: Gives the virtual time.
        delay_seconds: Until others can read what one wrote.
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
        """How often each kind was written."""

    def of(self, worker: str, part: str) -> VirtualNotebook:
        """Open the notebook of one part of a worker: its judge's, or its strategy's."""
        return VirtualNotebook(self, worker, part)

    def write(self, worker: str, kind: str, content: bytes) -> None:
        """Replace an entry; the one before is read by others until the new one has arrived."""
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


class VirtualNotebook:
    """The notebook of one part of one worker."""

    def __init__(self, notebooks: VirtualNotebooks, worker: str, part: str) -> None:
        self._notebooks = notebooks
        self._worker = worker
        self._part = part
        self._seen: dict[tuple[str, str], float] = {}

    def write(self, kind: str, content: bytes) -> None:
        """Replace this worker's entry of a kind."""
        self._notebooks.write(self._worker, self._kind(kind), content)

    def read(self, kind: str) -> bytes | None:
        """Return this worker's entry of a kind."""
        return self._notebooks.read(self._worker, self._kind(kind))

    def read_others(self, kind: str) -> Sequence[bytes]:
        """Return the entries that other workers wrote, and that arrived since this was asked before."""
        new = []
        for writer, (written, content) in self._notebooks.others(self._worker, self._kind(kind)).items():
            if self._seen.get((writer, kind)) != written:
                self._seen[writer, kind] = written
                new.append(content)
        return new

    def _kind(self, kind: str) -> str:
        return f"{self._part}/{kind}"

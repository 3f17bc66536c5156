"""The log of the witness: one line per request, ``start_ns,sent_ns,end_ns,host,status,path``.

All times are nanoseconds of this machine's monotonic clock, which every process on it shares:

- `start_ns`: the request line was read. The client sent it at this moment or before.
- `sent_ns`: the last bytes of the response are about to be handed to the kernel. The client has the whole response
  at some moment after this one, never before.
- `end_ns`: the kernel has taken the last byte, or the connection was lost. Other processes may have run between
  `sent_ns` and `end_ns`, so a fast client can act on a response before its `end_ns`.

Status 0 stands for a request whose connection was lost before it was answered; its `sent_ns` is its `end_ns`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO


@dataclass(frozen=True, slots=True)
class Hit:
    """One request as the witness saw it."""

    start_ns: int
    sent_ns: int
    end_ns: int
    host: str
    status: int
    path: str

    @property
    def key(self) -> str:
        """The address and path: the name by which `Site` knows the page."""
        return self.host + self.path


class HitLog:
    """Write hits to a file in batches; `flush` puts all of them on disk."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._lines: list[str] = []
        self.count = 0

    def add(self, hit: Hit) -> None:
        """Remember a hit until the next flush."""
        self.count += 1
        times = f"{hit.start_ns},{hit.sent_ns},{hit.end_ns}"
        self._lines.append(f"{times},{hit.host},{hit.status},{hit.path}\n")

    def flush(self) -> None:
        """Write what was remembered."""
        self._file.write("".join(self._lines))
        self._file.flush()
        self._lines.clear()


def read_log(path: Path) -> list[Hit]:
    """Return all hits of a log in the order of their starts; a half-written last line is left out."""
    return sorted(_parse(path.read_text(encoding="ascii")), key=lambda hit: hit.start_ns)


def _parse(text: str) -> Iterator[Hit]:
    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):
            start, sent, end, host, status, path = line[:-1].split(",", 5)
            yield Hit(int(start), int(sent), int(end), host, int(status), path)

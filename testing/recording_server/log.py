"""The log of the recording server: one line per request, ``start_ns,sent_ns,end_ns,address,host,status,path``.

All times are nanoseconds of this machine's monotonic clock, which every process on it shares:

- `start_ns`: the request line was read. The client sent it at this moment or before.
- `sent_ns`: the last bytes of the response are about to be handed to the kernel. The client has the whole response
  at some moment after this one, never before.
- `end_ns`: the kernel has taken the last byte, or the connection was lost. Other processes may have run between
  `sent_ns` and `end_ns`, so a fast client can act on a response before its `end_ns`.

Status 0 stands for a request whose connection was lost before it was answered; its `sent_ns` is its `end_ns`. So it
is for a scripted answer that the client breaks off: the request ends when the recording server learns of it.

After a tab, scripted requests go on with JSON: the request's headers, the bytes that were sent, and who ended it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO


@dataclass(frozen=True, slots=True)
class Hit:
    """One request as the recording server saw it.

    Args:
        host: The name in the Host header of a scripted request, else the address.
        address: Where it came in, when the host is another.
        headers: Of a scripted request, as they were sent.
        sent_bytes: Of a scripted answer, its head included, as far as it was sent.
        left: Whether the client went before a scripted answer was over.
    """

    start_ns: int
    sent_ns: int
    end_ns: int
    host: str
    status: int
    path: str
    address: str = ""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    sent_bytes: int = 0
    left: bool = False

    def header(self, name: str) -> str | None:
        """Return the value of a header of the request; None when it was not sent."""
        return next((value for each, value in self.headers if each.lower() == name.lower()), None)

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
        more = _more(hit) if hit.headers or hit.sent_bytes else ""
        self._lines.append(f"{times},{hit.address},{hit.host},{hit.status},{hit.path}{more}\n")

    def flush(self) -> None:
        """Write what was remembered."""
        self._file.write("".join(self._lines))
        self._file.flush()
        self._lines.clear()


def read_log(path: Path) -> list[Hit]:
    """Return all hits of a log in the order of their starts; a half-written last line is left out."""
    return sorted(_parse(path.read_text(encoding="ascii")), key=lambda hit: hit.start_ns)


def _parse(text: str) -> Iterator[Hit]:
    for line in text.split("\n")[:-1]:
        start, sent, end, address, host, status, rest = line.split(",", 6)
        path, _, more = rest.partition("\t")
        yield Hit(int(start), int(sent), int(end), host, int(status), path, address, **_read_more(more))


def _more(hit: Hit) -> str:
    return "\t" + json.dumps({"headers": hit.headers, "sent_bytes": hit.sent_bytes, "left": hit.left})


def _read_more(text: str) -> dict[str, Any]:
    if not text:
        return {}
    more: dict[str, Any] = json.loads(text)
    return {**more, "headers": tuple((name, value) for name, value in more["headers"])}

"""What people said of pages: yes, no, or that they take it back. A book that is only ever added to.

The last word on a page counts. Whoever works for the crawl reads on from where it stopped.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A person's word on a page.

    Args:
        url: Canonical.
        relevant: Whether it is about the topic; None when an earlier word is taken back.
        at: When it was said, in seconds since the epoch.
    """

    url: str
    relevant: bool | None
    at: float

    def written(self) -> str:
        """Write it as a line."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def read(cls, line: str | bytes) -> Label | None:
        """Read a line; None when it holds no label."""
        try:
            said = json.loads(line)
            url, relevant, at = said["url"], said["relevant"], float(said["at"])
        except (ValueError, TypeError, KeyError):
            return None
        if not isinstance(url, str) or relevant not in (True, False, None):
            return None
        return cls(url=url, relevant=None if relevant is None else bool(relevant), at=at)


class LabelBook(Protocol):
    """Where labels are kept, in the order in which they were said."""

    async def say(self, labels: Sequence[Label]) -> int:
        """Add labels; return how many the book holds now."""
        ...

    async def read(self, since: int = 0) -> tuple[list[Label], int]:
        """Return what was said after the first `since` labels, and how many the book holds."""
        ...

    async def close(self) -> None:
        """Let go of the store."""
        ...


class FolderLabels:
    """The labels of a crawl as a file of lines; a line that a crash cut off is passed over."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def say(self, labels: Sequence[Label]) -> int:
        """Add labels; they are on the disk when this returns."""
        return await asyncio.to_thread(self._write, labels)

    async def read(self, since: int = 0) -> tuple[list[Label], int]:
        """Return what was said after the first `since` lines, and how many lines there are."""
        lines = await asyncio.to_thread(self._lines)
        return read_all(lines[since:]), len(lines)

    async def close(self) -> None:
        """Nothing is open."""

    def _write(self, labels: Sequence[Label]) -> int:
        with self._path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            before = file.read()
            start = b"\n" if before and not before.endswith(b"\n") else b""  # what a crash cut off ends here
            lines = [label.written().encode() + b"\n" for label in labels]
            file.write(start + b"".join(lines))
            file.flush()
            os.fsync(file.fileno())
            return (before + start).count(b"\n") + len(lines)

    def _lines(self) -> list[bytes]:
        """Return the lines that are whole."""
        return self._path.read_bytes().split(b"\n")[:-1] if self._path.is_file() else []


def read_all(lines: Iterable[str | bytes]) -> list[Label]:
    """Read lines; those that hold no label are passed over."""
    return [label for line in lines if (label := Label.read(line))]


def last_words(labels: Iterable[Label]) -> dict[str, bool | None]:
    """Return what counts of each page: the last word on it."""
    words: dict[str, bool | None] = {}
    for label in labels:
        words.pop(label.url, None)
        words[label.url] = label.relevant
    return words


def verdicts(labels: Iterable[Label]) -> dict[str, bool]:
    """Return the pages that somebody has said yes or no to, and not taken back."""
    return {url: relevant for url, relevant in last_words(labels).items() if relevant is not None}

"""Labels of pages by users: relevant, not relevant, or withdrawn. An append-only log.

The last label of a page counts. Each worker reads on from where it stopped.
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

from thresher.frontier.base import CRAWL_WIDE, SharedState

ACKNOWLEDGED_KIND = "heard"
ACKNOWLEDGED_TTL_SECONDS = 365 * 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A user's label of a page.

    Args:
        url: Canonical.
        relevant: Whether the page is about the topic; None withdraws an earlier label.
        at: When it was given, in seconds since the epoch.
        topic: The topic it is about, of several; empty for all.
    """

    url: str
    relevant: bool | None
    at: float
    topic: str = ""

    def written(self) -> str:
        """Return it as a line of JSON."""
        entry = {name: value for name, value in asdict(self).items() if name != "topic" or value}
        return json.dumps(entry, ensure_ascii=False)

    @classmethod
    def read(cls, line: str | bytes) -> Label | None:
        """Parse a line; None when it is not a label."""
        try:
            entry = json.loads(line)
            url, relevant, at = entry["url"], entry["relevant"], float(entry["at"])
            topic = entry.get("topic", "")
        except (ValueError, TypeError, KeyError):
            return None
        if not isinstance(url, str) or relevant not in (True, False, None) or not isinstance(topic, str):
            return None
        return cls(url=url, relevant=None if relevant is None else bool(relevant), at=at, topic=topic)


class LabelStore(Protocol):
    """A log of labels, in the order in which they were given."""

    async def append(self, labels: Sequence[Label]) -> int:
        """Append labels; return the new length of the log."""
        ...

    async def read(self, since: int = 0) -> tuple[list[Label], int]:
        """Return the labels after the first `since` ones, and the length of the log."""
        ...

    async def close(self) -> None: ...


class FolderLabelStore:
    """The labels of a crawl as a file of lines. They are on disk when `append` returns; truncated lines are skipped."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def append(self, labels: Sequence[Label]) -> int:
        return await asyncio.to_thread(self._write, labels)

    async def read(self, since: int = 0) -> tuple[list[Label], int]:
        lines = await asyncio.to_thread(self._lines)
        return read_all(lines[since:]), len(lines)

    async def close(self) -> None:
        pass

    def _write(self, labels: Sequence[Label]) -> int:
        with self._path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            before = file.read()
            start = b"\n" if before and not before.endswith(b"\n") else b""  # ends a line that a crash truncated
            lines = [label.written().encode() + b"\n" for label in labels]
            file.write(start + b"".join(lines))
            file.flush()
            os.fsync(file.fileno())
            return (before + start).count(b"\n") + len(lines)

    def _lines(self) -> list[bytes]:
        return self._path.read_bytes().split(b"\n")[:-1] if self._path.is_file() else []  # the complete lines


def read_all(lines: Iterable[str | bytes]) -> list[Label]:
    """Parse lines; those that are not labels are skipped."""
    return [label for line in lines if (label := Label.read(line))]


def latest_labels(labels: Iterable[Label], topic: str = "") -> dict[str, bool | None]:
    """Return the last label of each page by URL, in the order in which they were given.

    Args:
        topic: Skip labels about other topics than this one, of several.
    """
    latest: dict[str, bool | None] = {}
    for label in labels:
        if topic and label.topic not in ("", topic):
            continue
        latest.pop(label.url, None)
        latest[label.url] = label.relevant
    return latest


def verdicts(labels: Iterable[Label]) -> dict[str, bool]:
    """Return the labels that were not withdrawn, by URL."""
    return {url: relevant for url, relevant in latest_labels(labels).items() if relevant is not None}


async def acknowledge_labels(frontier: SharedState, worker: str, labels: int) -> None:
    """Record that a worker has applied the first `labels` labels, to its pages and to the frontier."""
    await frontier.put_state(CRAWL_WIDE, f"{ACKNOWLEDGED_KIND} {worker}", str(labels), seconds=ACKNOWLEDGED_TTL_SECONDS)


async def acknowledged(frontier: SharedState, worker: str) -> int:
    """Return how many labels a worker has applied."""
    content = await frontier.get_state(CRAWL_WIDE, f"{ACKNOWLEDGED_KIND} {worker}")
    return int(content) if content and content.isdecimal() else 0

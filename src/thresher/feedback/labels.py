"""Labels of pages by people and by language models: relevant, not relevant, or withdrawn. An append-only log.

The last label of a page counts; one by a person overrules those by models. Each worker reads on from where it stopped.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from thresher.frontier.base import CRAWL_WIDE, SharedState

ACKNOWLEDGED_KIND = "heard"
ACKNOWLEDGED_TTL_SECONDS = 365 * 86_400.0
MIN_DOUBT = 0.02
"""No label by a model is surer than this leaves room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A label of a page.

    Args:
        url: Canonical.
        relevant: Whether the page is about the topic; None withdraws an earlier label.
        at: When it was given, in seconds since the epoch.
        topic: The topic it is about, of several; empty for all.
        model: The language model that gave it; empty for a person.
        probability: Of a label by a model: that the page is about the topic.
    """

    url: str
    relevant: bool | None
    at: float
    topic: str = ""
    model: str = ""
    probability: float = 0.5

    @property
    def value(self) -> float | None:
        """The label as judges take it: True or False by a person, the probability by a model, None when withdrawn."""
        return self.relevant if self.relevant is None or not self.model else self.probability

    def written(self) -> str:
        """Return it as a line of JSON."""
        entry: dict[str, object] = {"url": self.url, "relevant": self.relevant, "at": self.at}
        entry |= {"topic": self.topic} if self.topic else {}
        entry |= {"model": self.model, "probability": self.probability} if self.model else {}
        return json.dumps(entry, ensure_ascii=False)

    @classmethod
    def read(cls, line: str | bytes) -> Label | None:
        """Parse a line; None when it is not a label."""
        try:
            entry = json.loads(line)
            url, relevant, at = entry["url"], entry["relevant"], float(entry["at"])
            topic, model, probability = entry.get("topic", ""), entry.get("model", ""), entry.get("probability", 0.5)
            label = cls(
                url=url, relevant=relevant, at=at, topic=topic, model=model, probability=_bounded(float(probability))
            )
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
        is_label = all(isinstance(text, str) for text in (url, topic, model)) and relevant in (True, False, None)
        return replace(label, relevant=None if relevant is None else bool(relevant)) if is_label else None


def _bounded(probability: float) -> float:
    """Return a probability that is not mistaken for the label of a person."""
    if not 0.0 <= probability <= 1.0:
        raise ValueError("not a probability")
    return min(max(probability, MIN_DOUBT), 1.0 - MIN_DOUBT)


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


def latest_labels(labels: Iterable[Label], topic: str = "") -> dict[str, float | None]:
    """Return the label of each page by URL as judges take it, in the order in which they were given.

    A person's label overrules one by a model, whichever came first. A person who withdraws a label withdraws the
    model's too.

    Args:
        topic: Skip labels about other topics than this one, of several.
    """
    people: dict[str, float | None] = {}
    latest: dict[str, float | None] = {}
    for label in labels:
        if topic and label.topic not in ("", topic):
            continue
        if not label.model:
            people[label.url] = label.value
        elif people.get(label.url) is not None:
            continue
        latest.pop(label.url, None)
        latest[label.url] = label.value
    return latest


def verdicts(labels: Iterable[Label]) -> dict[str, bool]:
    """Return the labels of people that were not withdrawn, by URL."""
    latest = latest_labels(label for label in labels if not label.model)
    return {url: bool(relevant) for url, relevant in latest.items() if relevant is not None}


def model_labels(labels: Iterable[Label]) -> dict[str, Label]:
    """Return the labels of models that were not withdrawn, by URL, also those that a person overruled."""
    latest: dict[str, Label] = {}
    for label in labels:
        if label.model and label.relevant is not None:
            latest[label.url] = label
        elif label.relevant is None:
            latest.pop(label.url, None)
    return latest


async def acknowledge_labels(frontier: SharedState, worker: str, labels: int) -> None:
    """Record that a worker has applied the first `labels` labels, to its pages and to the frontier."""
    await frontier.put_state(CRAWL_WIDE, f"{ACKNOWLEDGED_KIND} {worker}", str(labels), seconds=ACKNOWLEDGED_TTL_SECONDS)


async def acknowledged(frontier: SharedState, worker: str) -> int:
    """Return how many labels a worker has applied."""
    content = await frontier.get_state(CRAWL_WIDE, f"{ACKNOWLEDGED_KIND} {worker}")
    return int(content) if content and content.isdecimal() else 0

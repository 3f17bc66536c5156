"""How many relevant pages each topic of a crawl has, over all machines: for stop rules and for the needs of topics.

Each machine counts its own page store and publishes its numbers through the frontier, in one entry for all machines.
Two machines may replace the entry at the same time; the numbers of the one that was overwritten are there again after
its next count.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from thresher.feedback.forecast import read_forecast
from thresher.frontier.base import CRAWL_WIDE, Counts, SharedState, StateReader
from thresher.records import Forecast
from thresher.storage.reader import PageStoreReader

KIND = "topic pages"
KEPT_SECONDS = 30 * 86_400.0


SHARE = 0.05
"""Largest share of the time of a polling process for counting the page store."""


class TopicTotals:
    """Counts the relevant pages of each topic repeatedly, and publishes them.

    Args:
        pages: The folder of the page store of this machine.
        machine: The name of this machine among those of the crawl.
        topics: The number of relevant pages wanted by each topic; None for no limit.
        clock: A monotonic clock.
    """

    def __init__(
        self,
        pages: Path,
        machine: str,
        topics: Mapping[str, int | None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pages = pages
        self._machine = machine
        self._topics = topics
        self._clock = clock
        self._found: dict[str, int] = {}
        self._next = float("-inf")

    async def are_complete(self, frontier: SharedState, *, fresh: bool = False) -> bool:
        """Return whether every topic that wants a number of pages has them; False when none does.

        Args:
            fresh: Count now, even if that was done a moment ago.
        """
        if not self._topics:
            return False
        began = self._clock()
        if fresh or began >= self._next:
            self._found = await asyncio.to_thread(count_topics, self._pages)
            ended = self._clock()
            self._next = ended + (ended - began) / SHARE
        found = await publish_topic_counts(frontier, self._machine, self._found)
        wanted = {name: number for name, number in self._topics.items() if number is not None}
        return bool(wanted) and all(found.get(name, 0) >= number for name, number in wanted.items())


def count_topics(pages: Path) -> dict[str, int]:
    """Count the relevant pages of each topic in a page store."""
    with PageStoreReader(pages) as collection:
        return collection.topic_tallies()


@dataclass(frozen=True, kw_only=True)
class TopicStatus:
    """The status of one of several topics.

    Args:
        relevant: Relevant pages by the current verdicts, without duplicates.
        wanted: How many relevant pages are wanted; null for no limit.
        forecast: How many of the waiting URLs lead to further ones, as an interval; null when unknown, and for a
            complete topic, whose links are not followed any more.
    """

    name: str
    relevant: int
    wanted: int | None = None
    forecast: Forecast | None = None

    @property
    def is_complete(self) -> bool:
        return self.wanted is not None and self.relevant >= self.wanted


async def read_topics(
    frontier: StateReader, counts: Counts, topics: Mapping[str, int | None], pages: Path | None
) -> list[TopicStatus]:
    """Read the status of each topic.

    Args:
        counts: The numbers of the crawl.
        topics: How many relevant pages are wanted, by topic.
        pages: The page store; None when other machines have pages too, then the last published numbers are read.
    """
    if not topics:
        return []
    found = await asyncio.to_thread(count_topics, pages) if pages else await read_topic_counts(frontier)
    return [
        status if status.is_complete else replace(status, forecast=await read_forecast(frontier, counts, status.name))
        for status in (
            TopicStatus(name=name, relevant=found.get(name, 0), wanted=wanted) for name, wanted in topics.items()
        )
    ]


async def publish_topic_counts(frontier: SharedState, machine: str, found: Mapping[str, int]) -> dict[str, int]:
    """Publish the relevant pages of each topic on one machine; return those on all machines."""
    machines = _read(await frontier.get_state(CRAWL_WIDE, KIND))
    if machines.get(machine) != found:
        machines[machine] = dict(found)
        await frontier.put_state(CRAWL_WIDE, KIND, json.dumps(machines, ensure_ascii=False), seconds=KEPT_SECONDS)
    return _sum(machines)


async def read_topic_counts(frontier: StateReader) -> dict[str, int]:
    """Return the relevant pages of each topic on all machines, as they were last published."""
    return _sum(_read(await frontier.get_state(CRAWL_WIDE, KIND)))


def _sum(machines: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for found in machines.values():
        total.update(found)
    return dict(total)


def _read(content: str | None) -> dict[str, dict[str, int]]:
    """Read the entry; empty when it cannot be read."""
    try:
        machines = json.loads(content) if content else {}
        return {
            str(machine): {str(name): int(pages) for name, pages in found.items()}
            for machine, found in machines.items()
        }
    except (ValueError, TypeError, AttributeError):
        return {}

"""The numbers of a crawl as every command reports them.

The frontier counts a page when it is settled, with the verdict of that moment. The page store has the current verdict.
So where all pages of a crawl are on this machine, pages and relevant pages are counted in the page store. A crawl on a
shared store has pages on other machines; there the frontier's numbers are reported, which are adjusted when pages are
rejudged.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from thresher.frontier.base import Counts, HostEntry
from thresher.locale.translation import Translatable, _
from thresher.storage.reader import PageStoreReader, PageTally

SHARE = 0.05
"""Largest share of the time of a polling process for counting the page store."""


class _Counted(Protocol):
    async def counts(self) -> Counts: ...


class Totals:
    """Reads the numbers of a crawl repeatedly.

    Args:
        pages: The folder of the page store; None when it does not have all pages of the crawl.
        clock: A monotonic clock.
    """

    def __init__(self, pages: Path | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._pages = pages
        self._clock = clock
        self._tally = PageTally()
        self._next = float("-inf")

    async def read(self, frontier: _Counted, *, fresh: bool = False) -> Counts:
        """Return the numbers; unless `fresh`, the count of the page store may be cached."""
        counts = await frontier.counts()
        if self._pages is None:
            return counts
        began = self._clock()
        if fresh or began >= self._next:
            self._tally = await asyncio.to_thread(_count, self._pages)
            ended = self._clock()
            self._next = ended + (ended - began) / SHARE
        return with_tally(counts, self._tally)


def with_tally(counts: Counts, tally: PageTally) -> Counts:
    """Replace the frontier's numbers of pages by those of the page store."""
    return replace(
        counts,
        pages=tally.pages,
        relevant=tally.relevant,
        duplicates=tally.duplicates,
        expected=round(tally.expected, 1),
    )


async def host_totals(entries: Sequence[HostEntry], pages: Path | None) -> list[HostEntry]:
    """Replace pages and relevant pages of the frontier's hosts by those of the page store."""
    if pages is None:
        return list(entries)
    tallies = await asyncio.to_thread(_count_hosts, pages)
    nothing = PageTally()
    return [
        replace(entry, pages=tally.pages, relevant=tally.relevant)
        for entry in entries
        for tally in [tallies.get(entry.host, nothing)]
    ]


def relevant_words(counts: Counts) -> Translatable:
    """Format the number of relevant pages: marked as provisional while the judge has seen few pages."""
    relevant, expected = counts.relevant, counts.expected
    if not counts.provisional:
        return _("{relevant:,} relevant (harvest rate {rate:.2f})", relevant=relevant, rate=counts.harvest_rate)
    if expected is None:
        return _("{relevant:,} relevant (provisional)", relevant=relevant)
    return _("{relevant:,} relevant (provisional, {expected:,.0f} expected)", relevant=relevant, expected=expected)


def _count(pages: Path) -> PageTally:
    with PageStoreReader(pages) as collection:
        return collection.tally()


def _count_hosts(pages: Path) -> dict[str, PageTally]:
    with PageStoreReader(pages) as collection:
        return collection.host_tallies()

"""What visiting again by expected gain catches, beside other orders: ``python -m bench.effectiveness.refresh``.

A virtual web changes by itself: every page has a rate of changes of its own, most of them slow, some fast, those of
one host alike. Half of the hosts name versions (ETag), a third say when a page changed last. All pages are fetched
once; then, week after week, a tenth of them may be visited. Visits go through the code of a real refresh: they are
chosen from the page store, wait in the queue, ask with the server's own words, and pass along the line into the store.
Only the order differs:

- ``gain``: how likely a page has changed, by what its visits saw, times how relevant it is. What `run --refresh` does.
- ``uniform``: whatever was not looked at for the longest time, so that all pages have their turn.
- ``relevance``: the most relevant pages, always the same ones.
- ``known rates``: as ``gain``, but given the true rates, which nobody knows.

*Caught* is the number of visits that found a change; *found* what they found, weighed by relevance, as a share of all
pages that changed in each week; *fresh* the share of the collection that is as it is on the web, by relevance, over all
weeks. What changes, and when, is the same for all orders.
"""

from __future__ import annotations

import argparse
import asyncio
import email.utils
import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from testing.machine import machine
from thresher.pipeline.outcomes import PipelineRules
from thresher.pipeline.pipeline import Pipeline
from thresher.records import Candidate, FetchedPage, Judgement, Lease, ParsedPage
from thresher.refresh.plan import Gain, candidates, choose, expected_gain, probability_of_change
from thresher.refresh.queue import RefreshFrontier
from thresher.refresh.revisit import conditional_headers
from thresher.storage.page_store import PageRecord, PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.strategies.baselines import BreadthFirst
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

DAY = 86_400.0
BEGIN = 1.7e9
PAGES_PER_HOST = 20


@dataclass
class Page:
    """A page that changes by itself."""

    url: str
    relevance: float
    per_day: float
    names_versions: bool
    says_when: bool
    version: int = 0
    changed_at: float = BEGIN

    def answer(self, now: float, asked: dict[str, str]) -> FetchedPage:
        """Answer as a server would."""
        headers = {"content-type": "text/html"}
        if self.names_versions:
            headers["etag"] = f'"{self.version}"'
        if self.says_when:
            headers["last-modified"] = email.utils.formatdate(self.changed_at, usegmt=True)
        same = self.names_versions and asked.get("If-None-Match") == headers["etag"]
        same = same or (self.says_when and asked.get("If-Modified-Since") == headers["last-modified"])
        words = f"<title>{self.url}</title><p>Version {self.version} of {self.url}, which says something.</p>"
        status, body = (304, b"") if same else (200, words.encode())
        return FetchedPage(url=self.url, status=status, headers=headers, body=body, fetched_at=now)


class ChangingWeb:
    """Pages, and the time in which they change."""

    def __init__(self, number: int, seed: int) -> None:
        self._random = random = Random(seed)
        self.now = BEGIN
        self.pages: dict[str, Page] = {}
        for host in range(number // PAGES_PER_HOST):
            of_host = math.exp(random.uniform(math.log(1 / 730), math.log(1 / 2)))
            names, says = host % 2 == 0, host % 3 == 0
            for place in range(PAGES_PER_HOST):
                url = f"http://h{host}.example/{place}"
                per_day = of_host * random.lognormvariate(0.0, 0.8)
                age = random.expovariate(per_day / DAY)
                relevance = random.betavariate(1.2, 1.2)
                self.pages[url] = Page(url, relevance, per_day, names, says, changed_at=BEGIN - age)

    def pass_days(self, days: float) -> set[str]:
        """Let time go by; return the pages that changed."""
        changed = set()
        for page in self.pages.values():
            at = self.now + self._random.expovariate(page.per_day / DAY)
            while at < self.now + days * DAY:
                page.version, page.changed_at = page.version + 1, at
                changed.add(page.url)
                at += self._random.expovariate(page.per_day / DAY)
        self.now += days * DAY
        return changed


class KnownRelevance:
    """A judge that knows the labels."""

    def __init__(self, web: ChangingWeb) -> None:
        self._web = web

    def judge(self, page: ParsedPage) -> Judgement:
        """Say how relevant a page is."""
        relevance = self._web.pages[page.url].relevance
        return Judgement(relevance=relevance, relevant=relevance > 0.5)


class Everywhere:
    """No bounds."""

    def allows(self, candidate_url: str, hops: int) -> str:
        """Allow it."""
        return ""


@dataclass
class Tally:
    """What a policy achieved."""

    visits: int = 0
    caught: int = 0
    changed: float = 0.0
    found: float = 0.0
    fresh: list[float] = field(default_factory=list)

    def row(self, name: str) -> str:
        """Return a line of the table."""
        fresh = sum(self.fresh) / len(self.fresh)
        return (
            f"| {name} | {self.visits:,} | {self.caught:,} | {self.caught / self.visits:.2f} | "
            f"{self.found / self.changed:.2f} | {fresh:.2f} |"
        )


def policies(web: ChangingWeb) -> dict[str, Gain]:
    """Return the orders that are compared."""

    def known_rates(record: PageRecord, rate: float, seconds: float) -> float:
        return probability_of_change(web.pages[record.url].per_day / DAY, seconds) * record.relevance

    return {
        "gain": expected_gain,
        "uniform": lambda record, rate, seconds: seconds,
        "relevance": lambda record, rate, seconds: record.relevance,
        "known rates": known_rates,
    }


class Refreshes:
    """One crawl that is refreshed week after week."""

    def __init__(self, web: ChangingWeb, gain: Gain, folder: Path) -> None:
        self._web = web
        self._gain = gain
        self._folder = folder
        self._archive = PageStoreWriter(folder / "w1.db")
        self._home = MemoryFrontier(clock=lambda: web.now)

    def _pipeline(self, visits: MemoryFrontier) -> Pipeline:
        return Pipeline(
            frontier=RefreshFrontier(visits, self._home),
            archive=self._archive,
            judge=KnownRelevance(self._web),
            strategy=BreadthFirst(),
            rules=PipelineRules(scope=Everywhere()),
        )

    async def visit(self, wanted: list[Candidate]) -> list[PageRecord]:
        """Fetch what is wanted; return what was recorded."""
        visits = MemoryFrontier(clock=lambda: self._web.now, leases_per_host=PAGES_PER_HOST)
        pipeline = self._pipeline(visits)
        await pipeline.frontier.add(wanted)
        records = []
        while leases := await pipeline.frontier.lease(100, seconds=600):
            records += [await pipeline.process(lease, self._fetch(lease)) for lease in leases]
        return records

    def _fetch(self, lease: Lease) -> FetchedPage:
        return self._web.pages[lease.url].answer(self._web.now, conditional_headers(lease))

    def plan(self, number: int) -> list[Candidate]:
        """Choose as a real refresh does."""
        with PageStoreReader(self._folder) as collection:
            return candidates(choose(collection, number, now=self._web.now, gain=self._gain), BreadthFirst())

    async def run(self, weeks: int, share: float) -> Tally:
        """Refresh week after week."""
        pages, tally, stale = self._web.pages, Tally(), set[str]()
        whole = sum(page.relevance for page in pages.values())
        await self.visit([Candidate(url=url, score=1.0) for url in pages])
        for _ in range(weeks):
            changed = self._web.pass_days(7)
            tally.changed += sum(pages[url].relevance for url in changed)
            stale |= changed
            records = await self.visit(self.plan(round(share * len(pages))))
            caught = {record.url for record in records if record.page}
            if not caught <= stale:
                raise AssertionError("a page was called changed that had not")
            tally.visits, tally.caught = tally.visits + len(records), tally.caught + len(caught)
            tally.found += sum(pages[url].relevance for url in caught)
            stale -= {record.url for record in records}
            tally.fresh.append(1 - sum(pages[url].relevance for url in stale) / whole)
        self._archive.close()
        return tally


def measure(name: str, choice: Callable[[ChangingWeb], Gain], *, pages: int, weeks: int, share: float) -> Tally:
    """Run one policy on a web of its own that changes as those of all others do."""
    web = ChangingWeb(pages, seed=11)
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(Refreshes(web, choice(web), Path(folder)).run(weeks, share))


def rows(pages: int, weeks: int, share: float) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| order | visits | caught | caught per visit | found | fresh |"
    yield "|---|---|---|---|---|---|"
    for name in policies(ChangingWeb(PAGES_PER_HOST, seed=1)):
        tally = measure(name, lambda web, name=name: policies(web)[name], pages=pages, weeks=weeks, share=share)
        yield tally.row(name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m bench.effectiveness.refresh", description="What visiting again catches."
    )
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--weeks", type=int, default=26)
    parser.add_argument("--share", type=float, default=0.1, help="of the pages that may be visited in a week")
    options = parser.parse_args()
    print(f"{machine()}; {options.pages:,} pages, {options.weeks} weeks, {options.share:.0%} of them visited a week.\n")
    for row in rows(options.pages, options.weeks, options.share):
        print(row, flush=True)

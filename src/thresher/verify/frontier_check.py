"""The page store against the frontier: every settled URL, and every link that was added, must be known there.

A store that crashed may have lost its last second, in a cluster on one shard only: then the links of a settled page are
missing. Adding URLs that are known changes nothing, so missing ones are simply added again.

Conversely, every done URL must have a row: one without was lost with its segment, and is queued again. A frontier file
lists all its URLs. A shared store keeps only fingerprints of done URLs, so there they are found as seeds and as links
of other pages; pages that neither names are counted, and reported as lost.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from thresher.frontier.base import Counts, Frontier, UrlEntry, UrlState, short
from thresher.records import Candidate, Outcome
from thresher.urls.canonical import fingerprint
from thresher.verify.findings import FindingState, FindingTally, VerifyFinding, VerifyReport
from thresher.verify.page_rows import VerifiedRow, VerifiedRows

T = TypeVar("T")

QUERIED_AT_ONCE = 512
LINKS_AT_ONCE = 8_192
"""Links that the frontier is asked for at once: each call reads every part of a cold storage that may have one."""
MOST_REMEMBERED = 1_000_000
"""URLs that are not queried twice; beyond this number the set is cleared."""
_DONE = "SELECT url, score, hops, parent FROM url WHERE state = 2 AND instr(url, '#') = 0"
_OPEN = (UrlState.WAITING, UrlState.LEASED)
_SITEMAP = "sitemap:"
_SITEMAP_ENDINGS = (".xml", ".xml.gz")


@runtime_checkable
class FindsMany(Protocol):
    """A frontier that is asked for many URLs at once."""

    async def find_all(self, urls: Sequence[str]) -> list[UrlEntry | None]: ...


@dataclass(frozen=True, kw_only=True)
class Queue:
    """A frontier to compare with, and what is known about it.

    Args:
        outside: Returns why a URL at this number of links from a seed is out of scope by the current rules.
        is_whole: Whether all pages of the crawl are in this folder, and none on other machines.
        is_running: Whether workers are running, so that open URLs may be settled in a moment.
        seeds: Of the crawl.
        file: The frontier's file, which lists all URLs; None for a shared store.
        filter_error: The largest share of new links that the filters of a cold storage may take for known ones.
    """

    frontier: Frontier
    outside: Callable[[str, int], str]
    is_whole: bool = True
    is_running: bool = False
    seeds: Sequence[Candidate] = ()
    file: Path | None = None
    filter_error: float = 0.0


@dataclass
class _Seen:
    rows: int = 0
    links: int = 0
    done: int = 0
    pages: set[int] = field(default_factory=set)
    unknown_pages: FindingTally = field(default_factory=FindingTally)
    unknown_links: FindingTally = field(default_factory=FindingTally)
    refused_pages: FindingTally = field(default_factory=FindingTally)
    refused_links: FindingTally = field(default_factory=FindingTally)
    again: FindingTally = field(default_factory=FindingTally)
    without_row: FindingTally = field(default_factory=FindingTally)
    outside: FindingTally = field(default_factory=FindingTally)
    elsewhere: FindingTally = field(default_factory=FindingTally)


class QueueCheck:
    """Compares the rows of the page store with the frontier, in bounded memory."""

    def __init__(self, queue: Queue, rows: VerifiedRows, *, repair: bool) -> None:
        self._queue = queue
        self._frontier = queue.frontier
        self._rows = rows
        self._repair = repair
        self._seen = _Seen()
        self._queried: set[int] = set()
        self._missing_pages: list[Candidate] = []
        self._missing_links: list[Candidate] = []
        self._lost: list[Candidate] = []

    async def run(self) -> VerifyReport:
        """Compare, and with `repair` add what is missing and queue again what has no row."""
        counts = await self._frontier.counts()
        for rows in _batches(self._rows, QUERIED_AT_ONCE):
            await self._check_rows(rows)
            await self._add_missing()
        await self._check_done()
        looked_at = {"rows": self._seen.rows, "links": self._seen.links}
        if self._queue.file:
            looked_at["done URLs"] = self._seen.done
        unnamed = self._unnamed_pages(counts)
        counts = await self._frontier.counts()
        return VerifyReport(
            findings=[*self._findings(counts), *unnamed], looked_at=looked_at, unchecked=self._unchecked()
        )

    async def _check_done(self) -> None:
        if self._queue.file:
            for listed in _batches(done_in(self._queue.file), QUERIED_AT_ONCE):
                self._seen.done += len(listed)
                for candidate in listed:
                    self._compare_done(candidate)
                await self._queue_again()
            return
        async for seed, entry in self._found(self._queue.seeds):
            if entry and entry.state is UrlState.DONE:
                self._compare_done(seed)
        await self._queue_again()

    async def _check_rows(self, rows: Sequence[VerifiedRow]) -> None:
        self._seen.rows += len(rows)
        entries = await self._find([row.url for row in rows])
        links: dict[int, Candidate] = {}
        for row, entry in zip(rows, entries, strict=True):
            self._compare(row, entry)
            if entry is None or entry.state not in _OPEN:  # an open page adds its links when it is fetched again
                links.update((fingerprint(link.url), link) for link in candidates_of(row))
        new_links = {number: link for number, link in links.items() if self._is_new(number)}
        self._seen.links += len(new_links)
        with_row = self._rows.among(new_links)  # they are compared as rows
        without_row = [link for number, link in new_links.items() if number not in with_row]
        async for link, entry in self._found(without_row):
            self._compare_link(link, entry)

    def _compare(self, row: VerifiedRow, entry: UrlEntry | None) -> None:
        if row.page and not self._queue.file:
            self._seen.pages.add(row.fingerprint)
        if entry is None:
            if not self._queue.outside(row.url, row.depth):
                self._seen.unknown_pages.add(row.url)
                page = Candidate(url=row.url, score=short(row.score), hops=row.depth, parent=row.parent)
                self._missing_pages.append(page)
        elif entry.state in _OPEN and row.outcome is not Outcome.RETRY:
            self._seen.again.add(row.url)

    def _compare_link(self, link: Candidate, entry: UrlEntry | None) -> None:
        if entry is None:
            if not self._queue.outside(link.url, link.hops):
                self._seen.unknown_links.add(link.url)
                self._missing_links.append(link)
        elif entry.state is UrlState.DONE and not self._queue.file:
            self._compare_done(link)

    def _compare_done(self, done: Candidate) -> None:
        if fingerprint(done.url) in self._rows:
            return
        if not self._queue.is_whole:
            self._seen.elsewhere.add(done.url)
        elif self._queue.outside(done.url, done.hops):
            self._seen.outside.add(done.url)
        else:
            self._seen.without_row.add(done.url)
            self._lost.append(done)

    def _is_new(self, number: int) -> bool:
        if number in self._queried:
            return False
        if len(self._queried) >= MOST_REMEMBERED:
            self._queried.clear()
        self._queried.add(number)
        return True

    async def _found(self, links: Sequence[Candidate]) -> AsyncIterator[tuple[Candidate, UrlEntry | None]]:
        for part in _batches(links, LINKS_AT_ONCE):
            for link, entry in zip(part, await self._find([link.url for link in part]), strict=True):
                yield link, entry

    async def _find(self, urls: Sequence[str]) -> list[UrlEntry | None]:
        if isinstance(self._frontier, FindsMany):
            return await self._frontier.find_all(urls)
        return await asyncio.gather(*map(self._frontier.find, urls))

    async def _add_missing(self) -> None:
        pages, self._missing_pages = self._missing_pages, []
        links, self._missing_links = self._missing_links, []
        if self._repair:
            await self._add(pages, self._seen.refused_pages)
            await self._add(links, self._seen.refused_links)

    async def _add(self, candidates: Sequence[Candidate], refused: FindingTally) -> None:
        await self._frontier.add(candidates)
        async for candidate, entry in self._found(candidates):
            if entry is None:
                refused.add(candidate.url)

    async def _queue_again(self) -> None:
        lost, self._lost = self._lost, []
        if lost and self._repair:
            await self._frontier.reopen(lost)

    def _unnamed_pages(self, counts: Counts) -> list[VerifyFinding]:
        """Report pages that a shared store counted and that neither a row nor a link names."""
        if self._queue.file or not self._queue.is_whole or self._queue.is_running:
            return []
        number = counts.pages - len(self._seen.pages) - self._seen.without_row.number
        if number <= 0:
            return []
        words = "pages were counted by the store and have no row; nothing names them: run, then verify again"
        return [VerifyFinding(part="pages", state=FindingState.LOST, words=words, number=number)]

    def _unchecked(self) -> list[str]:
        if self._queue.is_whole:
            return []
        here = f"; {self._seen.elsewhere.number:,} have none here" if self._seen.elsewhere.number else ""
        return [f"whether every URL that is done has a row: other machines keep pages of this crawl too{here}"]

    def _findings(self, counts: Counts) -> list[VerifyFinding]:
        seen, repaired = self._seen, FindingState.REPAIRED if self._repair else FindingState.WRONG
        return [
            *(self._repaired_urls(counts) if self._repair else self._unknown_urls(counts)),
            *seen.again.found("frontier", FindingState.NOTE, "pages are kept and still open: they are fetched again"),
            *seen.without_row.found(
                "pages",
                repaired,
                "URLs were done and had no row; they are queued again"
                if self._repair
                else "URLs are done in the frontier and have no row",
            ),
            *seen.outside.found("pages", FindingState.NOTE, "URLs are done, have no row, and are out of scope now"),
            *self._leases(counts),
        ]

    def _unknown_urls(self, counts: Counts) -> Iterator[VerifyFinding]:
        """Report pages and links that the frontier does not know.

        A page that was settled cannot have left the frontier; a link may never have been taken into it.
        """
        seen = self._seen
        yield from seen.unknown_pages.found("frontier", FindingState.WRONG, "pages are unknown to the frontier")
        yield from self._left_out("links of settled pages", seen.unknown_links, FindingState.WRONG, counts)

    def _repaired_urls(self, counts: Counts) -> Iterator[VerifyFinding]:
        """Report pages and links that the frontier did not know, and those that it refused."""
        seen = self._seen
        for kind, unknown, refused in (
            ("pages", seen.unknown_pages, seen.refused_pages),
            ("links of settled pages", seen.unknown_links, seen.refused_links),
        ):
            words = f"{kind} were unknown to the frontier; they are queued again"
            yield from _without(unknown, refused).found("frontier", FindingState.REPAIRED, words)
            yield from self._left_out(kind, refused, FindingState.LOST, counts)

    def _left_out(self, kind: str, urls: FindingTally, state: FindingState, counts: Counts) -> Iterator[VerifyFinding]:
        """Report URLs that the frontier did not take, as a note when full queues or filters explain it."""
        if reason := self._harmless(urls.number, counts):
            yield from urls.found("frontier", FindingState.NOTE, f"{kind} are not in the frontier: {reason}")
        else:
            refused = ", which refuses them" if state is FindingState.LOST else ""
            yield from urls.found("frontier", state, f"{kind} are unknown to the frontier{refused}")

    def _harmless(self, number: int, counts: Counts) -> str:
        """Return why the frontier may lack this many URLs though nothing was lost; empty when nothing explains it."""
        if number <= counts.dropped:
            return "the queues of their hosts are full, or were"
        if number <= self._queue.filter_error * (self._seen.rows + self._seen.links):
            return "the filters of cold URLs took them for known ones, as they do in rare cases"
        return ""

    def _leases(self, counts: Counts) -> list[VerifyFinding]:
        if self._queue.is_running or not counts.leased:
            return []
        words = "leases are open though no worker runs; they end by themselves"
        return [VerifyFinding(part="frontier", state=FindingState.NOTE, words=words, number=counts.leased)]


def _without(unknown: FindingTally, refused: FindingTally) -> FindingTally:
    """Return the unknown URLs that were added; of many, the examples may lack some."""
    examples = [url for url in unknown.examples if url not in refused.examples]
    return FindingTally(unknown.number - refused.number, examples)


def done_in(path: Path) -> Iterator[Candidate]:
    """Yield the done pages of a frontier file; side requests, which give no pages, have a fragment in their URL."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60)) as db:
        for url, score, hops, parent in db.execute(_DONE):
            yield Candidate(url=url, score=score, hops=hops, parent=parent)


def candidates_of(row: VerifiedRow) -> Iterator[Candidate]:
    """Yield the links of a row as they were added to the frontier, without their carry.

    Sitemaps that a sitemap lists are left out: only the frontier knew that they are sitemaps.
    """
    moved = not row.page and row.outcome is Outcome.DONE and not row.reason.startswith(_SITEMAP)
    hops = row.depth if moved else row.depth + 1
    for link in row.links:
        if row.reason.startswith(_SITEMAP) and link.url.endswith(_SITEMAP_ENDINGS):
            continue
        yield Candidate(
            url=link.url,
            score=short(link.score),
            parts=link.parts,
            hops=hops,
            redirects=int(moved),
            parent=row.fingerprint,
        )


def _batches(things: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(things)
    while batch := list(islice(iterator, size)):
        yield batch

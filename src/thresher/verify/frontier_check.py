"""The page store against the frontier: every settled URL, every link that was added and every seed must be known there.

One that is not is explained only if the frontier recorded its own eviction from a full queue, or if a filter of cold
URLs takes it for one of them. The frontier must also have as many URLs as it counts: so one that is gone is noticed
even if nothing names it.

A store that crashed may have lost its last second, in a cluster on one shard only: then the links of a settled page are
missing. Adding URLs that are known changes nothing, so missing ones are simply added again.

Conversely, every done URL must have a row: one without was lost with its segment, and is queued again. A frontier file
lists all its URLs. A shared store keeps only fingerprints of done URLs, so there they are found as seeds and as links
of other pages; pages that neither names are counted, and reported as lost.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TypeVar

from thresher.frontier.base import (
    Absence,
    AuditedFrontier,
    CountAudit,
    Counts,
    Frontier,
    HostMiscount,
    UrlEntry,
    UrlState,
    as_float32,
)
from thresher.frontier.old_entries import may_be_old_sitemap
from thresher.reasons.reason import ReasonKind
from thresher.records import Candidate, Outcome, RequestKind
from thresher.urls.canonical import fingerprint, host_key
from thresher.verify.findings import FindingState, FindingTally, VerifyFinding, VerifyReport
from thresher.verify.page_rows import VerifiedRow, VerifiedRows

T = TypeVar("T")

QUERIED_AT_ONCE = 512
LINKS_AT_ONCE = 8_192
"""Links that the frontier is asked for at once: each call reads every part of a cold storage that may have one."""
MAX_REMEMBERED = 1_000_000
"""URLs that are not queried twice; beyond this number the set is cleared."""
_DONE = "SELECT url, score, hops, parent, kind FROM url WHERE state = 2"
_OPEN = (UrlState.WAITING, UrlState.LEASED)
_REASONS = {
    Absence.EVICTED: "the queue of the host is full, or was",
    Absence.FILTERED: "the filters of cold URLs take it|them for known, as happens in rare cases",
}
_WITHOUT_ROW = (RequestKind.ROBOTS, RequestKind.TICKET)
"""The row of a ticket has the URL of its page."""
_LISTS = (ReasonKind.SITEMAP, ReasonKind.FEED)
"""Reasons of rows whose links are not a redirect."""


@dataclass(frozen=True, kw_only=True)
class Queue:
    """A frontier to compare with, and what is known about it.

    Args:
        outside: Returns why a URL at this number of links from a seed is out of scope by the current rules.
        is_whole: Whether all pages of the crawl are in this folder, and none on other machines.
        is_running: Whether workers are running, so that open URLs may be settled in a moment.
        seeds: Of the crawl.
        labelled: URLs that were queued because of a label.
        file: The frontier's file, which lists all URLs; None for a shared store.
    """

    frontier: Frontier
    outside: Callable[[str, int], str]
    is_whole: bool = True
    is_running: bool = False
    seeds: Sequence[Candidate] = ()
    labelled: Sequence[Candidate] = ()
    file: Path | None = None


@dataclass
class _Missing:
    """URLs of one kind that the frontier does not know.

    Args:
        kind: In both numbers.
        met: Those that are not accounted for yet.
        unknown: Those that nothing explains; with a repair, those that were queued again.
        refused: Those that a repair could not queue.
    """

    kind: str
    met: list[Candidate] = field(default_factory=list)
    unknown: FindingTally = field(default_factory=FindingTally)
    refused: FindingTally = field(default_factory=FindingTally)
    absent: dict[Absence, FindingTally] = field(default_factory=lambda: {why: FindingTally() for why in Absence})


@dataclass
class _Seen:
    rows: int = 0
    links: int = 0
    done: int = 0
    pages: set[int] = field(default_factory=set)
    unknown_pages: _Missing = field(default_factory=lambda: _Missing("page|pages"))
    unknown_links: _Missing = field(default_factory=lambda: _Missing("link|links of settled pages"))
    unknown_seeds: _Missing = field(default_factory=lambda: _Missing("seed|seeds"))
    unknown_labelled: _Missing = field(default_factory=lambda: _Missing("labelled URL|URLs"))
    named: Counter[str] = field(default_factory=Counter)
    again: FindingTally = field(default_factory=FindingTally)
    without_row: FindingTally = field(default_factory=FindingTally)
    outside: FindingTally = field(default_factory=FindingTally)
    elsewhere: FindingTally = field(default_factory=FindingTally)

    @property
    def missing(self) -> tuple[_Missing, ...]:
        return self.unknown_pages, self.unknown_links, self.unknown_seeds, self.unknown_labelled


class QueueCheck:
    """Compares the rows of the page store with the frontier, in bounded memory."""

    def __init__(self, queue: Queue, rows: VerifiedRows, *, repair: bool) -> None:
        self._queue = queue
        self._frontier = queue.frontier
        self._rows = rows
        self._repair = repair
        self._seen = _Seen()
        self._queried: set[int] = set()
        self._audit = CountAudit()
        self._lost: list[Candidate] = []

    async def run(self) -> VerifyReport:
        """Compare, and with `repair` add what is missing and queue again what has no row."""
        counts = await self._frontier.counts()
        if isinstance(self._frontier, AuditedFrontier):  # first: with wrong counts, what is added again may be evicted
            self._audit = await self._frontier.audit(repair=self._repair)
        for rows in _batches(self._rows, QUERIED_AT_ONCE):
            await self._check_rows(rows)
            await self._account_for_missing()
        await self._check_named(self._queue.seeds, self._seen.unknown_seeds)
        await self._check_named(self._queue.labelled, self._seen.unknown_labelled)
        await self._account_for_missing()
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

    async def _check_named(self, candidates: Sequence[Candidate], missing: _Missing) -> None:
        """Check that URLs which the crawl itself names are known; those with a row were compared before."""
        async for candidate, entry in self._found(candidates):
            has_row = fingerprint(candidate.url) in self._rows
            if entry is None and not has_row and not self._queue.outside(candidate.url, candidate.hops):
                missing.met.append(candidate)

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
                kind = RequestKind.at(row.depth)
                page = Candidate(url=row.url, score=as_float32(row.score), hops=row.depth, parent=row.parent, kind=kind)
                self._seen.unknown_pages.met.append(page)
        elif entry.state in _OPEN and row.outcome is not Outcome.RETRY:
            self._seen.again.add(row.url)

    def _compare_link(self, link: Candidate, entry: UrlEntry | None) -> None:
        if entry is None:
            if not self._queue.outside(link.url, link.hops):
                self._seen.unknown_links.met.append(link)
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
        if len(self._queried) >= MAX_REMEMBERED:
            self._queried.clear()
        self._queried.add(number)
        return True

    async def _found(self, links: Sequence[Candidate]) -> AsyncIterator[tuple[Candidate, UrlEntry | None]]:
        for part in _batches(links, LINKS_AT_ONCE):
            for link, entry in zip(part, await self._find([link.url for link in part]), strict=True):
                yield link, entry

    async def _find(self, urls: Sequence[str]) -> list[UrlEntry | None]:
        if isinstance(self._frontier, AuditedFrontier):
            return await self._frontier.find_all(urls)
        return await asyncio.gather(*map(self._frontier.find, urls))

    async def _account_for_missing(self) -> None:
        for missing in self._seen.missing:
            met, missing.met = missing.met, []
            if self._repair:
                await self._add_again(missing, await self._unexplained(missing, met, Absence.EVICTED))
            else:
                for candidate in await self._unexplained(missing, met, *Absence):
                    self._add_unknown(missing, candidate)

    async def _unexplained(
        self, missing: _Missing, candidates: Sequence[Candidate], *accepted: Absence
    ) -> list[Candidate]:
        """Return the URLs that none of these reasons explains; count the others."""
        if not (candidates and isinstance(self._frontier, AuditedFrontier)):
            return list(candidates)
        unexplained = []
        absences = await self._frontier.absences([candidate.url for candidate in candidates])
        for candidate, absence in zip(candidates, absences, strict=True):
            if absence in accepted:
                missing.absent[absence].add(candidate.url)
            else:
                unexplained.append(candidate)
        return unexplained

    async def _add_again(self, missing: _Missing, candidates: Sequence[Candidate]) -> None:
        await self._frontier.add(candidates)
        left = []
        async for candidate, entry in self._found(candidates):
            if entry is None:
                left.append(candidate)
            else:
                self._add_unknown(missing, candidate)
        for candidate in await self._unexplained(missing, left, *Absence):
            missing.refused.add(candidate.url)

    def _add_unknown(self, missing: _Missing, candidate: Candidate) -> None:
        missing.unknown.add(candidate.url)
        self._seen.named[host_key(candidate.url)] += 1

    async def _queue_again(self) -> None:
        lost, self._lost = self._lost, []
        if lost and self._repair:
            await self._frontier.reopen(lost)

    def _unnamed_pages(self, counts: Counts) -> list[VerifyFinding]:
        """Report pages that a shared store counted and that neither a row nor a link names."""
        if self._queue.file or not self._queue.is_whole or self._queue.is_running:
            return []
        number = max(0, counts.pages - len(self._seen.pages) - self._seen.without_row.number)
        words = "page|pages counted by the store without a row, and nothing names it|them: run, then verify again"
        return FindingTally(number).found("pages", FindingState.LOST, words)

    def _unchecked(self) -> list[str]:
        if self._queue.is_whole:
            return []
        here = f"; {self._seen.elsewhere.number:,} have none here" if self._seen.elsewhere.number else ""
        return [f"whether every URL that is done has a row: other machines keep pages of this crawl too{here}"]

    def _findings(self, counts: Counts) -> list[VerifyFinding]:
        seen, repaired = self._seen, FindingState.REPAIRED if self._repair else FindingState.WRONG
        return [
            *(finding for missing in seen.missing for finding in self._missing_urls(missing)),
            *self._miscounts(),
            *seen.again.found("frontier", FindingState.NOTE, "stored page|pages still open: fetched again"),
            *seen.without_row.found(
                "pages",
                repaired,
                "URL|URLs was|were done and had no row; now queued again"
                if self._repair
                else "URL|URLs is|are done in the frontier and has|have no row",
            ),
            *seen.outside.found("pages", FindingState.NOTE, "URL|URLs done, without a row, and out of scope now"),
            *self._leases(counts),
        ]

    def _missing_urls(self, missing: _Missing) -> Iterator[VerifyFinding]:
        """Report URLs that the frontier does not know, or did not know before the repair."""
        kind, are_gone = missing.kind, any(map(_is_loss, self._audit.miscounts))
        words, state = f"{kind} is|are unknown to the frontier", FindingState.WRONG
        if self._repair:
            words, state = f"{kind} was|were unknown to the frontier; now queued again", FindingState.REPAIRED
        elif missing is self._seen.unknown_seeds and not are_gone:
            words, state = f"{kind} is|are not in the frontier; the next run adds it|them", FindingState.NOTE
        elif missing is self._seen.unknown_links and missing.unknown.number <= self._audit.unrecorded and not are_gone:
            words = (
                f"{kind} is|are not in the frontier: an earlier Thresher removed {self._audit.unrecorded:,} URLs from "
                "full queues and did not record which; --repair queues it|them again"
            )
            state = FindingState.NOTE
        yield from missing.unknown.found("frontier", state, words)
        for absence, reason in _REASONS.items():
            words = f"{kind} is|are not in the frontier: {reason}"
            yield from missing.absent[absence].found("frontier", FindingState.NOTE, words)
        refused = f"{kind} is|are unknown to the frontier, which refuses it|them"
        yield from missing.refused.found("frontier", FindingState.LOST, refused)

    def _miscounts(self) -> Iterator[VerifyFinding]:
        """Report counts of the frontier that differ from its URLs; a URL that is reported by its name is left out."""
        fewer, others = FindingTally(), FindingTally()
        for miscount in self._audit.miscounts:
            tally = fewer if _is_loss(miscount) else others
            tally.add(_shown(miscount), miscount.counted - miscount.there if tally is fewer else 1)
        state, corrected = FindingState.WRONG, ""
        if self._repair:
            state, corrected = FindingState.REPAIRED, "; the counts are corrected"
        yield from others.found("frontier", state, f"count|counts of the frontier is|are wrong{corrected}")
        fewer.number = self._unnamed_urls(fewer.number)
        words = "URL|URLs counted in the frontier and not there"
        if self._repair:
            words, state = (
                "URL|URLs gone from the frontier: no page, link, seed or label names it|them",
                FindingState.LOST,
            )
        yield from fewer.found("frontier", state, words)

    def _unnamed_urls(self, gone: int) -> int:
        """Return how many URLs are gone and were not found by name; of the open ones it is known by host."""
        named = self._seen.named
        lost: Counter[str] = Counter()
        for miscount in filter(_is_loss, self._audit.miscounts):
            if miscount.host:
                lost[miscount.host] += miscount.counted - miscount.there
        # a URL whose lease is gone is taken for done: it is queued again if it has no row
        taken_for_done = sum(max(0, each.there - each.counted) for each in self._audit.miscounts if each.kind == "done")
        return max(max(gone - named.total(), (lost - named).total()) - taken_for_done, 0)

    def _leases(self, counts: Counts) -> list[VerifyFinding]:
        leases = FindingTally(0 if self._queue.is_running else counts.leased)
        words = "lease|leases open though no worker runs, and left to run out"
        return leases.found("frontier", FindingState.NOTE, words)


def _is_loss(miscount: HostMiscount) -> bool:
    """Return whether URLs are gone: pages are done URLs, and other kinds of counts are not about single URLs."""
    return miscount.kind in list(UrlState) and miscount.counted > miscount.there


def _shown(miscount: HostMiscount) -> str:
    host = miscount.host or "all hosts"
    return f"{host}: {miscount.counted:,} {miscount.kind} counted, {miscount.there:,} there"


def done_in(path: Path) -> Iterator[Candidate]:
    """Yield the done URLs of a frontier file that must have a row."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60)) as db:
        for url, score, hops, parent, kind in db.execute(_DONE):
            if kind not in _WITHOUT_ROW:
                yield Candidate(url=url, score=score, hops=hops, parent=parent, kind=RequestKind(kind))


def candidates_of(row: VerifiedRow) -> Iterator[Candidate]:
    """Yield the links of a row as they were added to the frontier, without their strategy data."""
    moved = not row.page and row.outcome is Outcome.DONE and row.reason_kind not in _LISTS
    hops = row.depth if moved else row.depth + 1
    for link in row.links:
        if may_be_old_sitemap(row.reason_kind, link.url):
            continue
        yield Candidate(
            url=link.url,
            score=as_float32(link.score),
            breakdown=link.parts,
            hops=hops,
            redirects=int(moved),
            parent=row.fingerprint,
            kind=RequestKind.at(hops),
        )


def _batches(things: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(things)
    while batch := list(islice(iterator, size)):
        yield batch

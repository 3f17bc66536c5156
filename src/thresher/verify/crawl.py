"""The check of a whole crawl: segments, frontier and WARC files, each alone and against each other.

`cold_findings` checks the files of a cold storage: each must be there as it was written.

A file that is missing or damaged takes its waiting URLs with it. The next run that reads it leaves it out and notes how
many were lost. A repair does the same at once; then these URLs are unknown links of stored pages, and are queued again
as such.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from thresher.assembly import build_strategy
from thresher.backend import CrawlResources
from thresher.config.folder import CrawlFolder
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError, StoreError, StoreLost, StoreRefused, StoreUnreachable
from thresher.feedback.labels import verdicts
from thresher.frontier.base import Frontier, async_closing
from thresher.records import Candidate, RequestKind
from thresher.registry import is_bundled
from thresher.sqlite_files import copy_database
from thresher.strategies.base import seed_candidates
from thresher.traps.detector import trap
from thresher.verify.findings import MAX_EXAMPLES, FindingState, FindingTally, VerifyFinding, VerifyReport
from thresher.verify.frontier_check import Queue, QueueCheck
from thresher.verify.page_rows import VerifiedRows
from thresher.verify.page_store_check import check_segments, flaw_of, segment_paths

if TYPE_CHECKING:
    from thresher.collection.audit import CollectionAudit
    from thresher.frontier.tiered.frontier import ColdCheck
    from thresher.verify.collection_check import CollectionCheck


@runtime_checkable
class HasColdRuns(Protocol):
    """A frontier with a cold storage."""

    async def check_runs(self, *, repair: bool) -> ColdCheck: ...

    def without_filters(self) -> AbstractContextManager[None]:
        """Let links be added that were looked up and not found, though a filter may take them for known ones."""
        ...

    async def forget_loss(self, check: ColdCheck) -> None:
        """Forget the loss after a repair has queued what it could find."""
        ...


def cold_findings(check: ColdCheck, *, repair: bool) -> Iterator[VerifyFinding]:
    """Report what is wrong with the files."""
    state = FindingState.REPAIRED if repair else FindingState.WRONG
    damaged = FindingTally(len(check.damaged), check.damaged[:MAX_EXAMPLES])
    yield from damaged.found("frontier", FindingState.WRONG if check.damaged_left else state, _damage(check, repair))
    again = "; those that pages in this folder link to are queued again" if repair else ""
    words = f"waiting URL|URLs was|were lost with missing or damaged files of the cold storage{again}"
    yield from FindingTally(sum(check.lost.values())).found("frontier", state, words)
    words = "waiting URL|URLs lost with files of the cold storage that can be read again: queued again"
    yield from FindingTally(check.restored).found("frontier", state, words)
    words = "file|files of the cold storage belongs|belong to no list; a later run deletes such files"
    yield from FindingTally(check.unlisted).found("frontier", FindingState.NOTE, words)


def _damage(check: ColdCheck, repair: bool) -> str:
    words = f"file|files of the cold storage is|are missing or damaged, with {check.damaged_urls:,} waiting URLs"
    if check.damaged_left and repair:
        return f"{words}; another worker moves URLs, so {check.damaged_left:,} could not be left out: try again"
    return f"{words}, and left out from now on" if repair else words


_RESTARTED = (
    "the store had lost the crawl; its seeds, pages and links are queued again, labels and learned models are lost"
)


async def verify(crawl: CrawlSetup, *, repair: bool = False, repaired: CollectionAudit | None = None) -> VerifyReport:
    """Check a crawl, and with `repair` make its parts consistent.

    Args:
        repaired: The audit of the collection, if that is repaired already; else it is audited here.

    Raises:
        CrawlBusy: A repair was requested while a run is under way.
        StoreError: A newer Thresher wrote it, or the frontier is damaged.
    """
    with crawl.folder.only_one_run() if repair else nullcontext():
        running = not repair and bool(crawl.folder.runner())
        own_terms = is_bundled("judge", crawl.config.judge.name)
        findings = check_segments(crawl.folder.pages, repair=repair, own_terms=own_terms)
        collected, unchecked = await _check_collection(crawl, repaired)
        looked_at = {"segments": len(segment_paths(crawl.folder.pages))}
        if any(finding.state == "wrong" for finding in findings):
            unchecked = [*unchecked, "the frontier: segments must be repaired first"]
            return VerifyReport(findings=findings, looked_at=looked_at, unchecked=unchecked)
        if collected:
            looked_at |= {"collection objects": collected.audit.objects, "collection bytes": collected.audit.size}
        compared = await _compare(crawl, collected, repair=repair, running=running)
        return VerifyReport(
            findings=[*findings, *compared.findings],
            looked_at={**looked_at, **compared.looked_at},
            unchecked=[*unchecked, *compared.unchecked],
        )


async def _check_collection(
    crawl: CrawlSetup, repaired: CollectionAudit | None
) -> tuple[CollectionCheck | None, list[str]]:
    """Copy the pages of other machines to this folder, and audit the collection; return its check, or why none is."""
    if not crawl.config.collection:
        return None, []
    try:
        await asyncio.to_thread(crawl.backend.update_pages)
        from thresher.verify.collection_check import CollectionCheck, audited  # its package may not be installed

        found = repaired if repaired else await asyncio.to_thread(audited, crawl)
        return CollectionCheck(found, is_repaired=repaired is not None), []
    except (StoreUnreachable, StoreRefused) as error:
        return None, [f"the collection and the pages of other machines: {error}"]


async def _compare(
    crawl: CrawlSetup, collected: CollectionCheck | None, *, repair: bool, running: bool
) -> VerifyReport:
    if file := crawl.backend.frontier_file:
        _refuse_damaged(file)
    with TemporaryDirectory(prefix="thresher-verify-") as place:
        queued = _with_queue(crawl, Path(place))
        return await _compare_with(queued, crawl, collected, repair=repair, running=running)


def _with_queue(crawl: CrawlSetup, place: Path) -> CrawlSetup:
    """Return the crawl whose frontier is opened: for a read-only folder, one with a copy of it."""
    original = crawl.backend.frontier_file
    if original is None or not original.exists() or os.access(original.parent, os.W_OK):
        return crawl
    return replace(crawl, folder=CrawlFolder(copy_database(original, place).parent))


async def _compare_with(
    queued: CrawlSetup, crawl: CrawlSetup, collected: CollectionCheck | None, *, repair: bool, running: bool
) -> VerifyReport:
    async with crawl.connect() as connected, queued.connect() as of_queue, AsyncExitStack() as opened:
        lost = await _loss_of(queued, of_queue)
        if lost and not repair:
            finding = VerifyFinding(part="frontier", state=FindingState.WRONG, words=lost)
            return VerifyReport(findings=[finding], unchecked=["the pages: there is nothing to compare them with"])
        if lost:
            frontier = await opened.enter_async_context(async_closing(queued.backend.frontier(crawl_id="")))
            await _restart(crawl, frontier)
        else:
            frontier = of_queue.frontier
        of_warc, captures = await _check_warc(crawl, frontier, repair=repair, running=running)
        if collected:
            await collected.run(crawl, connected, frontier, repair=repair)
        tiered = frontier if isinstance(frontier, HasColdRuns) else None
        cold = await tiered.check_runs(repair=repair) if tiered else None
        exact = tiered.without_filters() if tiered else nullcontext()
        with VerifiedRows(crawl.folder.pages) as rows, exact:  # with rows that were just restored from captures
            queue = await _queue(crawl, connected, frontier, collected, running=running)
            compared = await QueueCheck(queue, rows, repair=repair).run()
        if tiered and cold and repair:
            await tiered.forget_loss(cold)
    restarted = (
        [VerifyFinding(part="frontier", state=FindingState.REPAIRED, words=f"{_RESTARTED} ({lost})")] if lost else []
    )
    files = {"cold storage files": cold.runs} if cold and cold.runs else {}
    return VerifyReport(
        findings=[
            *restarted,
            *(collected.findings(repair=repair) if collected else ()),
            *(cold_findings(cold, repair=repair) if cold else ()),
            *compared.findings,
            *of_warc,
        ],
        looked_at={**compared.looked_at, **files, **captures},
        unchecked=compared.unchecked,
    )


async def _loss_of(crawl: CrawlSetup, connected: CrawlResources) -> str:
    """Return how the store lost the crawl; empty when it has the crawl, or when the folder does not know its id."""
    file = crawl.backend.frontier_file
    if file and not file.exists() and segment_paths(crawl.folder.pages):
        return f"{crawl.folder.frontier} is not there, though pages are stored"
    try:
        await connected.frontier.counts()
    except StoreLost as error:
        return str(error).partition(". ")[0]
    return ""


async def _restart(crawl: CrawlSetup, frontier: Frontier) -> None:
    """Create the crawl again in a store that lost it, with its seeds.

    Raises:
        StoreLost: The store has another crawl of the same name.
    """
    if (known := crawl.backend.id) and await frontier.identify(known) != known:
        raise StoreLost("the store", f"it holds another crawl called {crawl.name!r}")
    await frontier.add(seed_candidates(build_strategy(crawl), crawl.seeds()))


async def _check_warc(
    crawl: CrawlSetup, frontier: Frontier, *, repair: bool, running: bool
) -> tuple[list[VerifyFinding], dict[str, int]]:
    folder = crawl.folder.warc
    if not folder.is_dir():
        return [], {}
    try:
        from thresher.verify.warc_check import WarcCheck
    except ModuleNotFoundError as error:
        raise ConfigError(f'WARC files need another package: pip install "thresher-crawler[warc]" ({error})') from error
    with VerifiedRows(crawl.folder.pages, own=True) as rows:
        return await WarcCheck(folder, crawl.folder.pages, repair=repair, is_running=running).run(rows, frontier)


async def _queue(
    crawl: CrawlSetup,
    connected: CrawlResources,
    frontier: Frontier,
    collected: CollectionCheck | None,
    *,
    running: bool,
) -> Queue:
    scope = crawl.rules().scope
    others = await connected.run.other_machines()
    labels, _ = await connected.labels.read()
    is_whole = not others.have_pages or (collected is not None and not others.are_working)
    return Queue(
        frontier=frontier,
        outside=lambda url, hops: scope.allows(url, hops) or trap(url),
        is_whole=is_whole,
        is_running=running or others.are_working,
        seeds=[Candidate(url=url, score=1.0, kind=RequestKind.SEED) for url in crawl.seeds()],
        labelled=[
            Candidate(url=url, score=1.0, kind=RequestKind.SEED)
            for url, relevant in verdicts(labels).items()
            if relevant
        ],
        file=crawl.backend.frontier_file,
    )


def _refuse_damaged(path: Path) -> None:
    if path.exists() and (flaw := flaw_of(path)):
        raise StoreError(
            f"{path} is damaged: {flaw}. Put a copy in its place, or move it away and give the same command again: "
            "with --repair the stored pages are added to a new frontier, and a run fetches them again"
        )

"""The check of a whole crawl: segments, frontier and WARC files, each alone and against each other."""

from __future__ import annotations

import asyncio
import os
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from thresher.config.folder import CrawlFolder
from thresher.coordination.connection import CONNECT_SECONDS
from thresher.coordination.worker_names import machine_mark
from thresher.coordination.worker_registry import WorkerRegistry, machines
from thresher.errors import ConfigError, StoreError, StoreLost, StoreRefused, StoreUnreachable
from thresher.frontier.base import Frontier
from thresher.project import CrawlProject, build_strategy
from thresher.records import Candidate
from thresher.registry import JUDGES
from thresher.sqlite_files import copy_database
from thresher.traps.detector import trap
from thresher.verify.findings import FindingState, VerifyFinding, VerifyReport
from thresher.verify.frontier_check import Queue, QueueCheck
from thresher.verify.page_rows import VerifiedRows
from thresher.verify.page_store_check import check_segments, flaw_of, segment_paths

if TYPE_CHECKING:
    from thresher.verify.collection_check import CollectionCheck

FILTER_ERROR = 0.02
"""Most new URLs that the filters of cold URLs take for known ones: 0.4 % per run of a partition."""
_RESTARTED = (
    "the store had lost the crawl; its seeds, pages and links are queued again, labels and learned models are lost"
)


async def verify(crawl: CrawlProject, *, repair: bool = False) -> VerifyReport:
    """Check a crawl, and with `repair` make its parts consistent.

    Raises:
        CrawlBusy: A repair was requested while a run is under way.
        StoreError: A newer Thresher wrote it, or the frontier is damaged.
    """
    with crawl.folder.only_one_run() if repair else nullcontext():
        running = not repair and bool(crawl.folder.runner())
        own_terms = crawl.config.judge.name in JUDGES
        findings = check_segments(crawl.folder.pages, repair=repair, own_terms=own_terms)
        collected, unchecked = await _update_pages(crawl)
        looked_at = {"segments": len(segment_paths(crawl.folder.pages))}
        if any(finding.state == "wrong" for finding in findings):
            unchecked = [*unchecked, "the frontier: segments must be repaired first"]
            return VerifyReport(findings=findings, looked_at=looked_at, unchecked=unchecked)
        if collected:
            looked_at["collection segments"] = collected.update.entries
        compared = await _compare(crawl, collected, repair=repair, running=running)
        return VerifyReport(
            findings=[*findings, *compared.findings],
            looked_at={**looked_at, **compared.looked_at},
            unchecked=[*unchecked, *compared.unchecked],
        )


async def _update_pages(crawl: CrawlProject) -> tuple[CollectionCheck | None, list[str]]:
    """Copy the pages of other machines to this folder; return the check of the collection, or why there is none."""
    try:
        update = await asyncio.to_thread(crawl.update_pages)
    except (StoreUnreachable, StoreRefused) as error:
        return None, [f"the pages of other machines: {error}"]
    if update is None:
        return None, []
    from thresher.verify.collection_check import CollectionCheck  # its package may not be installed

    return CollectionCheck(update), []


async def _compare(
    crawl: CrawlProject, collected: CollectionCheck | None, *, repair: bool, running: bool
) -> VerifyReport:
    if not crawl.is_shared:
        _refuse_damaged(crawl.folder.frontier)
    with TemporaryDirectory(prefix="thresher-verify-") as place:
        queued = _with_queue(crawl, Path(place))
        return await _compare_with(queued, crawl, collected, repair=repair, running=running)


def _with_queue(crawl: CrawlProject, place: Path) -> CrawlProject:
    """Return the crawl whose frontier is opened: for a read-only folder, one with a copy of it."""
    original = crawl.folder.frontier
    if crawl.is_shared or not original.exists() or os.access(original.parent, os.W_OK):
        return crawl
    return replace(crawl, folder=CrawlFolder(copy_database(original, place).parent))


async def _compare_with(
    queued: CrawlProject, crawl: CrawlProject, collected: CollectionCheck | None, *, repair: bool, running: bool
) -> VerifyReport:
    lost = await _loss_of(queued)
    if lost and not repair:
        finding = VerifyFinding(part="frontier", state=FindingState.WRONG, words=lost)
        return VerifyReport(findings=[finding], unchecked=["the pages: there is nothing to compare them with"])
    frontier = queued.frontier(crawl_id="")
    try:
        if lost:
            await _restart(crawl, frontier)
        of_warc, captures = await _check_warc(crawl, frontier, repair=repair, running=running)
        if collected:
            await collected.run(crawl, frontier, repair=repair)
        with VerifiedRows(crawl.folder.pages) as rows:  # including those that were just restored from captures
            queue = await _queue(crawl, frontier, collected, running=running)
            compared = await QueueCheck(queue, rows, repair=repair).run()
    finally:
        await frontier.close()
    restarted = (
        [VerifyFinding(part="frontier", state=FindingState.REPAIRED, words=f"{_RESTARTED} ({lost})")] if lost else []
    )
    return VerifyReport(
        findings=[
            *restarted,
            *(collected.findings(repair=repair) if collected else ()),
            *compared.findings,
            *of_warc,
        ],
        looked_at={**compared.looked_at, **captures},
        unchecked=compared.unchecked,
    )


async def _loss_of(crawl: CrawlProject) -> str:
    """Return how the store lost the crawl; empty when it has the crawl, or when the folder does not know its id."""
    if not crawl.is_shared and not crawl.folder.frontier.exists() and segment_paths(crawl.folder.pages):
        return f"{crawl.folder.frontier} is not there, though pages are stored"
    try:
        frontier = crawl.frontier()
        try:
            await frontier.counts()
        finally:
            await frontier.close()
    except StoreLost as error:
        return str(error).partition(". ")[0]
    return ""


async def _restart(crawl: CrawlProject, frontier: Frontier) -> None:
    """Create the crawl again in a store that lost it, with its seeds.

    Raises:
        StoreLost: The store has another crawl of the same name.
    """
    if crawl.id and await frontier.identify(crawl.id) != crawl.id:
        raise StoreLost("the store", f"it holds another crawl called {crawl.name!r}")
    await frontier.add(list(build_strategy(crawl).seeds(crawl.seeds())))


async def _check_warc(
    crawl: CrawlProject, frontier: Frontier, *, repair: bool, running: bool
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


async def _queue(crawl: CrawlProject, frontier: Frontier, collected: CollectionCheck | None, *, running: bool) -> Queue:
    scope = crawl.rules().scope
    others_work, is_whole = await _machines(crawl) if crawl.is_shared else (False, True)
    is_whole = is_whole or (collected is not None and not others_work)
    return Queue(
        frontier=frontier,
        outside=lambda url, hops: scope.allows(url, hops) or trap(url),
        is_whole=is_whole,
        is_running=running or others_work,
        seeds=[Candidate(url=url, score=1.0) for url in crawl.seeds()],
        file=None if crawl.is_shared else crawl.folder.frontier,
        filter_error=FILTER_ERROR
        if crawl.is_shared and crawl.config.frontier.with_cold_in(crawl.config.collection).cold
        else 0.0,
    )


def _refuse_damaged(path: Path) -> None:
    if path.exists() and (flaw := flaw_of(path)):
        raise StoreError(
            f"{path} is damaged: {flaw}. Put a copy in its place, or move it away and give the same command again: "
            "with --repair the stored pages are added to a new frontier, and a run fetches them again"
        )


async def _machines(crawl: CrawlProject) -> tuple[bool, bool]:
    """Return whether workers of other machines are running, and whether all pages are on this machine."""
    connection = crawl.connection(patience_seconds=CONNECT_SECONDS)
    try:
        workers, marks = await WorkerRegistry(connection, crawl.name).workers(), await machines(connection, crawl.name)
    finally:
        await connection.close()
    is_whole = crawl.folder.mark.is_file() and marks == {machine_mark(crawl.folder)}
    return any(not worker.is_silent for worker in workers), is_whole

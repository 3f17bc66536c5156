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
from thresher.feedback.labels import verdicts
from thresher.frontier.base import Frontier
from thresher.project import CrawlProject, build_strategy
from thresher.records import Candidate
from thresher.registry import JUDGES
from thresher.sqlite_files import copy_database
from thresher.traps.detector import trap
from thresher.verify.cold_check import ColdStorageCheck
from thresher.verify.findings import FindingState, VerifyFinding, VerifyReport
from thresher.verify.frontier_check import Queue, QueueCheck
from thresher.verify.page_rows import VerifiedRows
from thresher.verify.page_store_check import check_segments, flaw_of, segment_paths

if TYPE_CHECKING:
    from thresher.collection.audit import CollectionAudit
    from thresher.verify.collection_check import CollectionCheck

_RESTARTED = (
    "the store had lost the crawl; its seeds, pages and links are queued again, labels and learned models are lost"
)


async def verify(crawl: CrawlProject, *, repair: bool = False, repaired: CollectionAudit | None = None) -> VerifyReport:
    """Check a crawl, and with `repair` make its parts consistent.

    Args:
        repaired: The audit of the collection, if that is repaired already; else it is audited here.

    Raises:
        CrawlBusy: A repair was requested while a run is under way.
        StoreError: A newer Thresher wrote it, or the frontier is damaged.
    """
    with crawl.folder.only_one_run() if repair else nullcontext():
        running = not repair and bool(crawl.folder.runner())
        own_terms = crawl.config.judge.name in JUDGES
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
    crawl: CrawlProject, repaired: CollectionAudit | None
) -> tuple[CollectionCheck | None, list[str]]:
    """Copy the pages of other machines to this folder, and audit the collection; return its check, or why none is."""
    if not crawl.config.collection:
        return None, []
    try:
        await asyncio.to_thread(crawl.update_pages)
        from thresher.verify.collection_check import CollectionCheck, audited  # its package may not be installed

        found = repaired if repaired else await asyncio.to_thread(audited, crawl)
        return CollectionCheck(found, is_repaired=repaired is not None), []
    except (StoreUnreachable, StoreRefused) as error:
        return None, [f"the collection and the pages of other machines: {error}"]


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
        cold = ColdStorageCheck(frontier, repair=repair)
        await cold.run()
        with VerifiedRows(crawl.folder.pages) as rows, cold.exact():  # with rows that were just restored from captures
            queue = await _queue(crawl, frontier, collected, running=running)
            compared = await QueueCheck(queue, rows, repair=repair).run()
        await cold.finish()
    finally:
        await frontier.close()
    restarted = (
        [VerifyFinding(part="frontier", state=FindingState.REPAIRED, words=f"{_RESTARTED} ({lost})")] if lost else []
    )
    return VerifyReport(
        findings=[
            *restarted,
            *(collected.findings(repair=repair) if collected else ()),
            *cold.findings(),
            *compared.findings,
            *of_warc,
        ],
        looked_at={**compared.looked_at, **cold.looked_at, **captures},
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
        labelled=[Candidate(url=url, score=1.0) for url in await _labelled(crawl)],
        file=None if crawl.is_shared else crawl.folder.frontier,
    )


async def _labelled(crawl: CrawlProject) -> list[str]:
    """Return the URLs that people labelled as relevant: those that were not crawled were queued."""
    label_store = crawl.labels()
    try:
        labels, _ = await label_store.read()
    finally:
        await label_store.close()
    return [url for url, relevant in verdicts(labels).items() if relevant]


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

"""A whole crawl looked over: segments, frontier and WARC files, each alone and against each other."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from thresher.build import Crawl
from thresher.errors import ConfigError, StoreError, StoreLost
from thresher.fleet.links import HELLO_SECONDS
from thresher.fleet.names import machine_mark
from thresher.fleet.roster import Roster, machines
from thresher.folder import CrawlFolder
from thresher.frontier.base import Frontier
from thresher.records import Candidate
from thresher.sqlite_read import copy_database
from thresher.urls.traps import trap
from thresher.verify.findings import Finding, Report, State
from thresher.verify.queue import Queue, QueueCheck
from thresher.verify.rows import Rows
from thresher.verify.segments import flaw_of, look_at_segments, segment_paths

_BEGUN = "the store had lost the crawl; its seeds, pages and links are queued again, labels and learned models are lost"


async def verify(crawl: Crawl, *, repair: bool = False) -> Report:
    """Look a crawl over, and with `repair` bring its parts to agree.

    Raises:
        CrawlBusy: It is to be repaired, and a run is under way.
        StoreError: A newer Thresher wrote it, or the frontier is damaged.
    """
    with crawl.folder.only_one_run() if repair else nullcontext():
        running = not repair and bool(crawl.folder.runner())
        findings = look_at_segments(crawl.folder.pages, repair=repair)
        looked_at = {"segments": len(segment_paths(crawl.folder.pages))}
        if any(finding.state == "wrong" for finding in findings):
            unchecked = ["the frontier: segments must be repaired first"]
            return Report(findings=findings, looked_at=looked_at, unchecked=unchecked)
        compared = await _compare(crawl, repair=repair, running=running)
        return Report(
            findings=[*findings, *compared.findings],
            looked_at={**looked_at, **compared.looked_at},
            unchecked=compared.unchecked,
        )


async def _compare(crawl: Crawl, *, repair: bool, running: bool) -> Report:
    if not crawl.is_shared:
        _refuse_damaged(crawl.folder.frontier)
    with TemporaryDirectory(prefix="thresher-verify-") as place:
        return await _compare_with(_with_queue(crawl, Path(place)), crawl, repair=repair, running=running)


def _with_queue(crawl: Crawl, place: Path) -> Crawl:
    """Return the crawl to open the queue of; where it cannot be written, as on a read-only folder, one with a copy."""
    original = crawl.folder.frontier
    if crawl.is_shared or not original.exists() or os.access(original.parent, os.W_OK):
        return crawl
    return replace(crawl, folder=CrawlFolder(copy_database(original, place).parent))


async def _compare_with(queued: Crawl, crawl: Crawl, *, repair: bool, running: bool) -> Report:
    lost = await _loss_of(queued)
    if lost and not repair:
        finding = Finding(part="frontier", state=State.WRONG, words=lost)
        return Report(findings=[finding], unchecked=["the pages: there is nothing to compare them with"])
    frontier = queued.frontier(crawl_id="")
    try:
        if lost:
            await _begin_anew(crawl, frontier)
        of_warc, captures = await _look_at_warc(crawl, frontier, repair=repair, running=running)
        with Rows(crawl.folder.pages) as rows:  # those that were just made from captures are among them
            queue = await _queue(crawl, frontier, running=running)
            compared = await QueueCheck(queue, rows, repair=repair).run()
    finally:
        await frontier.close()
    begun = [Finding(part="frontier", state=State.MENDED, words=f"{_BEGUN} ({lost})")] if lost else []
    return Report(
        findings=[*begun, *compared.findings, *of_warc],
        looked_at={**compared.looked_at, **captures},
        unchecked=compared.unchecked,
    )


async def _loss_of(crawl: Crawl) -> str:
    """Say how the store lost the crawl; empty when it holds it, or when the folder does not know which one it is."""
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


async def _begin_anew(crawl: Crawl, frontier: Frontier) -> None:
    """Let a store that has lost the crawl hold it again, with its seeds.

    Raises:
        StoreLost: It holds another crawl of the same name.
    """
    if crawl.id and await frontier.identify(crawl.id) != crawl.id:
        raise StoreLost("the store", f"it holds another crawl called {crawl.name!r}")
    await frontier.add(list(crawl.strategy().seeds(crawl.seeds())))


async def _look_at_warc(
    crawl: Crawl, frontier: Frontier, *, repair: bool, running: bool
) -> tuple[list[Finding], dict[str, int]]:
    folder = crawl.folder.warc
    if not folder.is_dir():
        return [], {}
    try:
        from thresher.verify.warc import WarcCheck
    except ModuleNotFoundError as error:
        raise ConfigError(f'WARC files need another package: pip install "thresher[warc]" ({error})') from error
    with Rows(crawl.folder.pages) as rows:
        return await WarcCheck(folder, crawl.folder.pages, repair=repair, is_running=running).run(rows, frontier)


async def _queue(crawl: Crawl, frontier: Frontier, *, running: bool) -> Queue:
    scope = crawl.rules().scope
    others_work, is_whole = await _machines(crawl) if crawl.is_shared else (False, True)
    return Queue(
        frontier=frontier,
        outside=lambda url, hops: scope.allows(url, hops) or trap(url),
        is_whole=is_whole,
        is_running=running or others_work,
        seeds=[Candidate(url=url, score=1.0) for url in crawl.seeds()],
        file=None if crawl.is_shared else crawl.folder.frontier,
    )


def _refuse_damaged(path: Path) -> None:
    if path.exists() and (flaw := flaw_of(path)):
        raise StoreError(
            f"{path} is damaged: {flaw}. Put a copy in its place, or move it away and give the same command again: "
            "with --repair the pages that are kept are let in anew, and a run fetches them again"
        )


async def _machines(crawl: Crawl) -> tuple[bool, bool]:
    """Tell whether workers of other machines are at it, and whether none ever was: then all pages are here."""
    link = crawl.link(patience_seconds=HELLO_SECONDS)
    try:
        workers, marks = await Roster(link, crawl.name).workers(), await machines(link, crawl.name)
    finally:
        await link.close()
    is_whole = crawl.folder.mark.is_file() and marks == {machine_mark(crawl.folder)}
    return any(not worker.is_silent for worker in workers), is_whole

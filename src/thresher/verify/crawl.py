"""A whole crawl looked over: segments, frontier and WARC files, each alone and against each other."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from thresher.build import Crawl
from thresher.errors import ConfigError, StoreError
from thresher.fleet.links import HELLO_SECONDS
from thresher.fleet.roster import Roster
from thresher.frontier.base import Frontier
from thresher.urls.traps import trap
from thresher.verify.findings import Finding, Report
from thresher.verify.queue import Queue, QueueCheck
from thresher.verify.rows import Rows
from thresher.verify.segments import flaw_of, look_at_segments, segment_paths


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
            return Report(findings=findings, looked_at=looked_at)  # nothing can be compared with them
        more, compared = await _compare(crawl, repair=repair, running=running)
        return Report(findings=[*findings, *more], looked_at={**looked_at, **compared})


async def _compare(crawl: Crawl, *, repair: bool, running: bool) -> tuple[list[Finding], dict[str, int]]:
    if not crawl.is_shared:
        _refuse_damaged(crawl.folder.frontier)
    frontier = crawl.frontier()
    try:
        of_warc, captures = await _look_at_warc(crawl, frontier, repair=repair, running=running)
        with Rows(crawl.folder.pages) as rows:  # those that were just made from captures are among them
            queue = _queue(crawl, frontier, running or await _others_work(crawl))
            of_queue, compared = await QueueCheck(queue, rows, repair=repair).run()
    finally:
        await frontier.close()
    return [*of_queue, *of_warc], {**compared, **captures}


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


def _queue(crawl: Crawl, frontier: Frontier, running: bool) -> Queue:
    scope = crawl.rules().scope
    return Queue(
        frontier=frontier,
        outside=lambda url, hops: scope.allows(url, hops) or trap(url),
        is_whole=not crawl.is_shared,
        is_running=running,
    )


def _refuse_damaged(path: Path) -> None:
    if path.exists() and (flaw := flaw_of(path)):
        raise StoreError(
            f"{path} is damaged: {flaw}. Put a copy in its place, or move it away and give the same command again: "
            "with --repair the pages that are kept are let in anew, and a run fetches them again"
        )


async def _others_work(crawl: Crawl) -> bool:
    """Tell whether workers of other machines are at it."""
    if not crawl.is_shared:
        return False
    link = crawl.link(patience_seconds=HELLO_SECONDS)
    try:
        return any(not worker.is_silent for worker in await Roster(link, crawl.name).workers())
    finally:
        await link.close()

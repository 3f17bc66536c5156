"""Row R9: writers of rows, captures and Parquet files are killed; and what the other rows on collections share."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from testing.collecting import Worker, captures_of, make_crawl, page_url
from testing.crawl_process import wait_for
from tests.faults.table import Outcome
from thresher.crawl import CrawlSetup
from thresher.storage.reader import PageStoreReader
from thresher.storage.warc.cdxj import merged
from thresher.storage.warc.reader import Damage, walk, warc_paths
from thresher.storage.warc.records import date_of
from thresher.verify.crawl import verify
from thresher.verify.findings import FindingState, VerifyReport

WORKERS = ("w1", "w2")


def checked(root: Path, *, repair: bool = False) -> VerifyReport:
    """Look a crawl over."""
    return asyncio.run(verify(CrawlSetup.open(root), repair=repair))


def wrong(report: VerifyReport, *states: FindingState) -> int:
    """Count what is in one of these states."""
    return sum(finding.number for finding in report.findings if finding.state in states)


@dataclass(frozen=True, kw_only=True)
class Archived:
    """What the archive of a crawl holds.

    Args:
        missing: Pages without a row, a capture or a line in the index.
        twice: Pages whose row that counts has more than one capture or line.
        unreadable: Records that warcio cannot read, or whose digests are wrong.
    """

    pages: int
    missing: int
    twice: int
    unreadable: int


def archived(root: Path, pages: int) -> Archived:
    """Compare rows, captures and indexes, with eyes other than ours where there are any."""
    captures, unreadable = captures_of(root / "warc")
    lines: Counter[tuple[str, str]] = Counter()
    for line in merged(root / "warc"):
        _, moment, entry = line.split(" ", 2)
        lines[json.loads(entry)["url"], moment] += 1
    missing = twice = 0
    with PageStoreReader(root / "pages") as collection:
        kept = {record.url: record for record in collection.ranked(duplicates=True)}
    for url in map(page_url, range(pages)):
        if url not in kept:
            missing += 1
            continue
        date = date_of(kept[url].fetched_at)
        found = captures[url, date], lines[url, "".join(filter(str.isdigit, date))[:14]]
        missing += 0 in found
        twice += found[0] > 1
    return Archived(pages=pages, missing=missing, twice=twice, unreadable=unreadable)


@dataclass(frozen=True, kw_only=True)
class Killed:
    """What was left by kills, before and after repair."""

    kills: int
    torn: int
    torn_at_end: bool
    report: VerifyReport
    again: VerifyReport
    archived: Archived

    @property
    def held(self) -> bool:
        """Whether nothing is lost, and every kill tore at most one record."""
        whole = self.archived.missing == self.archived.twice == self.archived.unreadable == 0
        clean = self.report.is_clean and not wrong(
            self.again, FindingState.WRONG, FindingState.LOST, FindingState.REPAIRED
        )
        return whole and clean and self.torn <= self.kills and self.torn_at_end


def killed_while_writing(pages: int, kills: int, *, seed: int = 0) -> Killed:
    """Kill one worker after the other at random moments, let two others finish, then repair."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "crawl"
        make_crawl(root)
        done = 0
        for _ in range(kills):
            worker = Worker(root, chance.choice(WORKERS), pages)
            worked = worker.works_for(chance.randint(1, 2))
            time.sleep(chance.uniform(0, 0.02))
            worker.kill()
            done += worked
        for worker in [Worker(root, name, pages) for name in WORKERS]:
            worker.wait(600)
        found = [place for path in warc_paths(root / "warc") for place in walk(path) if isinstance(place, Damage)]
        report = checked(root, repair=True)
        return Killed(
            kills=done,
            torn=len(found),
            torn_at_end=all(damage.at_end for damage in found),
            report=report,
            again=checked(root),
            archived=archived(root, pages),
        )


def write_parquet_files(path: Path) -> None:
    """Write a Parquet file again and again."""
    from thresher.export.rows import COLUMNS, write_parquet

    kinds = {"string": "x" * 200, "float64": 0.5, "bool": True, "int32": 1, "time": "2026-11-15T12:00:00+00:00"}
    row = {name: kinds[kind] for name, kind in COLUMNS.items()}
    while True:
        write_parquet((dict(row) for _ in range(5_000)), path)


def killed_parquet(kills: int, *, seed: int = 0) -> tuple[int, int]:
    """Kill writers of Parquet files at random moments; return how many files were seen, and how many cannot be read."""
    import pyarrow.parquet as pq

    chance, seen, unreadable = random.Random(seed), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pages.parquet"
        context = multiprocessing.get_context("forkserver")
        for number in range(kills):
            process = context.Process(target=write_parquet_files, args=(path,))
            process.start()
            if not number:
                wait_for(path.exists, seconds=60)
            time.sleep(chance.uniform(0.05, 0.6))
            process.kill()
            process.join()
            seen += path.exists()
            try:
                pq.read_table(path)
            except OSError:
                unreadable += path.exists()
    return seen, unreadable


def r9() -> Outcome:
    """Kill writers of rows, captures and Parquet files."""
    killed, (seen, unreadable) = killed_while_writing(6000, 60), killed_parquet(20)
    found = killed.archived
    return Outcome(
        held=killed.held and seen > 0 and not unreadable,
        figure=(
            f"{killed.kills} kills; torn records {killed.torn}, all at the end of their files; after repair "
            f"unreadable {found.unreadable}, wrong {wrong(killed.again, FindingState.WRONG)}; of {found.pages:,} pages "
            f"{found.missing} missing in rows, captures or index, {found.twice} twice; "
            f"Parquet files seen and not readable {unreadable} of {seen}"
        ),
    )

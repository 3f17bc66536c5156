"""Rows R15 and R16: crawls of earlier formats, and crawls whose parts do not agree."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import redis

from testing.collecting import AT_ONCE, Worker, make_crawl, page_url
from testing.servers import store_server
from tests.faults.collection import Archived, archived, checked, wrong
from tests.faults.table import Outcome
from thresher.crawl import CrawlSetup
from thresher.errors import StoreError
from thresher.records import Candidate
from thresher.storage.page_store import PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.storage.warc.reader import warc_paths
from thresher.urls.canonical import fingerprint
from thresher.verify.findings import FindingState
from thresher.verify.page_rows import VerifiedRows

OLD_SCHEMAS = {
    1: "",
    2: ", probability REAL",
}
"""The columns that segments of earlier formats had beyond those of the first."""
_FIRST = (
    "CREATE TABLE page (id INTEGER PRIMARY KEY, fingerprint INTEGER NOT NULL, url TEXT NOT NULL, "
    "status INTEGER NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL, page INTEGER NOT NULL, score REAL NOT NULL, "
    "parent INTEGER NOT NULL, depth INTEGER NOT NULL, title TEXT NOT NULL, language TEXT NOT NULL, "
    "relevance REAL NOT NULL, relevant INTEGER NOT NULL, parts TEXT, text_hash INTEGER NOT NULL, "
    "duplicate_of INTEGER NOT NULL, fetched_at REAL NOT NULL, elapsed_seconds REAL NOT NULL, bytes INTEGER NOT NULL, "
    "text BLOB, links BLOB{more}); CREATE INDEX page_fingerprint ON page (fingerprint); "
    "PRAGMA user_version = {version};"
)
_ROW = (
    "INSERT INTO page (fingerprint, url, status, outcome, reason, page, score, parent, depth, title, language, "
    "relevance, relevant, text_hash, duplicate_of, fetched_at, elapsed_seconds, bytes) "
    "VALUES (?, ?, 200, 'done', '', 1, 0.5, 0, 0, 'old', 'en', 0.5, 1, 7, 0, ?, 0.1, 100)"
)


def make_old_crawl(root: Path, version: int, pages: int) -> None:
    """Write a crawl as an earlier Thresher left it: pages that its frontier knows."""
    crawl = make_crawl(root)
    (root / "pages").mkdir()
    with closing(sqlite3.connect(root / "pages" / "w1.db")) as db:
        db.executescript(_FIRST.format(more=OLD_SCHEMAS[version], version=version))
        urls = [page_url(number) for number in range(pages)]
        db.executemany(_ROW, [[fingerprint(url), url, 1000.0 + number] for number, url in enumerate(urls)])
        db.commit()
    asyncio.run(_know(crawl, urls))


async def _know(crawl: CrawlSetup, urls: Sequence[str]) -> None:
    frontier = crawl.backend.frontier()
    await frontier.add([Candidate(url=url, score=0.5) for url in urls])
    await frontier.close()


def upgraded(version: int, pages: int) -> int:
    """Go on with an old crawl; return how many of its pages can be seen before and after, when both agree."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "crawl"
        make_old_crawl(root, version, pages)
        before = _seen(root)
        PageStoreWriter(root / "pages" / "w1.db").close()
        return before if before == _seen(root) and checked(root).is_clean else -1


def _seen(root: Path) -> int:
    with PageStoreReader(root / "pages") as collection:
        return sum(record.title == "old" for record in collection.ranked())


def refused_words(name: str, version: int) -> str:
    """Say in which words a crawl is refused whose database, ``frontier.db`` or a segment, has another format."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "crawl"
        make_old_crawl(root, 2, 3)
        with closing(sqlite3.connect(root / name)) as db:
            db.execute(f"PRAGMA user_version = {version}")
        try:
            checked(root)
        except StoreError as error:
            return str(error)
    return ""


def r15() -> Outcome:
    """Go on with old crawls, and refuse those of the future."""
    seen = [upgraded(version, 500) for version in OLD_SCHEMAS]
    words = [refused_words(name, 99) for name in ("frontier.db", "pages/w1.db")]
    return Outcome(
        held=seen == [500] * len(OLD_SCHEMAS) and all("newer Thresher" in printed for printed in words),
        figure=(
            f"segments of formats {', '.join(map(str, OLD_SCHEMAS))}: {seen} of 500 pages seen before and after; "
            f"frontier and segment of format 99 refused with words: {sum(map(bool, words))} of 2"
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """What was taken away, what was found, and what is left after repair."""

    taken: int
    found: int
    left: int
    archived: Archived
    unknown: int


def disagree(pages: int, share: float, *, seed: int = 0) -> Disagreement:
    """Collect a web, take rows, URLs of the frontier, index lines and parts of captures away, and repair."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "crawl"
        make_crawl(root)
        Worker(root, "w1", pages).wait(600)
        urls = chance.sample([page_url(number) for number in range(1, pages)], int(2 * share * pages))
        half = len(urls) // 2
        taken = _take_rows(root, urls[:half]) + _take_urls(root, urls[half:]) + _spoil_archive(root)
        before = checked(root)
        checked(root, repair=True)
        again = checked(root)
        return Disagreement(
            taken=taken,
            found=sum(finding.number for finding in before.findings),
            left=wrong(again, FindingState.WRONG, FindingState.LOST),
            archived=archived(root, pages),
            unknown=asyncio.run(_unknown(root, pages)),
        )


@dataclass(frozen=True, kw_only=True)
class Refetched:
    """What was taken from a crawl without captures, and what is left of that after repair and one more run.

    Args:
        missing: Pages without a row.
        pages: Pages that the frontier counts.
    """

    taken: int
    found: int
    damaged: int
    left: int
    missing: int
    pages: int


def disagree_by_default(pages: int, share: float, *, seed: int = 0) -> Refetched:
    """Do the same with default output: rows, the seed's among them, URLs and blocks of a segment; then run again."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "crawl"
        make_crawl(root, warc=False)
        Worker(root, "w1", pages).wait(600)
        urls = [page_url(0), *chance.sample([page_url(number) for number in range(1, pages)], int(2 * share * pages))]
        half = len(urls) // 2
        taken = _take_rows(root, urls[:half]) + _take_urls(root, urls[half:])
        damaged = _overwrite(root / "pages" / "w1.db", share)
        before = checked(root)
        repaired = checked(root, repair=True)
        Worker(root, "w2", pages).wait(600)
        again = checked(root)
        with PageStoreReader(root / "pages") as collection:
            kept = {record.url for record in collection.ranked(duplicates=True)}
        return Refetched(
            taken=taken,
            found=wrong(repaired, FindingState.REPAIRED) if before.findings else 0,
            damaged=damaged,
            left=wrong(again, FindingState.WRONG, FindingState.LOST),
            missing=sum(page_url(number) not in kept for number in range(pages)),
            pages=asyncio.run(_pages(root)),
        )


def _overwrite(path: Path, share: float) -> int:
    """Overwrite a part of a database in its middle; return how many blocks that are."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    blocks = path.stat().st_size // 4096
    number = max(1, int(share * blocks))
    with path.open("r+b") as file:
        file.seek(blocks // 2 * 4096)
        file.write(b"\xa5" * 4096 * number)
    return number


async def _pages(root: Path) -> int:
    frontier = CrawlSetup.open(root).backend.frontier()
    try:
        return (await frontier.counts()).pages
    finally:
        await frontier.close()


def _take_rows(root: Path, urls: Sequence[str]) -> int:
    with closing(sqlite3.connect(root / "pages" / "w1.db")) as db:
        db.executemany("DELETE FROM page WHERE url = ?", [[url] for url in urls])
        db.commit()
    return len(urls)


def _take_urls(root: Path, urls: Sequence[str]) -> int:
    """Take settled URLs from the frontier; its triggers are in place."""
    with closing(sqlite3.connect(root / "frontier.db")) as db:
        db.executemany("DELETE FROM url WHERE url = ?", [[url] for url in urls])
        db.commit()
    return len(urls)


@dataclass(frozen=True, kw_only=True)
class Waited:
    """What was taken from the waiting URLs of a crawl, and what is left of that after repair and one more run.

    Args:
        found: How many of them verify named.
        missing: Pages without a row in the end.
    """

    taken: int
    found: int
    left: int
    missing: int


def take_waiting(pages: int, store: str = "") -> Waited:
    """Stop a crawl on its way, take all its waiting URLs away behind its back, repair it, and go on."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "crawl"
        make_crawl(root, warc=False, store=store or "sqlite")
        worker = Worker(root, "w1", pages)
        worker.works_for(pages // 2 // AT_ONCE)
        worker.kill()
        taken = _take_from_store(store) if store else _take_from_file(root)
        before = checked(root)
        checked(root, repair=True)
        left = wrong(checked(root), FindingState.WRONG, FindingState.LOST)
        Worker(root, "w2", pages).wait(600)
        with PageStoreReader(root / "pages") as collection:
            kept = {record.url for record in collection.ranked(duplicates=True)}
        return Waited(
            taken=taken,
            found=sum(each.number for each in before.findings if (each.state, each.words[:5]) == ("wrong", "links")),
            left=left,
            missing=sum(page_url(number) not in kept for number in range(pages)),
        )


def _take_from_file(root: Path) -> int:
    with closing(sqlite3.connect(root / "frontier.db")) as db, db:
        return db.execute("DELETE FROM url WHERE state = 0").rowcount


def _take_from_store(store: str) -> int:
    with redis.Redis.from_url(store) as client:
        queues = {key: [name for name in client.hkeys(key) if name] for key in client.keys("th:{made-up:0}q*")}
        return sum(client.hdel(key, *names) for key, names in queues.items() if names)


def _spoil_archive(root: Path) -> int:
    """Take every third line from the index, and add half a record to a file."""
    [path] = warc_paths(root / "warc")
    [index] = (root / "warc").glob("*.cdxj")
    lines = index.read_text(encoding="utf-8").splitlines(keepends=True)
    index.write_text("".join(line for number, line in enumerate(lines) if number % 3), encoding="utf-8")
    with path.open("ab") as file:
        file.write(path.read_bytes()[:200])
    return 2


async def _unknown(root: Path, pages: int) -> int:
    frontier = CrawlSetup.open(root).backend.frontier()
    try:
        with VerifiedRows(root / "pages") as rows:
            kept = {row.url for row in rows}
        return sum([await frontier.find(url) is None for url in kept | set(map(page_url, range(pages)))])
    finally:
        await frontier.close()


def r16() -> Outcome:
    """Take away a tenth of each, with captures and with default output."""
    seen, plain = disagree(3000, 0.1), disagree_by_default(3000, 0.1)
    with tempfile.TemporaryDirectory() as folder, store_server("redis", Path(folder)) as server:
        waited = [take_waiting(1000), take_waiting(1000, server.url)]
    held = seen.left == seen.unknown == seen.archived.missing == seen.archived.unreadable == 0
    held = held and plain.left == plain.missing == 0 and plain.pages == 3000
    held = held and all(each.found == each.taken > each.left == each.missing == 0 for each in waited)
    return Outcome(
        held=held,
        figure=(
            f"{seen.taken} rows, URLs, records and indexes spoiled, {seen.found} findings; after repair {seen.left} "
            f"wrong; of {seen.archived.pages:,} pages {seen.archived.missing} missing, {seen.unknown} unknown to the "
            f"frontier. Default output: {plain.taken} rows and URLs, {plain.damaged} blocks of the segment; "
            f"{plain.found} repaired; after the next run {plain.left} wrong, of 3,000 pages {plain.missing} missing. "
            f"Waiting URLs deleted from SQLite and Redis: {[each.taken for each in waited]}, named "
            f"{[each.found for each in waited]}; after the next run {[each.missing for each in waited]} missing"
        ),
    )

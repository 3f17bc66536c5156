"""Hostile addresses from the queue to the page store: quotes, line breaks, commands of databases, half characters."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from tests.faults.table import Outcome
from thresher.assembly import build_pipeline
from thresher.crawl import CrawlSetup
from thresher.frontier.base import UrlState
from thresher.operations.explain import explain
from thresher.pipeline.pipeline import Pipeline
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import Candidate, FetchedPage, Lease
from thresher.urls.canonical import canonicalize


@dataclass
class Tally:
    """What became of the cases."""

    cases: int = 0
    broken: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)

    def expect(self, right: bool, case: str) -> None:
        """Count a case, and remember it when it went wrong."""
        self.cases += 1
        if not right:
            self.broken.append(case)


_PIECES = (
    "'", '"', "`", "\\", ";--", "'); DROP TABLE url;--", '" OR 1=1 --', "\r\n", "%0d%0aFLUSHALL%0d%0a",
    "\r\nFLUSHALL\r\n", "*1\r\n$8\r\nFLUSHALL\r\n", "%00", "\x00", "]]..redis.call('FLUSHALL')..[[", "${7*7}",
    "{{7*7}}", "$(id)", "`id`", "|id", "\u202e", "\u2028", "%u0041", "%", "%%", "%C0%AE", "../", "..%2f", "\t",
    "\x1b[2J", "é", "中", "𝒳", "<script>", "&amp;", "?a=b&a=c", "#x", "=1+1", "@", ":", "[", "]", "{", "}", " ",
    "KEYS[1]", "NULL", "json('{}')", "\ud800", "a" * 300,
)  # fmt: skip


def hostile_urls(number: int, *, seed: int = 1) -> Iterator[str]:
    """Make up addresses as a hostile page would write them."""
    chance = random.Random(seed)
    for count in range(number):
        soup = ["".join(chance.choices(_PIECES, k=chance.randint(0, 4))) for _ in range(3)]
        user = f"{soup[2]}@" if chance.random() < 0.05 else ""
        host = f"h{count % 1000}" + (chance.choice(_PIECES) if chance.random() < 0.05 else "")
        yield f"http://{user}{host}.test/{count}/{soup[0]}?q={soup[1]}#{soup[2]}"


def smuggling(number: int) -> Tally:
    """Take hostile URLs through add, lease, archive and why; every one must come out as it went in."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        opened = _open(Path(folder))
        urls = list(dict.fromkeys(url for text in hostile_urls(number) if (url := canonicalize(text))))
        raw = [text for text in hostile_urls(number // 10, seed=2) if text.isprintable() or "\r\n" in text]
        raw = [text for text in dict.fromkeys(raw) if "\x00" not in text and "\ud800" not in text]
        asyncio.run(_through(opened, urls, raw, tally))
        _same_schema(opened, tally)
        tally.figures = {"urls": len(urls) + len(raw)}
    return tally


def _open(folder: Path) -> CrawlSetup:
    topic = {
        "title": {"en": "solar cells"},
        "seeds": ["http://seed.test/"],
        "strategy": {"name": "breadth-first"},
        "politeness": {"delay_seconds": 0, "contact": "tests@example.org"},
        "scope": {"max_depth": 100},
    }
    (folder / "topic.yaml").write_text(json.dumps(topic), encoding="utf-8")
    return CrawlSetup.open(folder)


async def _through(opened: CrawlSetup, urls: Sequence[str], raw: Sequence[str], tally: Tally) -> None:
    pipeline = build_pipeline(opened, "w1")
    await pipeline.frontier.add([Candidate(url="http://seed.test/", score=2.0)])
    [seed] = await pipeline.frontier.lease(1, seconds=600, worker="w1")
    links = "".join(f'<a href="{escape(url)}">{escape(url[-40:])}</a>' for url in urls[:900])
    body = f"<title>'); DROP TABLE page;--</title><p>solar cells</p>{links}".encode("utf-8", "replace")
    answer = {"content-type": "text/html"}
    await pipeline.process(seed, FetchedPage(url=seed.url, status=200, headers=answer, body=body, fetched_at=1.0))
    strategy_data = {"note": "'); FLUSHALL \r\n"}
    await pipeline.frontier.add([Candidate(url=url, score=1.0, strategy_data=strategy_data) for url in [*urls, *raw]])
    settled = await _settle_all(pipeline)
    for url in [*urls, *raw]:
        tally.expect(settled.get(url) == 1, f"leased {settled.get(url, 0)} times: {url!r}")
    for url in [*urls, *raw]:
        entry = await pipeline.frontier.find(url)
        right = entry and (entry.url, entry.state, entry.reason) == (url, UrlState.FAILED, _reason(url))
        tally.expect(bool(right), f"{url!r} became {entry}")
    await pipeline.close()
    for url in urls[:: max(1, len(urls) // 200)]:
        reported = await explain(opened, url)
        right = [(record.url, record.reason) for record in reported.history] == [(url, _reason(url))]
        tally.expect(right, f"why {url!r}: {reported}")


async def _settle_all(pipeline: Pipeline) -> dict[str, int]:
    """Lease until nothing is left, and give each URL up for a reason that is hostile too."""
    settled: dict[str, int] = {}
    while leases := await pipeline.frontier.lease(500, seconds=600, worker="w1"):
        await asyncio.gather(*(_give_up(pipeline, lease) for lease in leases))
        for lease in leases:
            settled[lease.url] = settled.get(lease.url, 0) + 1
    return settled


async def _give_up(pipeline: Pipeline, lease: Lease) -> None:
    await pipeline.fail(lease, _reason(lease.url), at=1.0)


def _reason(url: str) -> Reason:
    return Reason.of(ReasonKind.OTHER, f"'\"\r\n{url[-30:]}")


def _same_schema(opened: CrawlSetup, tally: Tally) -> None:
    """Compare every database of a crawl with one of a crawl in which nothing happened."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = _open(Path(folder))
        asyncio.run(build_pipeline(fresh, "w1").close())
        for file in (opened.folder.frontier, opened.folder.pages / "w1.db"):
            twin = fresh.folder.root / file.relative_to(opened.folder.root)
            tally.expect(_schema(file) == _schema(twin), f"the schema of {file.name} changed")
            tally.expect(_is_whole(file), f"{file.name} is damaged")


def _schema(file: Path) -> list[Any]:
    with sqlite3.connect(file) as database:
        rows = database.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
    database.close()
    return rows


def _is_whole(file: Path) -> bool:
    with sqlite3.connect(file) as database:
        [(verdict,)] = database.execute("PRAGMA integrity_check").fetchall()
    database.close()
    return bool(verdict == "ok")


def s6() -> Outcome:
    """Fill row S6."""
    tally = smuggling(100_000)
    return Outcome(
        held=not tally.broken,
        figure=f"{tally.figures['urls']:,.0f} hostile URLs through SQLite and the page store: "
        f"{len(tally.broken)} changed, lost or reported wrongly; schema unchanged",
    )

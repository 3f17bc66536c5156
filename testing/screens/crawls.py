"""Crawls of a wanted size, written without crawling: pages in segments, URLs in a queue."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

from thresher.crawl import CrawlSetup
from thresher.frontier.base import CrawlStore
from thresher.records import Candidate, Outcome, Settlement
from thresher.storage.page_store import FoundLink, PageRecord, PageStoreWriter
from thresher.urls.canonical import fingerprint

FIRST, LAST = ("ba", "ko", "li", "mu", "ne", "po", "ra", "si", "tu", "ve"), ("lan", "mor", "nik", "par", "ros")
WORDS = [first + last for first in FIRST for last in LAST]
SEGMENTS = 2
LINKS = 30
BEGAN = 1.7e9
AT_ONCE = 1000


def write(folder: Path, *, pages: int, hosts: int, store: str = "sqlite") -> CrawlSetup:
    """Write topic.yaml and the pages; nothing when they are there already."""
    (folder / "pages").mkdir(parents=True, exist_ok=True)
    topic = {
        "name": folder.name,
        "title": {"en": " ".join(WORDS[:2])},
        "keywords": WORDS[:6],
        "seeds": ["http://h0.example/0"],
        "politeness": {"delay_seconds": 0, "contact": "me@example.org"},
        "store": store,
    }
    (folder / "topic.yaml").write_text(json.dumps(topic), encoding="utf-8")  # JSON is YAML
    if not list((folder / "pages").glob("*.db")):
        for segment in range(SEGMENTS):
            _write_segment(folder / "pages" / f"w{segment + 1}.db", range(segment, pages, SEGMENTS), hosts)
    return CrawlSetup.open(folder)


def page_url(number: int, hosts: int) -> str:
    """Return the address of a page."""
    return f"http://h{number % hosts}.example/{number}"


def _write_segment(path: Path, numbers: range, hosts: int) -> None:
    writer = PageStoreWriter(path)
    for start in range(0, len(numbers), AT_ONCE):
        writer.write([_record(number, hosts) for number in numbers[start : start + AT_ONCE]])
    writer.close()


def _record(number: int, hosts: int) -> PageRecord:
    chance = Random(number)
    relevance = chance.betavariate(0.6, 1.4)
    text = " ".join(chance.choices(WORDS, k=250))
    url = page_url(number, hosts)
    return PageRecord(
        fingerprint=fingerprint(url),
        url=url,
        status=200,
        outcome=Outcome.DONE,
        fetched_at=BEGAN + number / 10,
        page=True,
        score=chance.random(),
        parent=fingerprint(page_url(number // 5, hosts)) if number else 0,
        depth=min(8, len(str(number))),
        title=text[:60],
        language="en",
        relevance=relevance,
        relevant=relevance > 0.5,
        parts={"similarity": relevance, "background level": 0.1},
        text_hash=number + 1,
        text=text,
        links=[_link(number, place, hosts) for place in range(LINKS)],
    )


def _link(number: int, place: int, hosts: int) -> FoundLink:
    child = number * 5 + place
    score = Random(child).betavariate(0.5, 3.0)
    parts = {"parents": score / 2, "words of the link": score / 2}
    return FoundLink(url=page_url(child, hosts), anchor=WORDS[child % len(WORDS)], score=score, parts=parts)


def _candidates(numbers: range, hosts: int) -> Iterator[Candidate]:
    for number in numbers:
        score = Random(number).betavariate(0.5, 3.0)
        parent = fingerprint(page_url(number // 5, hosts)) if number else 0
        yield Candidate(url=page_url(number, hosts), score=score, hops=3, parent=parent)


async def fill(frontier: CrawlStore, *, pages: int, waiting: int, hosts: int) -> None:
    """Bring a queue to `pages` pages done and `waiting` URLs waiting."""
    counts = await frontier.counts()
    for start in range(counts.pages + counts.waiting, pages + waiting, AT_ONCE):
        numbers = range(start, min(start + AT_ONCE, pages + waiting))
        await frontier.add(list(_candidates(numbers, hosts)))
    while (counts := await frontier.counts()).pages < pages:
        leases = await frontier.lease(min(AT_ONCE, pages - counts.pages), seconds=600)
        await frontier.commit(
            [
                Settlement(lease=lease, outcome=Outcome.DONE, page=True, relevant=place % 3 == 0)
                for place, lease in enumerate(leases)
            ]
        )

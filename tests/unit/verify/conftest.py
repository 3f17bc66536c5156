"""A small crawl whose pages and queue can be set against each other."""

from pathlib import Path

import pytest

from thresher.crawl import CrawlSetup
from thresher.reasons.legacy import legacy_reason
from thresher.records import Candidate, Outcome, Settlement
from thresher.storage.page_store import FoundLink, PageRecord, PageStoreWriter
from thresher.urls.canonical import fingerprint

TOPIC = """\
name: small
keywords: [perovskite]
seeds: ["http://a.example/0"]
strategy: {name: best-first}
judge: {name: match}
politeness: {contact: tests@example.org}
"""


def url(number):
    return f"http://h{number % 7}.example/{number}"


def page(number, links=(), **more):
    """A page that links to others, found on page `parent`."""
    return PageRecord(
        **{
            "fingerprint": fingerprint(url(number)),
            "url": url(number),
            "status": 200,
            "outcome": Outcome.DONE,
            "fetched_at": 1000.0 + number,
            "page": True,
            "score": 0.5,
            "depth": 1,
            "links": [FoundLink(url=url(to), anchor="", score=0.25, parts={"page": 0.25}) for to in links],
            **more,
        }
    )


class SmallCrawl:
    """A crawl folder with a segment to write into and a queue."""

    def __init__(self, root: Path, topic: str = TOPIC) -> None:
        root.mkdir(exist_ok=True)
        (root / "topic.yaml").write_text(topic, encoding="utf-8")
        self.root = root
        self.crawl = CrawlSetup.open(root)

    def keep(self, *records, segment="w1"):
        writer = PageStoreWriter(self.root / "pages" / f"{segment}.db")
        writer.write(records)
        writer.close()

    async def seed(self):
        """Let the seed in, as a run does first; it gives no page."""
        frontier = self.crawl.backend.frontier()
        if await frontier.add([Candidate(url="http://a.example/0", score=9.0)]):
            [lease] = await frontier.lease(1, seconds=60)
            await frontier.commit([Settlement(lease=lease, outcome=Outcome.FAILED, reason=legacy_reason("no answer"))])
        await frontier.close()

    async def settle(self, *records):
        """Let pages in, lease and settle them with their links, as the line does."""
        await self.seed()
        frontier = self.crawl.backend.frontier()
        for record in records:
            await frontier.add([Candidate(url=record.url, score=9.0, hops=record.depth)])
            [lease] = await frontier.lease(1, seconds=60)
            assert lease.url == record.url
            links = [Candidate(url=link.url, score=link.score, hops=record.depth + 1) for link in record.links]
            await frontier.commit([Settlement(lease=lease, outcome=record.outcome, links=links, page=record.page)])
        await frontier.close()

    async def state(self, number):
        frontier = self.crawl.backend.frontier()
        entry = await frontier.find(url(number))
        await frontier.close()
        return entry


@pytest.fixture
def small(tmp_path):
    return SmallCrawl(tmp_path / "small")

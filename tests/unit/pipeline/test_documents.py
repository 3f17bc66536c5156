"""A document and a feed go through the pipeline: the one as a page, the other as a source of URLs."""

import pytest

from testing.malicious_pdfs import content, pdf
from tests.unit.pipeline.test_pipeline import SEED, MemoryArchive, WordJudge
from thresher.parsing.documents.conversion import DocumentConverter
from thresher.parsing.main_content import stored_markup
from thresher.pipeline.host_policy import HostPolicyConfig
from thresher.pipeline.outcomes import PipelineRules
from thresher.pipeline.pipeline import Pipeline
from thresher.records import FetchedPage, Outcome
from thresher.sitemaps.source import SitemapHosts
from thresher.strategies.best_first import BestFirst
from thresher.urls.scope import UrlScope
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

FEED = b"<rss><channel><item><title>solar news</title><link>http://b.example/1</link></item></channel></rss>"
PDF = {"content-type": "application/pdf", "x-robots-tag": "nofollow"}


class World:
    def __init__(self, **config):
        self.frontier = MemoryFrontier()
        self.pipeline = Pipeline(
            frontier=self.frontier,
            archive=MemoryArchive(),
            judge=WordJudge(),
            strategy=BestFirst(),
            rules=PipelineRules(scope=UrlScope(), host_limits=HostPolicyConfig(**config)),
            documents=DocumentConverter(),
            stored_markup=stored_markup,
        )

    async def fetch(self, body, headers):
        [lease] = await self.frontier.lease(1, seconds=60)
        page = FetchedPage(url=lease.url, status=200, headers=headers, body=body, fetched_at=1e9)
        return await self.pipeline.process(lease, page)

    async def next_url(self):
        leases = await self.frontier.lease(1, seconds=60)
        return leases[0].url if leases else ""


@pytest.fixture
async def world():
    made = World()
    await made.pipeline.seed([SEED])
    yield made
    await made.pipeline.close()


async def test_a_pdf_is_kept_as_a_page(world):
    body = content(b"BT /F1 12 Tf 72 720 Td (On solar cells, see http://b.example/x) Tj ET")
    record = await world.fetch(body, PDF)
    assert (record.page, record.relevant, record.bytes) == (True, True, len(body))
    assert record.text.endswith("On solar cells, see http://b.example/x")
    assert record.markup.startswith("<!doctype html>")
    assert record.links == []  # nofollow, by the header


async def test_a_pdf_without_text_fails_with_its_reason(world):
    record = await world.fetch(content(b""), PDF)
    assert (record.outcome, str(record.reason)) == (Outcome.FAILED, "cannot be parsed: PDF, no text (scanned)")


async def test_without_a_converter_documents_are_refused(world):
    world.pipeline._documents.close()
    world.pipeline._documents = None
    assert str((await world.fetch(pdf(), PDF)).reason) == "not a page: application/pdf"


async def test_a_seed_that_is_a_feed_leads_to_its_entries(world):
    record = await world.fetch(FEED, {"content-type": "application/rss+xml"})
    assert (record.page, record.outcome, str(record.reason)) == (False, Outcome.DONE, "feed: 1 of 1 entries")
    assert await world.next_url() == "http://b.example/1"


async def test_another_feed_is_no_page(world):
    await world.fetch(b"<a href=/feed>solar</a>", {"content-type": "text/html"})
    record = await world.fetch(FEED, {"content-type": "application/rss+xml"})
    assert (record.outcome, str(record.reason)) == (Outcome.FAILED, "not a page: application/rss+xml")


async def test_feeds_that_pages_link_to_are_read_where_they_are_wanted():
    world = World(feeds=SitemapHosts())
    try:
        await world.pipeline.seed([SEED])
        await world.fetch(
            b"<link rel=alternate type=application/rss+xml href=/feed>solar", {"content-type": "text/html"}
        )
        record = await world.fetch(FEED, {"content-type": "text/xml"})
        assert (record.url, str(record.reason)) == ("http://a.example/feed", "feed: 1 of 1 entries")
        assert await world.next_url() == "http://b.example/1"
    finally:
        await world.pipeline.close()

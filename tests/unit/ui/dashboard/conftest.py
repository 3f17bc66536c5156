"""A small crawl that was written, not crawled, and a service that shows it."""

import asyncio

import pytest

from testing.screens import crawls as world
from thresher.crawl import CrawlSetup
from thresher_ui.dashboard.open_crawl import OpenCrawl
from thresher_ui.dashboard.service import CrawlService

PAGES, WAITING, HOSTS = 60, 200, 6


async def fill(crawl):
    frontier = crawl.backend.frontier()
    try:
        await world.fill(frontier, pages=PAGES, waiting=WAITING, hosts=HOSTS)
    finally:
        await frontier.close()


@pytest.fixture
def crawl(tmp_path):
    crawl = world.write(tmp_path / "small", pages=PAGES, hosts=HOSTS)
    asyncio.run(fill(crawl))
    return CrawlSetup.open(crawl.folder.root)


@pytest.fixture
def new_crawl(tmp_path):
    """A crawl that was never run."""
    root = tmp_path / "new"
    root.mkdir()
    (root / "topic.yaml").write_text("title: {en: solar cells}\nseeds: ['http://a.example/']\n", encoding="utf-8")
    return CrawlSetup.open(root)


@pytest.fixture
async def open_crawl(crawl):
    open_crawl = OpenCrawl(crawl, "small")
    yield open_crawl
    await open_crawl.close()


@pytest.fixture
async def service(crawl, new_crawl):
    service = CrawlService({"small": crawl, "new": new_crawl})
    await service.open()
    yield service
    await service.close()

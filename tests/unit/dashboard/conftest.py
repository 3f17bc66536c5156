"""A small crawl that was written, not crawled, and a desk that looks at it."""

import asyncio

import pytest

from tests.faults import dashboard_world as world
from thresher.build import Crawl
from thresher.dashboard.desk import Desk
from thresher.dashboard.watched import WatchedCrawl

PAGES, WAITING, HOSTS = 60, 200, 6


async def fill(crawl):
    frontier = crawl.frontier()
    try:
        await world.fill(frontier, pages=PAGES, waiting=WAITING, hosts=HOSTS)
    finally:
        await frontier.close()


@pytest.fixture
def crawl(tmp_path):
    crawl = world.write(tmp_path / "small", pages=PAGES, hosts=HOSTS)
    asyncio.run(fill(crawl))
    return Crawl.open(crawl.folder.root)


@pytest.fixture
def new_crawl(tmp_path):
    """A crawl that was never run."""
    root = tmp_path / "new"
    root.mkdir()
    (root / "topic.yaml").write_text("title: {en: solar cells}\nseeds: ['http://a.example/']\n", encoding="utf-8")
    return Crawl.open(root)


@pytest.fixture
async def watched(crawl):
    watched = WatchedCrawl(crawl, "small")
    yield watched
    await watched.close()


@pytest.fixture
async def desk(crawl, new_crawl):
    desk = Desk({"small": crawl, "new": new_crawl})
    await desk.open()
    yield desk
    await desk.close()

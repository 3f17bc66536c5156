"""A refresh is planned once, goes on when it was stopped, and is planned anew when it came to its end."""

import asyncio
from contextlib import closing

import pytest

from tests.unit.export.test_all_formats import of
from thresher.config.run_options import RunOptions
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.operations.refresh import refresh_run
from thresher.records import Candidate, Outcome, Settlement
from thresher.refresh.queue import last_start
from thresher.storage.page_store import PageStoreWriter

PAGES = [f"http://h{number}.example/" for number in range(3)]
NEW = "http://new.example/"


def opened(folder, **changes):
    return CrawlSetup.open(folder, RunOptions(refresh=True, **changes))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "topic.yaml").write_text(
        f"title: {{en: cells}}\nseeds: ['{PAGES[0]}']\npoliteness: {{contact: me@example.org}}\n", encoding="utf-8"
    )
    with closing(PageStoreWriter(tmp_path / "pages" / "w1.db")) as writer:
        writer.write([of(url, relevance=0.9 - 0.1 * place, text_hash=5) for place, url in enumerate(PAGES)])
    return tmp_path


async def visit(crawl, number, links=()):
    """Make some visits of a refresh as a worker would; return which."""
    frontier = crawl.backend.frontier()
    visited = []
    for _ in range(number):
        [lease] = await frontier.lease(1, seconds=60)
        found = [Candidate(url=link, score=0.5) for link in links]
        done = Settlement(lease=lease, outcome=Outcome.DONE, page=True, links=found, delay_seconds=50.0)
        await frontier.commit([done])
        visited.append(lease.url)
    await frontier.close()
    return visited


async def waiting(crawl):
    frontier = crawl.backend.frontier()
    entries = [entry.url for entry in await frontier.peek(9)]
    await frontier.close()
    return entries


def test_the_pages_with_most_to_gain_wait(folder):
    crawl = opened(folder)
    with refresh_run(crawl, 2):
        assert asyncio.run(waiting(crawl)) == PAGES[:2]
    assert last_start(folder) is not None


def test_a_refresh_that_was_stopped_goes_on(folder):
    crawl = opened(folder)
    with refresh_run(crawl, 3):
        assert asyncio.run(visit(crawl, 1)) == PAGES[:1]
    began = last_start(folder)
    with refresh_run(crawl, 3):
        assert asyncio.run(waiting(crawl)) == PAGES[1:]
    assert last_start(folder) == began


def test_a_refresh_that_came_to_its_end_is_followed_by_another(folder):
    crawl = opened(folder)
    with refresh_run(crawl, 2):
        asyncio.run(visit(crawl, 2))
    with refresh_run(crawl, 3):
        assert len(asyncio.run(waiting(crawl))) == 3


def test_what_visits_find_waits_in_the_crawls_own_queue(folder):
    crawl = opened(folder)
    with refresh_run(crawl, 1):
        asyncio.run(visit(crawl, 1, [NEW]))
    assert asyncio.run(waiting(CrawlSetup.open(folder))) == [NEW]


def test_a_visited_host_rests_in_the_next_usual_run(folder):
    async def seconds_to_next(crawl):
        frontier = crawl.backend.frontier()
        seconds = await frontier.seconds_to_next()
        await frontier.close()
        return seconds

    usual, crawl = CrawlSetup.open(folder), opened(folder)
    with refresh_run(crawl, 1):
        asyncio.run(visit(crawl, 1, [f"{PAGES[0]}more"]))
    assert asyncio.run(seconds_to_next(usual)) == pytest.approx(50.0, abs=15.0)


def test_what_the_user_no_longer_allows_is_not_visited(folder):
    with (folder / "topic.yaml").open("a") as file:
        file.write("scope: {deny_hosts: [h0.example]}\n")
    crawl = opened(folder)
    with refresh_run(crawl, 3):
        assert asyncio.run(waiting(crawl)) == PAGES[1:]


def test_a_crawl_that_machines_share_is_not_refreshed(folder):
    with pytest.raises(ConfigError, match="cannot be refreshed"), refresh_run(opened(folder, store="redis://h/0"), 1):
        pass


def test_a_crawl_without_pages_is_not_refreshed(folder):
    (folder / "pages" / "w1.db").unlink()
    with pytest.raises(ConfigError, match="no pages to visit again yet"), refresh_run(opened(folder), 1):
        pass

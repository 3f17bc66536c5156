"""Machines add up how many relevant pages each topic has, and know when all have theirs."""

import json

import pytest

from thresher.feedback.topic_counts import KIND, TopicTotals, publish_topic_counts, read_topic_counts, read_topics
from thresher.frontier.base import CRAWL_WIDE, Counts
from thresher.records import Forecast, Judgement, Outcome
from thresher.storage.page_store import PageRecord, PageStoreWriter
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier


@pytest.fixture
def frontier():
    return MemoryFrontier()


@pytest.fixture
def writer(tmp_path):
    writer = PageStoreWriter(tmp_path / "w1.db")
    yield writer
    writer.close()


def page(number, *topics):
    judged = {name: Judgement(relevance=float(name in topics), relevant=name in topics) for name in ("tea", "solar")}
    return PageRecord(
        fingerprint=number, url=f"http://a.example/{number}", status=200, outcome=Outcome.DONE,
        fetched_at=float(number), page=True, topics=judged,
    )  # fmt: skip


async def test_the_numbers_of_all_machines_are_added_and_replaced(frontier):
    await publish_topic_counts(frontier, "a", {"tea": 2})
    assert await publish_topic_counts(frontier, "b", {"tea": 1, "solar": 5}) == {"tea": 3, "solar": 5}
    await publish_topic_counts(frontier, "a", {"tea": 4})
    assert await read_topic_counts(frontier) == {"tea": 5, "solar": 5}


@pytest.mark.parametrize("content", ["", "nothing", "[1]", '{"a": 1}', '{"a": {"tea": "x"}}'])
async def test_an_entry_that_cannot_be_read_counts_nothing(frontier, content):
    await frontier.put_state(CRAWL_WIDE, KIND, content, seconds=60)
    assert await read_topic_counts(frontier) == {}


async def test_a_run_is_complete_when_every_topic_with_a_number_has_its_pages(frontier, writer, tmp_path):
    totals = TopicTotals(tmp_path, "", {"tea": 2, "solar": None})
    writer.write([page(1, "tea"), page(2, "solar")])
    assert not await totals.are_complete(frontier, fresh=True)
    writer.write([page(3, "tea", "solar")])
    assert await totals.are_complete(frontier, fresh=True)
    assert not await TopicTotals(tmp_path, "", {"solar": None}).are_complete(frontier, fresh=True)
    assert not await TopicTotals(tmp_path, "", {}).are_complete(frontier, fresh=True)


async def test_pages_of_other_machines_complete_a_topic_too(frontier, writer, tmp_path):
    writer.write([page(1, "tea")])
    await publish_topic_counts(frontier, "other", {"tea": 1})
    assert await TopicTotals(tmp_path, "own", {"tea": 2}).are_complete(frontier, fresh=True)


async def test_the_page_store_is_not_counted_all_the_time(frontier, writer, tmp_path):
    times = iter([0.0, 1.0, 2.0, 30.0, 31.0])
    totals = TopicTotals(tmp_path, "", {"tea": 1}, clock=lambda: next(times))
    assert not await totals.are_complete(frontier)
    writer.write([page(1, "tea")])
    assert not await totals.are_complete(frontier)
    assert await totals.are_complete(frontier)


async def test_the_status_of_each_topic_is_that_of_the_page_store_or_else_the_published_one(frontier, writer, tmp_path):
    writer.write([page(1, "tea")])
    await publish_topic_counts(frontier, "other", {"tea": 7})
    [tea, solar] = await read_topics(frontier, Counts(), {"tea": 1, "solar": None}, tmp_path)
    assert (tea.relevant, tea.is_complete, solar.relevant, solar.is_complete) == (1, True, 0, False)
    [tea] = await read_topics(frontier, Counts(), {"tea": 8}, None)
    assert (tea.relevant, tea.is_complete) == (7, False)
    assert await read_topics(frontier, Counts(), {}, tmp_path) == []


async def test_a_complete_topic_has_no_forecast_since_its_links_are_not_followed_any_more(frontier):
    ahead = {"latest": [], "forecast": {"pages": 300, "least": 1, "most": 9}}
    for name in ("tea", "solar"):
        await frontier.put_state(CRAWL_WIDE, f"forecast {name}", json.dumps(ahead), seconds=60)
    await publish_topic_counts(frontier, "", {"tea": 8, "solar": 8})
    [tea, solar] = await read_topics(frontier, Counts(pages=310, waiting=50), {"tea": 8, "solar": 9}, None)
    assert tea.forecast is None
    assert solar.forecast == Forecast(pages=300, least=1, most=9)

"""The numbers of a crawl as every command reports them."""

from dataclasses import replace

import pytest

from thresher.frontier.base import Counts, HostEntry
from thresher.monitoring.totals import SHARE, Totals, host_totals, relevant_words
from thresher.records import Outcome
from thresher.storage.page_store import PageRecord, PageStoreWriter
from thresher.urls.canonical import fingerprint


class Counting:
    """A frontier that counted pages as they were judged first."""

    def __init__(self):
        self.numbers = Counts(waiting=7, pages=9, relevant=9)

    async def counts(self):
        return self.numbers


def record(number, relevance, **more):
    url = f"http://a.example/{number}"
    values = {
        "status": 200,
        "outcome": Outcome.DONE,
        "page": True,
        "relevance": relevance,
        "relevant": relevance >= 0.4,
    }
    return PageRecord(fingerprint=fingerprint(url), url=url, fetched_at=1.0 + number, **{**values, **more})


@pytest.fixture
def pages(tmp_path):
    first, second = (PageStoreWriter(tmp_path / f"w{number}.db") for number in (1, 2))
    first.write([record(1, 0.9), record(2, 0.3), record(3, 0.8, duplicate_of=1), record(4, 0.9)])
    second.write([replace(record(4, 0.2), fetched_at=9.0), record(5, 0.0, page=False, outcome=Outcome.FAILED)])
    first.close()
    second.close()
    return tmp_path


async def test_pages_are_counted_in_the_page_store_each_url_once_as_it_is_judged_now(pages):
    counts = await Totals(pages).read(Counting())
    assert (counts.pages, counts.duplicates, counts.relevant, counts.expected) == (4, 1, 1, 1.4)
    assert counts.waiting == 7


async def test_where_pages_lie_elsewhere_the_frontier_counts():
    counts = await Totals(None).read(Counting())
    assert (counts.pages, counts.relevant, counts.expected) == (9, 9, None)


async def test_the_longer_counting_takes_the_more_seldom_it_is_done(pages, clock, monkeypatch):
    totals, counted = Totals(pages, clock=clock), []

    def count(folder):
        clock.now += 1.0
        counted.append(folder)
        return real(folder)

    from thresher.monitoring import totals as module

    real = module._count
    monkeypatch.setattr(module, "_count", count)
    await totals.read(Counting())
    clock.now += 1 / SHARE - 1
    await totals.read(Counting())
    assert len(counted) == 1
    await totals.read(Counting(), fresh=True)
    assert len(counted) == 2


async def test_hosts_have_the_numbers_of_the_page_store(pages):
    entry = HostEntry(
        host="a.example", waiting=0, leased=0, pages=9, relevant=9, failed=1, delay_seconds=0, next_seconds=0, best=None
    )
    [seen, other] = await host_totals([entry, replace(entry, host="b.example")], pages)
    assert (seen.pages, seen.relevant, seen.failed) == (4, 1, 1)
    assert (other.pages, other.relevant) == (0, 0)


def test_few_pages_are_marked_as_provisional_with_the_expected_number():
    assert relevant_words(Counts(pages=99, relevant=3, expected=7.4)) == "3 relevant (provisional, 7 expected)"
    assert relevant_words(Counts(pages=99, relevant=3)) == "3 relevant (provisional)"
    assert relevant_words(Counts(pages=100, relevant=30, expected=28.0)) == "30 relevant (harvest rate 0.30)"

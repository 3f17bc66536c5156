"""What is known of every page: read on as they come, read anew now and then."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from thresher.records import Judgement, Outcome, Revision
from thresher.storage.page_store import PageRecord, PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import fingerprint
from thresher_ui.dashboard.page_index import RECOUNT_SHARE, PageIndex


def record(number, **more):
    url = f"http://a.example/{number}"
    values = {"status": 200, "outcome": Outcome.DONE, "page": True, "relevance": number / 10, "relevant": number > 5}
    return PageRecord(fingerprint=fingerprint(url), url=url, fetched_at=1000.0 + number, **{**values, **more})


@pytest.fixture
def page_index(clock):
    return PageIndex(clock=clock)


@pytest.fixture
def writers(tmp_path):
    made = [PageStoreWriter(tmp_path / "pages" / f"w{number}.db") for number in (1, 2)]
    yield made
    for writer in made:
        writer.close()


@pytest.fixture
def collection(tmp_path, writers):
    with PageStoreReader(tmp_path / "pages") as collection:
        yield collection


def test_pages_of_all_segments_come_in_the_order_of_their_times(page_index, writers, collection):
    writers[0].write([record(1), record(4)])
    writers[1].write([record(2), record(3)])
    assert page_index.read(collection.segments).rows["fetched_at"].tolist() == [1001, 1002, 1003, 1004]


def test_what_is_no_page_is_passed_over(page_index, writers, collection):
    writers[0].write([record(1), record(2, page=False, outcome=Outcome.FAILED)])
    assert len(page_index.read(collection.segments)) == 1


def test_new_rows_are_read_on_and_a_copy_does_not_count(page_index, writers, collection):
    writers[0].write([record(6)])
    assert page_index.read(collection.segments).tally.relevant == 1
    writers[1].write([record(7), record(8, duplicate_of=7)])
    pages = page_index.read(collection.segments)
    assert (len(pages), pages.tally.relevant) == (3, 2)


def test_a_page_that_came_again_counts_once_after_a_while(page_index, clock, writers, collection):
    writers[0].write([record(6)])
    page_index.read(collection.segments)
    writers[1].write([replace(record(6), fetched_at=2000.0, relevant=False)])
    clock.now += 1
    pages = page_index.read(collection.segments)
    assert (len(pages), pages.tally.relevant) == (1, 0)


def test_what_the_judge_thinks_now_is_seen_after_a_while(page_index, clock, writers, collection):
    writers[0].write([record(6, text="words")])
    assert page_index.read(collection.segments).tally.relevant == 1
    writers[0].apply_revisions([Revision(url="http://a.example/6", judgement=Judgement(relevance=0.1, relevant=False))])
    clock.now += 1
    assert page_index.read(collection.segments).tally.relevant == 0


def test_the_longer_it_takes_to_read_all_the_more_seldom_it_is_done(clock, writers, collection, monkeypatch):
    page_index = PageIndex(clock=clock)
    taken = []
    take = page_index._read_new

    def slow(segments):
        taken.append(len(page_index._pages))
        clock.now += 1.0
        take(segments)

    monkeypatch.setattr(page_index, "_read_new", slow)
    writers[0].write([record(1)])
    page_index.read(collection.segments)
    writers[0].write([record(2)])
    clock.now += 1 / RECOUNT_SHARE - 1.5
    page_index.read(collection.segments)
    clock.now += 1.5
    page_index.read(collection.segments)
    assert taken == [0, 1, 0]


def test_what_nobody_wrote_to_is_not_read_anew(clock, writers, collection, monkeypatch):
    page_index = PageIndex(clock=clock)
    writers[0].write([record(1)])
    page_index.read(collection.segments)
    before = page_index._pages
    clock.now += 3600
    assert page_index.read(collection.segments) is before


def test_the_best_come_first_and_the_older_of_equals(page_index, writers, collection):
    writers[0].write([record(1), record(9), record(3), record(5, relevance=0.9)])
    best = page_index.read(collection.segments).best(3, relevant=False)
    assert best["fetched_at"].tolist() == [1005, 1009, 1003]


def test_the_newest_come_first_and_only_relevant_ones_when_asked(page_index, writers, collection):
    writers[0].write([record(number) for number in (1, 6, 7)])
    pages = page_index.read(collection.segments)
    assert pages.newest(relevant=False)["fetched_at"].tolist() == [1007, 1006, 1001]
    assert pages.newest(relevant=True)["fetched_at"].tolist() == [1007, 1006]
    assert pages.since(1006.0) == 2


def test_the_harvest_is_that_of_the_last_pages_and_unknown_while_they_are_few(page_index, writers, collection):
    writers[0].write([record(number) for number in (6, 1, 7, 2)])
    pages = page_index.read(collection.segments)
    assert (pages.harvest(4), pages.harvest(2), pages.harvest(5)) == (0.5, 1.0, None)


def test_no_segments_are_no_pages(page_index):
    assert len(page_index.read([])) == 0


def test_it_only_reads(tmp_path, page_index, writers, collection):
    writers[0].write([record(1)])
    with closing(sqlite3.connect(tmp_path / "pages" / "w1.db")) as db:
        before = db.execute("PRAGMA data_version").fetchone()
        page_index.read(collection.segments)
        assert db.execute("PRAGMA data_version").fetchone() == before

"""A client that follows a page store sees every page once, in the order in which they came, and nothing from before."""

import pytest

from thresher.api.run import PageStream
from thresher.records import Outcome
from thresher.storage.page_store import PageRecord, PageStoreWriter
from thresher.urls.canonical import fingerprint


def record(path, at, *, page=True):
    url = f"http://a.example/{path}"
    return PageRecord(
        fingerprint=fingerprint(url), url=url, status=200, outcome=Outcome.DONE, fetched_at=at, page=page, text="words"
    )


@pytest.fixture
def write(tmp_path):
    writers = {}

    def write(worker, *records):
        if worker not in writers:
            writers[worker] = PageStoreWriter(tmp_path / f"{worker}.db")
        writers[worker].write(records)

    yield write
    for writer in writers.values():
        writer.close()


def paths(following):
    return [page.url.rpartition("/")[2] for page in following.new()]


def test_pages_come_once_in_their_order_over_all_workers(tmp_path, write):
    following = PageStream(tmp_path)
    write("w1", record("a", 1.0), record("d", 4.0))
    write("w2", record("b", 2.0), record("c", 3.0))
    assert paths(following) == ["a", "b", "c", "d"]
    assert paths(following) == []
    write("w2", record("e", 5.0))
    assert paths(following) == ["e"]


def test_what_was_there_before_is_not_new(tmp_path, write):
    write("w1", record("a", 1.0))
    following = PageStream(tmp_path)
    write("w1", record("b", 2.0))
    assert paths(following) == ["b"]


def test_a_page_that_a_crash_repeats_is_not_new(tmp_path, write):
    write("w1", record("a", 1.0))
    following = PageStream(tmp_path)
    write("w2", record("a", 2.0), record("b", 3.0))
    write("w1", record("b", 4.0))
    assert paths(following) == ["b"]


def test_refusals_are_no_pages(tmp_path, write):
    following = PageStream(tmp_path)
    write("w1", record("a", 1.0, page=False), record("a", 2.0))
    [page] = following.new()
    assert (page.text, page.fetched_at.timestamp()) == ("words", 2.0)

"""Part files hold every page of a crawl once, and are written in bounded memory."""

import tracemalloc

import pyarrow.parquet as pq

from tests.unit.batch.batch_crawl import PAGES, url
from thresher.batch import executors
from thresher.batch.executors import write_part_files, write_parts
from thresher.storage.reader import PageStoreReader


def test_every_page_of_all_segments_is_in_a_part_once_by_its_last_row(crawl, tmp_path):
    with PageStoreReader(crawl.folder.pages) as collection:
        paths = write_parts(collection, tmp_path, ["url", "segment", "terms", "text"])
    rows = [row for path in paths for row in pq.read_table(path).to_pylist()]
    assert sorted(row["url"] for row in rows) == sorted(map(url, range(PAGES)))
    assert {row["segment"] for row in rows} == {"w1", "w2", "other"}
    assert [row["segment"] for row in rows if row["url"] == url(0)] == ["w2"]
    assert all(row["terms"] and row["text"] is None for row in rows)


def test_a_crawl_without_pages_has_one_empty_part(tmp_path):
    [path] = write_part_files(iter(()), tmp_path, ["fingerprint", "url"])
    assert pq.read_table(path).schema.names == ["fingerprint", "url"]


def test_memory_does_not_grow_with_the_pages(tmp_path, monkeypatch):
    monkeypatch.setattr(executors, "PART_BYTES", 1 << 20)
    rows = ({"fingerprint": number, "text": b"%9d" % number * 900} for number in range(6_000))
    tracemalloc.start()
    paths = write_part_files(rows, tmp_path, ["fingerprint", "text"])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(paths) > 10
    assert peak < 8 << 20 < sum(path.stat().st_size for path in paths)


def test_half_of_a_surrogate_pair_in_a_title_is_replaced(tmp_path):
    [path] = write_part_files(iter([{"title": "a\ud800b"}]), tmp_path, ["title"])
    assert pq.read_table(path)["title"].to_pylist() == ["a?b"]

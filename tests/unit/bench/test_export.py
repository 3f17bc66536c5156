"""The measurement of exports, in small: what `python -m bench.collection.export` measures in full."""

from bench.collection.export import FORMS, make, measure


def test_an_export_is_measured_and_holds_every_page_once(tmp_path):
    make(tmp_path / "crawl", 100)
    sample = measure(tmp_path / "crawl", FORMS["jsonl"], tmp_path / "out")
    assert sample.printed == "100 pages"
    assert sample.mebibytes > 10

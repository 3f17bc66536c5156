"""Every way out of a collection, from the command line."""

import json
import sys
from contextlib import closing
from functools import partial

import pyarrow.parquet as pq
import pytest

from tests.unit.export.test_all_formats import HUB, LEAF, SEED, of
from tests.unit.papers.strategies.layered_world import MODEL
from tests.unit.storage.warc.captures import answered, archived
from thresher.storage.page_store import PageStoreWriter
from thresher.storage.warc.reader import Member, walk


@pytest.fixture
def crawl(tmp_path):
    folder = tmp_path / "Solar Cells"
    folder.mkdir()
    (folder / "topic.yaml").write_text(f"title: {{en: cells}}\nseeds: ['{SEED}']\n", encoding="utf-8")
    with closing(PageStoreWriter(folder / "pages" / "w1.db")) as writer:
        writer.write([of(SEED, relevance=0.2, links=[(HUB, "hub")]), of(HUB, relevance=0.9, parent=SEED, at=2_000_000)])
        writer.write([of(LEAF, relevance=0.8, parent=HUB, at=3_000_000, text="文字")])
    return folder


@pytest.fixture
def export(crawl, shell):
    return partial(shell, "export", crawl)


def objects(out):
    return [json.loads(line) for line in out.splitlines()]


def test_hosts_can_be_listed_and_those_of_seeds_left_out(export):
    assert [row["host"] for row in objects(export("--hosts")[1])] == ["hub.example", "leaf.example", "seed.example"]
    _, out, err = export("--new-hosts-only", "--min-relevance", "0.85")
    assert [row["host"] for row in objects(out)] == ["hub.example"]
    assert "1 hosts" in err


def test_links_can_be_listed(export):
    [link] = objects(export("--links")[1])
    assert (link["source"], link["target"], link["target_relevance"]) == (SEED, HUB, 0.9)


def test_a_bulk_file_is_for_an_index_of_the_crawls_name_and_has_the_text(export):
    lines = objects(export("-f", "opensearch", "--min-relevance", "0.5")[1])
    assert lines[0]["index"]["_index"] == "solar-cells"
    assert [line["text"] for line in lines[1::2]] == ["", "文字"]


def test_a_graph_is_written_into_a_file(export, tmp_path):
    path = tmp_path / "links.graphml"
    _, out, err = export("-f", "graphml", "-o", path)
    assert (out, "1 links between pages" in err) == ("", True)
    assert path.read_text(encoding="utf-8").count("<node") == 3


def test_only_what_came_since_a_day_can_be_asked_for(export):
    assert [row["url"] for row in objects(export("--changed-since", "1970-02-01")[1])] == [LEAF]


def test_a_table_of_hosts_is_no_graph(export):
    code, _, err = export("--hosts", "-f", "graphml")
    assert (code, "make tables" in err) == (1, True)


def test_what_was_archived_of_relevant_pages_is_copied(export, crawl, tmp_path):
    captures = [answered(1, relevance=0.2), answered(2, relevance=0.95)]
    archived(crawl, *captures)
    with closing(PageStoreWriter(crawl / "pages" / "w2.db")) as writer:
        writer.write([record for record, _ in captures])
    path = tmp_path / "part.warc.gz"
    code, _, err = export("-f", "warc", "--min-relevance", "0.95", "-o", path)
    assert (code, err.startswith("1 records of pages")) == (0, True)
    members = [member for member in walk(path) if isinstance(member, Member)]
    assert {member.headers.get("warc-target-uri", captures[1][0].url) for member in members} == {captures[1][0].url}


def test_without_an_archive_there_is_nothing_to_copy(export, tmp_path):
    for form, name in (("warc", "a.warc.gz"), ("wacz", "a.wacz"), ("url-index", "index")):
        assert "has no WARC files" in export("-f", form, "-o", tmp_path / name)[2]
        assert not (tmp_path / name).exists()
        assert "name" in export("-f", form)[2]


def test_an_archive_for_replay_and_its_index_hold_the_chosen_pages(export, crawl, tmp_path):
    captures = [answered(1, relevance=0.2), answered(2, relevance=0.95)]
    archived(crawl, *captures)
    with closing(PageStoreWriter(crawl / "pages" / "w2.db")) as writer:
        writer.write([record for record, _ in captures])
    code, _, err = export("-f", "wacz", "--min-relevance", "0.85", "-o", tmp_path / "crawl.wacz")
    assert (code, err.startswith("1 pages, without 1 that were not archived in ")) == (0, True)
    code, _, err = export("-f", "url-index", "--min-relevance", "0.85", "-o", tmp_path / "index")
    assert (code, err.startswith("1 captures of pages in ")) == (0, True)
    table = pq.read_table(tmp_path / "index")
    assert (table["url"].to_pylist(), table["crawl"].to_pylist()) == ([captures[1][0].url], ["Solar Cells"])


def test_records_of_a_page_that_did_not_change_since_a_day_stay_behind(export, crawl, tmp_path):
    captures = [answered(1), answered(2, fetched_at=1_800_000_000.0)]
    archived(crawl, *captures)
    with closing(PageStoreWriter(crawl / "pages" / "w2.db")) as writer:
        writer.write([record for record, _ in captures])
    _, _, err = export("-f", "warc", "--changed-since", "2026-01-01", "-o", tmp_path / "part.warc.gz")
    assert err.startswith("1 records of pages")


def test_pages_can_be_ordered_by_trained_layers(export, crawl):
    status, _, err = export("--by", "layers")
    assert status
    assert "thresher train" in err
    (crawl / "model" / "trained").mkdir(parents=True)
    MODEL.save(crawl / "model" / "trained")
    with closing(PageStoreWriter(crawl / "pages" / "w2.db")) as writer:
        writer.write([of("http://low.example/", relevance=0.1, text="solar")])
    assert objects(export("--by", "layers")[1])[0]["url"] == "http://low.example/"
    assert objects(export()[1])[-1]["url"] == "http://low.example/"


def test_markdown_and_dataset_folders_hold_the_pages_with_text(export, tmp_path):
    _, _, err = export("-f", "markdown", "-o", tmp_path / "md")
    assert "1 pages with text (1 files written, 0 removed)" in err
    [file] = (tmp_path / "md").rglob("*.md")
    assert file.read_text(encoding="utf-8").endswith("\n文字\n")
    _, _, err = export("-f", "dataset", "-o", tmp_path / "set")
    assert "1 pages with text" in err
    assert "cells" in (tmp_path / "set" / "README.md").read_text(encoding="utf-8")


def test_chunks_can_be_listed(export):
    _, out, err = export("--chunks")
    [chunk] = objects(out)
    assert (chunk["url"], chunk["text"], chunk["position"]) == (LEAF, "文字", 0)
    assert "1 chunks" in err


def test_markdown_can_be_a_column(export):
    best, *_ = objects(export("--markdown", "--text", "--min-relevance", "0.75")[1])
    assert {"text", "markdown", "author", "published", "license"} <= set(best)


def test_quality_can_be_columns_and_a_filter(export):
    assert [row["quality"] for row in objects(export("--quality")[1])] == [None, pytest.approx(0.7, abs=0.2), None]
    assert [row["url"] for row in objects(export("--min-quality", "0.1")[1])] == [LEAF]
    assert objects(export("--chunks", "--min-quality", "1")[1]) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-f", "markdown"], "name it: -o DIR"),
        (["--hosts", "--min-quality", "0.5"], "not with --hosts"),
        (["-f", "graphml", "--min-quality", "0.5"], "not with --hosts"),
        (["-f", "dataset", "--chunks", "-o", "x"], "one at a time"),
        (["--chunks", "--chunk-size", "100", "--chunk-overlap", "100"], "must be below"),
        (["-o", "/"], "is a directory"),
    ],
)
def test_folders_and_chunks_that_cannot_be_made_are_explained(export, options, words):
    code, _, err = export(*options)
    assert code != 0
    assert words in err


def test_files_that_are_there_stay_as_they_are(export, crawl, tmp_path):
    archived(crawl, answered(1, relevance=0.9))
    forms = ["jsonl", "csv", "parquet", "opensearch", "graphml", "warc", "wacz", "markdown", "dataset", "url-index"]
    tables = [["--hosts"], ["--links"], ["--mirrors"], ["--chunks"]]
    for options in [*(["-f", form] for form in forms), *tables]:
        path = tmp_path / "taken"
        path.write_text("mine")
        code, _, err = export(*options, "-o", path)
        assert (code, "taken is there already; name another" in err) == (1, True), options
        assert path.read_text() == "mine"


@pytest.mark.parametrize("form", ["markdown", "dataset"])
def test_a_folder_is_changed_only_when_replace_says_so(export, tmp_path, form):
    folder = tmp_path / "out"
    folder.mkdir()
    assert export("-f", form, "-o", folder)[0] == 0
    before = contents(folder)
    code, _, err = export("-f", form, "-o", folder, "--changed-since", "2030-01-01")
    assert (code, "replace that export: --replace" in err) == (1, True)
    assert contents(folder) == before
    assert export("-f", form, "-o", folder, "--changed-since", "2030-01-01", "--replace")[0] == 0
    assert contents(folder) != before


def test_a_file_is_replaced_when_the_user_says_so(export, tmp_path):
    path = tmp_path / "pages.jsonl"
    path.write_text("an earlier export")
    assert export("-o", path, "--replace")[0] == 0
    assert len(objects(path.read_text(encoding="utf-8"))) == 3


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "words", [["-f", "parquet"], ["-f", "dataset"], ["-f", "url-index"], ["-f", "parquet", "--hosts"]]
)
def test_a_parquet_file_without_pyarrow_is_refused_before_anything_is_written(export, tmp_path, monkeypatch, words):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, err = export(*words, "-o", tmp_path / "written")
    assert code == 4
    assert f'the format {words[1]} needs pyarrow: pip install "thresher-crawler[parquet]"' in err
    assert not (tmp_path / "written").exists()

"""E2 on real directory entries."""

import json

import pytest
import zstandard

from thresher_lab.reproduce.directory_entries import (
    DirectoryEntry,
    directories_run,
    directory_row,
    read_directories,
    shares,
    spelled_labels,
)
from thresher_lab.statistics.result_rows import read_rows

FILES = {
    "dmoz_entries_sample.tsv": "topic\turl\ttitle\tdescription\nTop/Sports/B/Ball_Games\thttp://a.de/sports/1\tA\tB\n",
    "dmoz_hosts15.tsv": "host\tdmoz_top_categories\texample_url\nbestgames.com\tgames\thttp://bestgames.com/x\n"
    "both.com\tarts|games\thttp://both.com/\n",
    "nav_directory_zh.jsonl": json.dumps({"category": "体育/篮球", "url": "http://lanqiu.example.cn/"}) + "\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with one entry in each directory."""
    for name, text in FILES.items():
        (tmp_path / f"{name}.zst").write_bytes(zstandard.compress(text.encode()))
    monkeypatch.setenv("THRESHER_WEBS", str(tmp_path))
    return tmp_path


def test_a_path_has_neither_its_root_nor_index_letters(folder):
    regional, hosts, chinese = read_directories().values()
    assert regional == [DirectoryEntry(("Sports", "Ball Games"), "http://a.de/sports/1")]
    assert hosts == [DirectoryEntry(("games",), "http://bestgames.com/")]
    assert chinese == [DirectoryEntry(("体育", "篮球"), "http://lanqiu.example.cn/")]


def test_urls_are_counted_by_the_labels_that_they_spell():
    labels = ("Sports", "Basketball")
    urls = [
        "http://a.example/sports/",
        "http://basketball.example/",
        "http://a.example/tiyu/lanqiu",
        "http://b.example/",
    ]
    counts = spelled_labels(DirectoryEntry(labels, url) for url in urls)
    assert counts == {"relevant": 4, "own": 2, "only_context": 1, "context": 2}
    assert shares(counts) == (50, 25, 75)


def test_exchanged_paths_show_what_chance_spells():
    entries = [
        DirectoryEntry((name,), f"http://{name}.example/") for name in ("music", "finance", "sailing", "astronomy")
    ]
    row = directory_row("D", entries)
    assert row["own"] == 4
    assert row["by_chance"]["own"] < 4


def test_a_directory_is_counted_once(folder, tmp_path):
    path, steps = tmp_path / "E2.jsonl", []
    for _ in range(2):
        assert directories_run(path, lambda done, total: steps.append((done, total))) == []
    assert len(read_rows(path)) == 3
    assert steps == [(1, 3), (2, 3), (3, 3)]


def test_without_the_files_the_reason_is_given(tmp_path, monkeypatch):
    monkeypatch.setenv("THRESHER_WEBS", str(tmp_path))
    [trouble] = directories_run(tmp_path / "E2.jsonl", lambda done, total: None)
    assert trouble.startswith("not available: the directories must be in the folder")
    monkeypatch.delenv("THRESHER_WEBS")
    assert "THRESHER_WEBS must name" in directories_run(tmp_path / "E2.jsonl", lambda done, total: None)[0]

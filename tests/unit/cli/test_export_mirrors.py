"""Mirrors can be listed from the command line."""

import json
import sys
from contextlib import closing

import pytest

from tests.unit.search.test_mirrors import site
from thresher import cli
from thresher.archive.pages import PageWriter


@pytest.fixture
def crawl(tmp_path):
    folder = tmp_path / "crawl"
    folder.mkdir()
    (folder / "topic.yaml").write_text("title: {en: words}\nseeds: ['http://a.example/0']\n", encoding="utf-8")
    with closing(PageWriter(folder / "pages" / "w1.db")) as writer:
        writer.write([*site("a.example", range(6)), *site("b.example", range(5)), *site("c.example", range(20, 26))])
    return folder


def call(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["thresher", "export", *map(str, arguments)])
    try:
        cli.main()
    except SystemExit as end:
        return end.code or 0
    return 0


def test_each_pair_of_mirrors_is_a_row(crawl, monkeypatch, capsys):
    assert call(monkeypatch, crawl, "--mirrors") == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == {"host": "a.example", "other": "b.example", "common": 5, "share": 1.0}
    assert "1 mirrors" in said.err


def test_mirrors_are_a_table_of_their_own(crawl, monkeypatch, capsys):
    assert call(monkeypatch, crawl, "--mirrors", "--hosts") == 1
    assert "one at a time" in capsys.readouterr().err

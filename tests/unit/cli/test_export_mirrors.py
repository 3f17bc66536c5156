"""Mirrors can be listed from the command line."""

import json
from contextlib import closing

import pytest

from tests.unit.search.test_mirrors import site
from thresher.storage.page_store import PageStoreWriter


@pytest.fixture
def crawl(tmp_path):
    folder = tmp_path / "crawl"
    folder.mkdir()
    (folder / "topic.yaml").write_text("title: {en: words}\nseeds: ['http://a.example/0']\n", encoding="utf-8")
    with closing(PageStoreWriter(folder / "pages" / "w1.db")) as writer:
        writer.write([*site("a.example", range(6)), *site("b.example", range(5)), *site("c.example", range(20, 26))])
    return folder


def test_each_pair_of_mirrors_is_a_row(crawl, shell):
    code, out, err = shell("export", crawl, "--mirrors")
    assert code == 0
    assert json.loads(out) == {"host": "a.example", "other": "b.example", "common": 5, "share": 1.0}
    assert "1 mirrors" in err


def test_mirrors_are_a_table_of_their_own(crawl, shell):
    code, _, err = shell("export", crawl, "--mirrors", "--hosts")
    assert code == 1
    assert "one at a time" in err

"""Bookmark files of browsers and plain lists."""

import pytest

from thresher.config.schema import CrawlConfig
from thresher.errors import ConfigError
from thresher.seeding.base import SeedQuery
from thresher.seeding.bookmarks import BookmarkFile

QUERY = SeedQuery(phrases={"en": "solar cells", "zh": "太阳能电池"})
NETSCAPE = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<DL><p>
    <DT><H3>Reading</H3>
    <DL><p>
        <DT><A HREF="https://tea.example/" ADD_DATE="1700000000">Tea</A>
        <DT><A HREF="https://a.example/cells">Solar cells</A>
        <DT><A HREF="https://b.example/">太阳能电池</A>
        <DT><A HREF="javascript:void(0)">no page</A>
    </DL><p>
</DL><p>
"""


def urls(path):
    return [candidate.url for candidate in BookmarkFile(str(path), CrawlConfig()).find(QUERY)]


def test_bookmarks_of_a_browser_with_words_of_the_topic_come_first(tmp_path):
    (tmp_path / "bookmarks.html").write_text(NETSCAPE, encoding="utf-8")
    found = urls(tmp_path / "bookmarks.html")
    assert set(found[:2]) == {"https://a.example/cells", "https://b.example/"}
    assert found[2:] == ["https://tea.example/"]


def test_a_plain_list_has_one_url_per_line(tmp_path):
    (tmp_path / "list.txt").write_text("# mine\nhttps://a.example/tea\n\nnot a url\nhttps://A.example/solar # good\n")
    assert urls(tmp_path / "list.txt") == ["https://a.example/solar", "https://a.example/tea"]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match="there is no file"):
        urls(tmp_path / "none.html")

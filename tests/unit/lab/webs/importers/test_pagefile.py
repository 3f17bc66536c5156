"""A page file is written and read by anybody: one JSON object per line."""

import json

import pytest
import zstandard

from thresher.errors import StoreError
from thresher_lab.webs.importers.pagefile import SourcePage, read_pages, write_web


def lines_of(path):
    with path.open("rb") as file:
        return [json.loads(line) for line in zstandard.ZstdDecompressor().stream_reader(file).read().splitlines()]


def write_lines(path, *lines):
    path.write_bytes(zstandard.compress("".join(line + "\n" for line in lines).encode()))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "small.pages.jsonl.zst"


def test_a_page_survives_writing_and_reading(path):
    page = SourcePage(
        url="http://a.example/",
        html="<title>T</title><p>文</p>",
        title="T",
        language="zh",
        topics=("A/B", "C"),
        charset="gbk",
        extra={"site": "a", "charset": "gbk"},
    )
    assert write_web(path, [page]) == 1
    assert list(read_pages(path)) == [page]


def test_what_a_page_does_not_say_is_read_from_its_markup(path):
    html = '<title>Sea</title><p>The ship is at sea and the crew is on the deck.</p><a href="b.html">next</a>'
    write_web(path, [SourcePage(url="http://a.example/a.html", html=html)])
    [written] = lines_of(path)
    assert (written["title"], written["lang"]) == ("Sea", "en")
    assert written["links"] == [{"url": "http://a.example/b.html", "anchor": "next"}]
    assert written["text_len"] == len("Sea The ship is at sea and the crew is on the deck. next")


def test_an_alias_is_written_beside_the_page_that_it_means(path):
    page = SourcePage(
        url="http://a.example/x",
        html='<a href="/index.html">home</a>',
        aliases={"http://a.example/index.html": "http://a.example/"},
    )
    write_web(path, [page])
    [written] = lines_of(path)
    link = {"url": "http://a.example/", "anchor": "home", "href": "http://a.example/index.html"}
    assert written["links"] == [link]
    assert next(read_pages(path)).aliases == page.aliases


def test_of_pages_with_one_address_the_first_is_kept(path):
    pages = [SourcePage(url=url, html=url) for url in ("http://a.example", "http://a.example/#top", "ftp://a.example/")]
    assert write_web(path, pages) == 1
    assert next(read_pages(path)).html == "http://a.example"


def test_further_fields_become_extra_wherever_they_stand(path):
    bare = {"url": "http://a.example/", "html": ""}
    write_lines(path, json.dumps({**bare, "kind": "article"}), json.dumps({**bare, "extra": {"kind": "index"}}))
    assert [page.extra["kind"] for page in read_pages(path)] == ["article", "index"]


def test_a_file_that_breaks_off_leaves_no_file(path):
    def pages():
        yield SourcePage(url="http://a.example/", html="")
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        write_web(path, pages())
    assert not path.exists()


@pytest.mark.parametrize("line", ["no json", '{"title": "no address"}', "[1]"])
def test_a_line_that_is_no_page_is_named(path, line):
    write_lines(path, '{"url": "http://a.example/", "html": ""}', line)
    with pytest.raises(StoreError, match="line 2"):
        list(read_pages(path))


def test_a_file_of_another_kind_is_refused(path):
    path.write_bytes(b"plain text")
    with pytest.raises(StoreError, match="no page file"):
        list(read_pages(path))

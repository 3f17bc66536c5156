"""A link by another spelling of an address is written as the page's own."""

import pytest

from thresher_lab.webs.importers.aliases import other_names, recorded_name, settle_links

PAGES = ["http://a.example/", "http://a.example/list/", "http://a.example/x%40y", "http://a.example/q?a=1&b=2"]


def resolve(url):
    names = {name: page for page in PAGES for name in other_names(page)}
    for page in [url if url in PAGES else None, *(names.get(name) for name in other_names(url))]:
        if page:
            return PAGES.index(page), page
    return None


def settled(html, url="http://a.example/here"):
    return settle_links(url, html, resolve)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.example/", "https://a.example/"),
        ("http://a.example/", "http://a.example/index.html"),
        ("http://a.example/list/", "http://a.example/list"),
        ("http://a.example/list", "http://a.example/list/default.asp"),
        ("http://a.example/x@y", "http://a.example/x%40y"),
        ("http://a.example/%E4%B8%AD", "https://a.example/%e4%b8%ad/"),
    ],
)
def test_spellings_of_one_address_share_a_name(one, other):
    assert set(other_names(one)) & set(other_names(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.example/", "http://b.example/"),
        ("http://a.example/A", "http://a.example/a"),
        ("http://a.example/?page=1", "http://a.example/?page=2"),
        ("http://a.example/myindex.html", "http://a.example/"),
    ],
)
def test_different_addresses_share_none(one, other):
    assert not set(other_names(one)) & set(other_names(other))


def test_what_the_source_records_is_surer_than_any_rule():
    assert recorded_name("http://a.example/") < min(other_names("http://a.example/"))


@pytest.mark.parametrize(
    "tag",
    [
        '<a href="/list/index.html">',
        "<a class='x' href='/list'>",
        "<A HREF=/list>",
        '<area shape=rect href="https://a.example/list/">',
        '<frame src="list/index.htm">',
        '<a\nhref = "\n/list\n">',
    ],
)
def test_links_of_every_form_are_settled(tag):
    assert '"http://a.example/list/"' in settled(tag)


@pytest.mark.parametrize(
    "html",
    [
        '<a href="/list/">its own address</a>',
        '<a href="../list/">the same</a>',
        '<a href="http://b.example/index.html">elsewhere</a>',
        '<a href="/gone/index.html">dead</a>',
        '<!-- <a href="/list">a comment</a> -->',
        "<script>document.write('<a href=\"/list\">')</script>",
        '<img src="/list">',
        '<a data-href="/list">',
        '<a href="mailto:x@y">',
        "<p>a < b and <b>no tag</p>",
    ],
)
def test_everything_else_is_left_as_it_was(html):
    assert settled(html) == html


def test_an_address_is_escaped_when_it_is_written():
    assert settled('<a href="https://a.example/q?a=1&amp;b=2">') == '<a href="http://a.example/q?a=1&amp;b=2">'


def test_relative_links_start_from_the_base():
    assert '"http://a.example/list/"' in settled('<base href="/list/"><a href="index.html">', url="http://a.example/z/")

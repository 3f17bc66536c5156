"""Any bytes become a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.parsing.html import MAX_TEXT_CHARACTERS, parse

URL = "http://a.example/dir/page.html"
SNIPPETS = (
    "<a href=x>",
    "</a>",
    "<p>",
    "</p>",
    "<b>",
    "</b>",
    "<table>",
    "<td>",
    "<frameset>",
    "<frame src=y>",
    "<h1>",
)
ODDITIES = (
    "<!--",
    "-->",
    "<svg>",
    "<math>",
    "<template>",
    "</body>",
    "<select>",
    "<",
    "&",
    "&#0;",
    "\0",
    "中",
    "<base href='//'>",
)
MARKUP = st.lists(st.sampled_from(SNIPPETS + ODDITIES), max_size=30).map("".join)


def page_of(markup, content_type="text/html; charset=utf-8"):
    return parse(URL, markup.encode(), content_type)


def test_a_page_is_read_in_all_its_parts():
    page = page_of(
        "<html lang=de><head><title> The\n history </title><meta name=Keywords content='a, b'>"
        "<meta name=description content='What it  is'></head>"
        "<body><h1>The game</h1><p>It is <b>old</b> and <a href=x>known</a> to the world.</p><h3>End</h3></body></html>"
    )
    assert (page.url, page.title, page.headings) == (URL, "The history", ("The game", "End"))
    assert (page.keywords, page.description) == ("a, b", "What it is")
    assert page.text == "The history The game It is old and known to the world. End"
    assert page.language == "en"
    assert [link.url for link in page.links] == ["http://a.example/dir/x"]
    assert (page.noindex, page.nofollow) == (False, False)


def test_relative_links_start_from_the_base_element():
    assert page_of("<base href='/other/'><a href=x>x</a>").links[0].url == "http://a.example/other/x"


def test_a_useless_base_element_is_ignored():
    assert page_of("<base href='javascript:1'><a href=x>x</a>").links[0].url == "http://a.example/dir/x"


@pytest.mark.parametrize(
    ("content", "noindex", "nofollow"),
    [
        ("noindex", True, False),
        ("NoFollow", False, True),
        ("noindex, nofollow", True, True),
        ("none", True, True),
        ("index,follow,max-image-preview:none", False, False),
    ],
)
def test_robots_rules_of_the_page_are_read(content, noindex, nofollow):
    page = page_of(f"<meta name=ROBOTS content='{content}'>")
    assert (page.noindex, page.nofollow) == (noindex, nofollow)


def test_the_content_decides_the_language_and_the_attribute_only_when_it_cannot():
    assert page_of("<html lang=en><p>南开大学是一所大学").language == "zh"
    assert page_of("<html lang=zh-CN><p>Login").language == "zh"
    assert page_of("<html lang='!'><p>Login").language == ""


def test_the_declared_charset_is_corrected_before_parsing():
    body = "<title>南开大学</title><p>这是我们的网站".encode("gbk")
    assert parse(URL, body, "text/html; charset=utf-8").title == "南开大学"


def test_feeds_in_the_head_are_found():
    page = page_of(
        "<link rel=alternate type=application/rss+xml href=/feed><link rel=canonical href=/c>"
        "<link rel=Alternate type='application/atom+xml' href=/atom>"
        "<link rel=alternate hreflang=de href=/de><link rel=alternate type=text/html href=/m>"
    )
    assert page.feeds == ("http://a.example/feed", "http://a.example/atom")
    assert page.canonical == "http://a.example/c"


def test_plain_text_has_neither_markup_nor_links():
    page = page_of("if a <b and c> d:\n  <a href=x>see</a>", "text/plain; charset=utf-8")
    assert page.title == "if a <b and c> d:"
    assert page.text == f"{page.title} if a <b and c> d: <a href=x>see</a>"
    assert page.links == ()


def test_text_ends_somewhere():
    assert len(page_of("word " * MAX_TEXT_CHARACTERS).text) == MAX_TEXT_CHARACTERS


def test_an_empty_body_is_an_empty_page():
    assert (page_of("").text, page_of("").links, page_of("").language) == ("", (), "")


@given(st.binary(), st.sampled_from(["", "text/html", "text/html; charset=gbk", "text/plain", "\ud800"]))
def test_no_bytes_raise(body, content_type):
    parse(URL, body, content_type)


@given(MARKUP)
def test_no_markup_raises_and_positions_count_the_links(markup):
    links = page_of(markup).links
    assert [link.position for link in links] == list(range(len(links)))


@given(st.text())
def test_no_address_raises(url):
    assert parse(url, b"<a href=x>x</a>").url == url


@pytest.mark.parametrize(
    ("markup", "canonical"),
    [
        ('<link rel="canonical" href="/b">', "http://a.example/b"),
        ('<link rel="CANONICAL" href=" http://b.example/c#d ">', "http://b.example/c"),
        ('<base href="http://b.example/x/"><link rel=canonical href=y>', "http://b.example/x/y"),
        ('<link rel=canonical href="/a/b">', "http://a.example/a/b"),
        ('<link rel=canonical href="/1"><link rel=canonical href="/2">', "http://a.example/1"),
        ('<link rel=canonical href="/">', ""),  # set once for all pages of a site, by mistake
        ('<link rel=canonical href="javascript:1">', ""),
        ('<link rel=stylesheet href="/b">', ""),
        ("", ""),
    ],
)
def test_a_page_may_name_the_one_to_keep(markup, canonical):
    assert parse("http://a.example/a/b", markup.encode(), "text/html").canonical == canonical


def test_the_text_of_blocks_ends_where_that_of_the_page_does():
    half = b"x" * (MAX_TEXT_CHARACTERS // 2)
    page = parse(URL, b"".join(b"<div>%s y %d</div>" % (half, number) for number in range(4)))
    assert len(page.blocks) == 4
    assert sum(map(len, page.blocks)) == MAX_TEXT_CHARACTERS

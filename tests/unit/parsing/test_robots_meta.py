"""What a page asks of crawlers, in headers and in its own words."""

import pytest

from thresher.parsing.html import Directives, parse, read_header, read_words, with_header
from thresher.records import ParsedPage

NOTHING, NOINDEX, NOFOLLOW, BOTH = (
    Directives(),
    Directives(noindex=True),
    Directives(nofollow=True),
    Directives(True, True),
)


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("", NOTHING),
        ("index, follow", NOTHING),
        ("all", NOTHING),
        ("noindex", NOINDEX),
        ("NoIndex,NOFOLLOW", BOTH),
        ("noindex nofollow", BOTH),
        ("noindex;nofollow", BOTH),
        ("none", BOTH),
        (" none , noarchive", BOTH),
        ("noindexing, unfollow, nonesuch, indexifembedded", NOTHING),
        ("max-snippet:-1, nofollow", NOFOLLOW),
    ],
)
def test_words_are_read_whole_and_in_any_case(words, asked):
    assert read_words(words) == asked


@pytest.mark.parametrize(
    ("lines", "asked"),
    [
        ("noindex", NOINDEX),
        ("noarchive\nnofollow", NOFOLLOW),
        ("noindex\nnofollow", BOTH),
        ("thresher: noindex", NOINDEX),
        ("Thresher: none", BOTH),
        ("*: nofollow", NOFOLLOW),
        ("reaper: none", NOTHING),
        ("reaper: noindex, nofollow", NOTHING),
        ("reaper: noindex\nnofollow", NOFOLLOW),
        ("noindex, reaper: nofollow", NOINDEX),
        ("reaper: none, thresher: nofollow", NOFOLLOW),
        ("thresher: noindex\nreaper: nofollow", NOINDEX),
        ("unavailable_after: 25 Jun 2010 15:00:00 PST", NOTHING),
        ("unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, nofollow", NOFOLLOW),
        ("max-snippet: 0, noindex", NOINDEX),
        ("thresher: unavailable_after: 1 Jan 2020, noindex", NOINDEX),
        (":", NOTHING),
        (",,,:,", NOTHING),
    ],
)
def test_headers_are_read_line_by_line_and_for_us(lines, asked):
    assert read_header(lines) == asked


@pytest.mark.parametrize(
    ("markup", "asked"),
    [
        ('<meta name="robots" content="noindex">', NOINDEX),
        ('<meta name="ROBOTS" content="NOFOLLOW">', NOFOLLOW),
        ('<meta name="thresher" content="none">', BOTH),
        ('<meta name="Thresher" content="noindex"><meta name="robots" content="nofollow">', BOTH),
        ('<meta name="reaper" content="none">', NOTHING),
        ('<meta name="robots" content="index,follow"><meta name="robots" content="noindex">', NOINDEX),
    ],
)
def test_meta_elements_for_all_and_for_us_hold_together(markup, asked):
    page = parse("http://a.example/", markup.encode(), "text/html")
    assert Directives(page.noindex, page.nofollow) == asked


def test_a_header_adds_to_what_the_page_asks():
    page = with_header(ParsedPage(url="http://a.example/", noindex=True), "nofollow")
    assert page.noindex
    assert page.nofollow

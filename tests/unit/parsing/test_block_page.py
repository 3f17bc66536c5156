"""Block pages are recognized by two signs or more; ordinary pages that share words or elements with them are not."""

import re

import pytest

from testing.block_pages import PageCase, article, document, near_misses, page, walls
from thresher.parsing.block_page import MAX_BYTES, block_page, prose_size
from thresher.parsing.html import parse
from thresher.records import BlockKind, ParsedPage

CHINESE = re.compile("[\u4e00-\u9fff]")


def detected(case):
    fetched = case.fetched
    return block_page(parse(fetched.url, fetched.body, fetched.headers["content-type"]), fetched)


@pytest.mark.parametrize("case", walls(), ids=lambda case: case.name)
def test_a_block_page_is_detected_with_its_kind(case):
    found = detected(case)
    assert found is not None
    assert found.kind is case.kind
    assert found.evidence


@pytest.mark.parametrize("case", near_misses(), ids=lambda case: case.name)
def test_an_ordinary_page_is_not(case):
    assert detected(case) is None


@pytest.mark.parametrize("cases", [walls(), near_misses()], ids=["walls", "near misses"])
def test_there_are_sixty_cases_of_each_in_both_languages(cases):
    chinese = [case for case in cases if CHINESE.search(case.html)]
    assert len(cases) >= 60
    assert len(chinese) >= 15
    assert len({case.name for case in cases}) == len(cases)


def test_the_reason_begins_with_that_of_its_kind():
    [first, *_] = walls()
    found = detected(first)
    assert str(found.reason).startswith(f"{BlockKind.CHALLENGE.reason} (")


def test_a_long_page_is_never_blocked_whatever_it_says():
    html = page("Just a moment...", article(paragraphs=60) + "<script>window._cf_chl_opt={}</script>")
    assert detected(PageCase(name="long", kind=None, html=html)) is None


def test_a_large_response_is_not_parsed_again():
    html = document("Log in", f"<form><input type=password></form><!--{'x' * MAX_BYTES}-->")
    assert detected(PageCase(name="large", kind=None, html=html)) is None


def test_text_in_links_does_not_count_and_a_chinese_character_counts_three_times():
    linked = parse(
        "http://a.example/", "<p>四字文本</p><a href=/b>链接里的文字</a>".encode(), "text/html; charset=utf-8"
    )
    assert prose_size(linked) == pytest.approx(12, abs=2)
    assert prose_size(ParsedPage(url="http://a.example/", text="abc")) == 3

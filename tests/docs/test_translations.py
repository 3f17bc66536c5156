"""A Chinese page holds what its English original holds: code, headings, links and figures; its text is Chinese."""

import re
from collections import Counter
from os.path import relpath

import pytest

from tests.docs.blocks import ORIGINALS, ROOT, blocks_of
from tests.docs.prose import CHINESE, read_prose
from tests.docs.test_links import HEADING, LINK, anchors, prose

COMMENT = re.compile(r"(^|\s+)# .*$", flags=re.MULTILINE)
MAY_DIFFER = re.compile(r"!\[[^\]]*\]\([^)]*\)|(?<=\])\([^)]*\)|<!--.*?-->", flags=re.DOTALL)
"""Words of pictures, targets of links, reasons why a block is not run."""
CODE = re.compile(r"`([^`]+)`")
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
WORD = re.compile(r"[A-Za-z]*[a-z]")
each_page = pytest.mark.parametrize("page", ORIGINALS, ids=lambda page: str(page.relative_to(ROOT)))


@each_page
def test_both_pages_hold_the_same_blocks_but_for_comments(page):
    assert blocks(page) == blocks(ORIGINALS[page])


def blocks(page):
    return [(block.language, COMMENT.sub("", block.text)) for block in blocks_of(page)]


@each_page
def test_both_pages_have_headings_of_the_same_levels(page):
    assert levels(page) == levels(ORIGINALS[page])


def levels(page):
    return [heading["level"] for heading in HEADING.finditer(prose(page))]


@each_page
def test_both_pages_lead_to_the_same_places(page):
    assert places(page) == places(ORIGINALS[page])


def places(page):
    """Count the targets of the links, in English where there are two: pages, headings, pictures."""
    return Counter(in_english(target, anchor) for target, anchor in links(page))


def links(page):
    for link in LINK.finditer(prose(page)):
        yield (page.parent / link["path"]).resolve() if link["path"] else page, link["anchor"]


def in_english(target, anchor):
    if target not in ORIGINALS:
        return target.with_name(target.name.replace("-zh.png", ".png")), anchor
    english = ORIGINALS[target]
    return english, anchor and dict(zip(anchors(target), anchors(english), strict=True))[anchor]


@each_page
def test_a_chinese_page_leads_to_chinese_pages_where_there_are_some(page):
    assert {target for target, _ in links(page)} & {*ORIGINALS.values()} == {ORIGINALS[page]}


@each_page
def test_each_page_begins_with_a_link_to_the_other(page):
    english = ORIGINALS[page]
    assert third_line(english) == f"English · [中文]({relpath(page, english.parent)})"
    assert third_line(page) == f"[English]({relpath(english, page.parent)}) · 中文"


def third_line(page):
    return page.read_text(encoding="utf-8").splitlines()[2]


@each_page
def test_text_and_every_row_of_a_table_hold_the_same_code_and_figures(page):
    english, chinese = prose(ORIGINALS[page]), prose(page)
    assert list(map(facts, rows(chinese))) == list(map(facts, rows(english)))
    assert facts(chinese) == facts(english)


def rows(text):
    return [line for line in text.splitlines() if line.startswith("|")]


def facts(text):
    """Return the code and the figures of a text."""
    text = MAY_DIFFER.sub("", text)
    return {" ".join(code.split()) for code in CODE.findall(text)}, set(NUMBER.findall(text))


@each_page
def test_paragraphs_headings_and_rows_are_chinese_unless_they_are_one_word(page):
    for part in read_prose(page.read_text(encoding="utf-8")).parts:
        assert CHINESE.search(part.text) or len(WORD.findall(part.text)) < 2, part.text


def test_there_are_chinese_pages():
    assert len(ORIGINALS) > 1

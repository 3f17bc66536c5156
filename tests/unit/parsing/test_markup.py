"""Hostile markup is cut before it costs anything; honest markup stays as it is."""

import time

import pytest

from thresher.parsing.html import parse
from thresher.parsing.markup import MAX_CHARACTERS, limit_markup

FORMATTING = [f"<b id={number}>" for number in range(3_000)]
HOSTILE = {
    "deep": "<div>" * 100_000,
    "deep and closed": "<div>" * 100_000 + "</div>" * 100_000,
    "deep behind idle end tags": "<div></x>" * 50_000,
    "deep under paragraphs": "<span>" * 20_000 + "<div></div>" * 20_000,
    "formatting opened anew in each paragraph": "<p>" + "".join(FORMATTING) + "</p>" + "<p>x</p>" * 3_000,
    "attributes": "<p " + " ".join(f"a{number}" for number in range(200_000)) + ">",
    "attributes behind brackets": "<p " + " ".join(f"a{number}='<'" for number in range(60_000)) + ">",
    "an endless attribute": '<a href="' + "x" * 20_000_000,
    "links": "<a href=/x>y</a> " * 300_000,
    "entities": "&amp;" * 1_000_000,
    "brackets": "<" * 2_000_000,
    "quotes": "<a='" * 500_000,
    "zeros": "\0" * 1_000_000,
    "tables": "<table><tr><td>" * 30_000,
}


@pytest.mark.parametrize("markup", HOSTILE.values(), ids=HOSTILE)
def test_hostile_markup_is_parsed_in_bounded_time(markup):
    started = time.process_time()
    page = parse("http://a.example/", markup.encode())
    assert time.process_time() - started < 5  # a tenth of that on an idle machine; unbounded, minutes
    assert len(page.links) <= 1_000


def test_ten_thousand_nested_elements_keep_their_text():
    page = parse("http://a.example/", b"<div>" * 10_000 + b"<a href=/x>deep</a>")
    assert page.text == "deep"
    assert page.links[0].tag_path.startswith("html/body/div/div/")


@pytest.mark.parametrize(
    "markup",
    [
        "<p>plain",
        "<ul>" + "<li><a href=/x>one</a>" * 5_000,
        "<table>" + "<tr><td>cell" * 5_000,
        "<div><p>text</p></div>" * 10_000,
        '<img src="data:image/png;base64,' + "A" * 200_000 + '">',
    ],
)
def test_honest_markup_stays_as_it_is(markup):
    assert limit_markup(markup) == markup


def test_formatting_is_dropped_before_it_multiplies_and_the_text_stays():
    page = parse("http://a.example/", "".join(FORMATTING + ["<p>word</p> "] * 1_000).encode())
    assert page.text == "word " * 999 + "word"


def test_the_end_of_an_endless_page_is_dropped():
    assert len(limit_markup("x" * (MAX_CHARACTERS + 1))) == MAX_CHARACTERS

"""Generated markup is plain, and as long as it should be."""

from random import Random

import pytest

from thresher.parsing.html import parse
from thresher_lab.webs.page_markup import Draft, write_page
from thresher_lab.webs.vocabulary.prose import prose


def draft(language="en", **more):
    writer = prose(language, "Arts/Music", 0.6)
    values = {
        "title": "Songs",
        "charset": "utf-8",
        "keywords": ["violin", "song"],
        "prose": writer,
        "noise": prose(language, "Life/Cooking", 0.6),
        "navigation": [("http://a.example/", "Home")],
        "links": [(f"http://a.example/{number}", f"page {number}") for number in range(10)],
        "bytes": 5_000,
    }
    return Draft(**{**values, **more})


def read(html):
    return parse("http://a.example/x", html.encode())


def test_all_links_are_there_in_order():
    links = [(link.url, link.anchor) for link in read(write_page(draft(), Random(1))).links]
    assert links[0] == ("http://a.example/", "Home")
    assert links[1:] == list(draft().links)


def test_some_links_stand_in_the_text_and_some_in_a_list():
    paths = [link.tag_path for link in read(write_page(draft(), Random(1))).links]
    assert {path.split("/")[-2] for path in paths} == {"div", "p", "li"}


def test_title_heading_and_keywords_are_there():
    page = read(write_page(draft(), Random(1)))
    assert (page.title, page.headings[0], page.keywords) == ("Songs", "Songs", "violin,song")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("size", [2_500, 12_000])
def test_a_page_is_about_as_long_as_wanted(language, size):
    html = write_page(draft(language, bytes=size), Random(1))
    assert len(html.encode()) == pytest.approx(size, rel=0.15)


def test_a_page_without_links_and_room_still_says_something():
    page = read(write_page(draft(links=[], bytes=10), Random(1)))
    assert len(page.text) > 100

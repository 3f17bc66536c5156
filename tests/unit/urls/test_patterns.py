"""URLs that a site counts, hashes or dates have one template."""

import pytest

from thresher.urls.scope import is_dated, template


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/", ""),
        ("/solar/cells.html", ""),
        ("/article/17", "/article/#"),
        ("/article-17-2.html", "/article-#-#.html"),
        ("/in/00ff12ab34cd56ef", "/in/@"),
        ("/in/3f2504e0-4f89-11d3-9a0c-0305e82c3301", "/in/@"),
        ("/facade/decade/", ""),  # words that could be hexadecimal numbers
        ("/calendar/2026-11-15", "/calendar/date"),
        ("/calendar/2026/11/15/", "/calendar/date/"),
        ("/calendar/2026/11/", "/calendar/date/"),
        ("/20261115.html", "/date.html"),
        ("/a?b=1&c=red", "/a?b&c"),
        ("/a?c=blue&b=2", "/a?b&c"),
        ("/a?facet1=2&facet7=3", "/a?facet#"),
        ("/a?date=2026-11-15", "/a?date=date"),
    ],
)
def test_what_varies_is_folded(path, pattern):
    assert template("http://a.example" + path) == pattern


def test_the_host_is_no_part_of_it():
    assert template("http://a1.example/x/2") == template("https://b.example:8080/x/3") == "/x/#"


def test_calendars_are_dated():
    assert is_dated(template("http://a.example/calendar/2026/11/15/"))
    assert not is_dated(template("http://a.example/article/17"))

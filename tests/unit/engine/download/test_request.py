"""Every request carries the same headers, and no header can add another."""

import pytest

from thresher.config.schema import CrawlConfig
from thresher.engine.download.request import checked_lines, user_agent, usual_headers


def test_the_user_agent_names_a_contact():
    assert user_agent("me@example.org").endswith(" (+me@example.org)")
    assert "+" not in user_agent("")


def test_the_languages_of_a_crawl_are_preferred_in_their_order():
    headers = usual_headers(CrawlConfig(languages=["zh", "en"]))
    assert headers["Accept-Language"] == "zh;q=1.0, en;q=0.9, *;q=0.1"
    assert headers["Accept-Encoding"] == "gzip, deflate, br, zstd"


def test_markdown_is_preferred_if_the_user_wants_it():
    assert usual_headers(CrawlConfig())["Accept"].startswith("text/html,application/xhtml+xml;q=0.9,")
    wanted = usual_headers(CrawlConfig(documents={"prefer_markdown": True}))
    assert wanted["Accept"].startswith("text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,")


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        ({"de": "Brot", "zh": "面包"}, "de;q=1.0, zh;q=0.9, *;q=0.1"),
        ({"und": "Gartenrosen"}, "*"),
        ({"und": "Gartenrosen", "fr": "roses"}, "fr;q=1.0, *;q=0.1"),
    ],
)
def test_with_automatic_languages_those_of_the_phrases_are_preferred(titles, expected):
    assert usual_headers(CrawlConfig(languages="auto", title=titles))["Accept-Language"] == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [("A", "b\r\nC: d"), ("A", "b\nC: d"), ("A\r\nC", "d"), ("A", ""), ("A", "é"), ("A:", "b"), ("", "b")],
)
def test_a_header_that_would_break_the_request_is_refused(name, value):
    with pytest.raises(ValueError, match="not a header"):
        checked_lines({name: value})


def test_lines_are_sent_in_their_order():
    assert checked_lines({"B": "1", "A": "2; q=0.1\t"}) == [("B", "1"), ("A", "2; q=0.1\t")]

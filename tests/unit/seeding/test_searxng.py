"""A search source is asked over real sockets, with the delay of the crawl, and its answers are not trusted."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.e2e.conftest import serving
from thresher.config.schema import CrawlConfig
from thresher.errors import ConfigError
from thresher.seeding.base import MAX_PER_SOURCE, SourceFailed
from thresher.seeding.searxng import SearchResult, SearxSearch

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def engine():
    with serving() as site:
        yield site


def answer(engine, query, body, status=200):
    engine.pages[f"/search?q={query}&format=json"] = (status, JSON, body if isinstance(body, str) else json.dumps(body))


def search(engine, query="x", **more):
    return SearxSearch(
        engine.url("/search"), CrawlConfig.model_validate({"politeness": {"delay_seconds": 3.0}}), **more
    )


def test_results_are_canonical_urls_in_their_order(engine):
    rows = [{"url": "http://B.example", "title": "B"}, {"url": "ftp://no"}, "no", {"url": "http://a.example/x#y"}]
    answer(engine, "x", {"query": "x", "results": rows})
    found = search(engine).search("x")
    assert found == [SearchResult(url="http://b.example/", title="B"), SearchResult(url="http://a.example/x")]


def test_the_query_is_quoted_and_json_is_asked_for(engine):
    with pytest.raises(SourceFailed):
        search(engine).search('"http://a.example/?x=1&y=äö"')
    [(_, path, headers)] = engine.requests
    assert parse_qs(urlsplit(path).query) == {"q": ['"http://a.example/?x=1&y=äö"'], "format": ["json"]}
    assert headers["Accept"] == "application/json"
    assert headers["User-Agent"].startswith("Thresher/")


def test_between_two_queries_there_is_the_delay(engine):
    answer(engine, "x", {"results": []})
    slept, now = [], [100.0]
    asked = search(engine, clock=lambda: now[0], sleep=slept.append)
    asked.search("x")
    now[0] += 1.0
    asked.search("x")
    assert slept == [0.0, 2.0]


def test_there_is_a_limit_of_results(engine):
    answer(engine, "x", {"results": [{"url": f"http://a.example/{n}"} for n in range(2 * MAX_PER_SOURCE)]})
    assert len(search(engine).search("x")) == MAX_PER_SOURCE


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ("{}", 200, "did not answer with the JSON of SearXNG"),
        ("<html>", 200, "did not answer with JSON; give the address"),
        ('{"results": 3}', 200, "did not answer with the JSON of SearXNG"),
        ("", 403, "HTTP 403; SearXNG answers 403 unless its settings list json"),
        ("", 429, "HTTP 429; too many requests; try again later"),
        ("", 500, "HTTP 500$"),
    ],
)
def test_another_answer_is_an_error_that_says_what_to_do(engine, body, status, words):
    answer(engine, "x", body, status)
    with pytest.raises(match=words):
        search(engine).search("x")


def test_a_source_that_is_not_there_is_named():
    with serving() as gone:
        pass
    with pytest.raises(match=r"does not answer: connection refused.* is its address right"):
        search(gone).search("x")


@pytest.mark.parametrize("url", ["search.example", "http://a.example/search?q=x"])
def test_the_address_must_be_that_of_a_search(url):
    with pytest.raises(ConfigError, match="not an http or https URL without a query"):
        SearxSearch(url, CrawlConfig())

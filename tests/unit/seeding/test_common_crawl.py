"""The URL index is asked for URLs of named hosts with words of the topic."""

import pytest

from testing.seed_services.common_crawl import INDEX, CommonCrawlService
from thresher.config.schema import CrawlConfig
from thresher.seeding.base import SeedQuery, SourceFailed
from thresher.seeding.common_crawl import CommonCrawlIndex

CONFIG = CrawlConfig.model_validate({"politeness": {"delay_seconds": 0.0}})
QUERY = SeedQuery(phrases={"en": "perovskite solar cells"}, hosts=["a.example"])
URLS = [
    "https://a.example/tea.html",
    "https://a.example/solar-news.html",
    "https://a.example/perovskite/solar-cell.html",
    "https://b.example/solar.html",
]


@pytest.fixture
def service():
    service = CommonCrawlService(URLS)
    with service.serving():
        yield service


def test_urls_with_the_most_words_of_the_topic_come_first(service):
    found = CommonCrawlIndex(service.url, CONFIG).find(QUERY)
    assert [candidate.url for candidate in found] == [URLS[2], URLS[1]]
    assert [path for path, _ in service.requests] == ["/collinfo.json", INDEX]


def test_an_index_can_be_named_itself(service):
    found = CommonCrawlIndex(service.url.replace("/collinfo.json", INDEX), CONFIG).find(QUERY)
    assert len(found) == 2
    assert [path for path, _ in service.requests] == [INDEX]


def test_a_host_without_captures_is_no_error(service):
    query = SeedQuery(phrases={"en": "solar"}, hosts=["c.example"])
    assert CommonCrawlIndex(service.url, CONFIG).find(query) == []


def test_without_hosts_it_says_what_it_needs(service):
    with pytest.raises(SourceFailed, match="--host"):
        CommonCrawlIndex(service.url, CONFIG).find(SeedQuery(phrases={"en": "solar"}))
    assert service.requests == []


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ((200, {}, b"<html>"), "did not answer with JSON"),
        ((200, {}, b"[]"), "a list of indexes"),
        ((429, {}, b""), "too many requests"),
        ((503, {}, b""), "HTTP 503"),
    ],
)
def test_another_answer_is_an_error(service, broken, words):
    service.broken = broken
    with pytest.raises(SourceFailed, match=words):
        CommonCrawlIndex(service.url, CONFIG).find(QUERY)


def test_a_broken_line_is_an_error(service):
    index = CommonCrawlIndex(service.url.replace("/collinfo.json", INDEX), CONFIG)
    service.broken = (200, {}, b'{"url": "https://a.example/solar.html"}\n{"url"')
    with pytest.raises(SourceFailed, match="one JSON object per line"):
        index.find(QUERY)

"""A wiki is asked by the MediaWiki API; the second language is reached by language links."""

import pytest

from testing.seed_services.mediawiki import Article, MediaWikiService
from thresher.config.schema import CrawlConfig
from thresher.seeding.base import SeedQuery, SourceFailed
from thresher.seeding.wikipedia import WikipediaArticles

CONFIG = CrawlConfig.model_validate({"politeness": {"delay_seconds": 0.0}})
TITLE = "Perovskite solar cell"
QUERY = SeedQuery(phrases={"en": "perovskite solar cell"})
ARTICLES = {
    "en": [
        Article(title="Solar power", url="https://en.wiki.example/wiki/Solar_power"),
        Article(
            title=TITLE,
            url="https://en.wiki.example/wiki/Perovskite_solar_cell",
            external=["//lab.example/cells", "https://lab.example/more", "https://news.example/cell"],
            languages={"zh": "钙钛矿太阳能电池"},
        ),
        Article(title="Tandem", url="https://en.wiki.example/wiki/Tandem", categories=[TITLE]),
    ],
    "zh": [Article(title="钙钛矿太阳能电池", url="https://zh.wiki.example/wiki/x", external=["https://中文.example/"])],
}


@pytest.fixture
def wiki():
    service = MediaWikiService(ARTICLES)
    with service.serving():
        yield service


def test_articles_come_first_then_members_and_external_links(wiki):
    found = WikipediaArticles(wiki.url, CONFIG).find(QUERY)
    assert [candidate.url for candidate in found] == [
        "https://en.wiki.example/wiki/Perovskite_solar_cell",
        "https://en.wiki.example/wiki/Solar_power",
        "https://en.wiki.example/wiki/Tandem",
        "https://lab.example/cells",
        "https://news.example/cell",
        "https://zh.wiki.example/wiki/x",
        "https://xn--fiq228c.example/",
    ]
    assert found[2].reason == f"in the category “{TITLE}”"


def test_the_title_in_the_second_language_is_known_then(wiki):
    source = WikipediaArticles(wiki.url, CONFIG)
    source.find(QUERY)
    assert source.titles == {"en": TITLE, "zh": "钙钛矿太阳能电池"}


def test_an_unknown_topic_has_no_candidates(wiki):
    assert WikipediaArticles(wiki.url, CONFIG).find(SeedQuery(phrases={"en": "zzz"})) == []


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ((200, {}, b'{"error": {"code": "maxlag", "info": "Waiting for a database server"}}'), "refused.*Waiting"),
        ((200, {}, b"[1]"), "the JSON of the MediaWiki API"),
        ((200, {}, b'{"query": {"pages": {"1": {}}}}'), "formatversion 2"),
        ((200, {}, b"<html>"), "did not answer with JSON"),
        ((429, {"Retry-After": "5"}, b""), "try again after 5 seconds"),
    ],
)
def test_another_answer_is_an_error(wiki, broken, words):
    wiki.broken = broken
    with pytest.raises(SourceFailed, match=words):
        WikipediaArticles(wiki.url, CONFIG).find(QUERY)

"""Candidates are judged, ranked by several kinds of evidence, and limited per host."""

import pytest

from thresher.config.folder import CrawlFolder
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.operations.create import NewCrawl, create_crawl
from thresher.operations.find_seeds import SeedLimits, add_seeds, find_seeds, fused
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import FetchedPage
from thresher.seeding.base import SeedCandidate, SeedQuery, SourceFailed, make_source
from thresher.topics.topic import TopicDefinition

TOPIC = TopicDefinition.from_phrase("perovskite solar cells")
QUERY = SeedQuery.of(TOPIC)
SOLAR = "Perovskite solar cells turn light into current, and perovskite tandem cells have a higher efficiency."
TEA = "How to brew a pot of green tea, which water to take, and how long to wait for it."


class Listed:
    """A source of given URLs."""

    def __init__(self, *urls, name="list"):
        self._found = [SeedCandidate(url=url, source=name, reason=f"place {n}") for n, url in enumerate(urls, start=1)]

    def find(self, query):
        return self._found


class Broken:
    def find(self, query):
        raise SourceFailed("it is away")


def fetch_from(pages):
    def fetch(crawl, urls):
        return {url: _page(url, pages[url]) if url in pages else Reason.of(ReasonKind.HTTP, 404) for url in urls}

    return fetch


def _page(url, words):
    body = f"<html><head><title>{words[:30]}</title></head><body><p>{words}</p></body></html>"
    return FetchedPage(url=url, status=200, headers={"content-type": "text/html"}, body=body.encode(), fetched_at=0.0)


@pytest.fixture
def crawl(tmp_path):
    create_crawl(CrawlFolder(tmp_path), NewCrawl(topic=TOPIC, contact="me@example.org"))
    return CrawlSetup.open(tmp_path)


def test_pages_about_the_topic_come_first_with_reasons(crawl):
    tea, solar = "http://a.example/tea", "http://b.example/solar"
    found = find_seeds(crawl, QUERY, {"x": Listed(tea, solar)}, fetch=fetch_from({tea: TEA, solar: SOLAR}))
    assert found.seeds[0].url == solar
    assert found.seeds[0].sources == {"list": "place 2"}
    assert "perovskite" in {term.lower() for term in found.seeds[0].terms}
    assert tea not in [seed.url for seed in found.seeds] or not found.seeds[-1].relevant


def test_there_are_few_of_a_host(crawl):
    urls = [f"http://a.example/{n}" for n in range(4)] + ["http://b.example/"]
    pages = {url: f"{SOLAR} {url}" for url in urls}
    found = find_seeds(crawl, QUERY, {"x": Listed(*urls)}, fetch=fetch_from(pages), limits=SeedLimits(per_host=2))
    hosts = [seed.url.split("/")[2] for seed in found.seeds]
    assert sorted(hosts) == ["a.example", "a.example", "b.example"]
    assert sum("more than 2 of a.example" in why for why in found.rejected.values()) == 2


def test_what_cannot_be_fetched_is_listed_with_the_reason(crawl):
    found = find_seeds(crawl, QUERY, {"x": Listed("http://a.example/gone")}, fetch=fetch_from({}))
    assert (found.seeds, found.fetched) == ([], 0)
    assert found.rejected == {"http://a.example/gone": "http 404"}


def test_one_source_that_fails_does_not_stop_the_others(crawl):
    url = "http://a.example/"
    found = find_seeds(crawl, QUERY, {"x": Broken(), "y": Listed(url)}, fetch=fetch_from({url: SOLAR}))
    assert [seed.url for seed in found.seeds] == [url]
    assert found.failures == {"x": "it is away"}
    with pytest.raises(SourceFailed, match="it is away"):
        find_seeds(crawl, QUERY, {"x": Broken()}, fetch=fetch_from({}))


def test_a_page_that_two_sources_found_names_both(crawl):
    url = "http://a.example/"
    sources = {"x": Listed(url, name="one"), "y": Listed(url, name="two")}
    [seed] = find_seeds(crawl, QUERY, sources, fetch=fetch_from({url: SOLAR})).seeds
    assert set(seed.sources) == {"one", "two"}


def test_fused_ranks_favour_what_is_good_in_all_orders():
    assert fused([[0.9, 0.8, 0.1], [2, 2, 0]]) == pytest.approx([1.0, (5 / 6 + 1) / 2, 5 / 7])


def test_accepted_seeds_are_added_once(crawl):
    assert add_seeds(crawl, ["http://a.example/", "http://b.example/"]) == ["http://a.example/", "http://b.example/"]
    assert add_seeds(crawl, ["http://a.example/", "http://c.example/"]) == ["http://c.example/"]
    assert crawl.seeds() == ["http://a.example/", "http://b.example/", "http://c.example/"]


def test_known_seeds_are_no_candidates(crawl):
    add_seeds(crawl, ["http://a.example/"])
    pages = {"http://a.example/": SOLAR, "http://b.example/": SOLAR + " More."}
    found = find_seeds(crawl, QUERY, {"x": Listed(*pages)}, fetch=fetch_from(pages))
    assert [seed.url for seed in found.seeds] == ["http://b.example/"]
    assert found.rejected == {"http://a.example/": "a seed of the crawl already"}


def test_an_unknown_source_is_an_error(crawl):
    with pytest.raises(ConfigError, match="no seed source is called 'searx'; did you mean 'searxng'"):
        make_source("searx=http://a.example/", crawl.config)
    with pytest.raises(ConfigError, match="needs the address of a search"):
        make_source("searxng", crawl.config)

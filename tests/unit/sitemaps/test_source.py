"""Sitemaps come from robots.txt or the usual place, stay on their host, and lead to URLs with a low score."""

import json
from dataclasses import replace

import pytest

from thresher.records import FetchedPage, Lease, RequestKind
from thresher.sitemaps import source
from thresher.sitemaps.source import SitemapHosts, SitemapSource
from thresher.strategies.best_first import BestFirst
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

LEASE = Lease(url="http://a.example/start", host="a.example", score=1.0, fence=1, until=1)
READING = replace(LEASE, url="http://a.example/sitemap.xml", kind=RequestKind.SITEMAP, depth_left=3)


@pytest.fixture
def frontier():
    return MemoryFrontier()


@pytest.fixture
def sitemaps(frontier):
    return SitemapSource(frontier, BestFirst(), SitemapHosts())


def answer(*addresses, index=False):
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    listed = "".join(f"<{inner}><loc>{address}</loc></{inner}>" for address in addresses)
    body = f"<{outer}>{listed}</{outer}>".encode()
    return FetchedPage(url=READING.url, status=200, headers={}, body=body, fetched_at=1e9)


def urls(candidates):
    return [candidate.url for candidate in candidates]


async def test_the_usual_place_is_asked_with_the_first_page(sitemaps):
    [candidate] = await sitemaps.of_host(LEASE)
    assert (candidate.url, candidate.score) == ("http://a.example/sitemap.xml", 1.0)
    assert (candidate.kind, candidate.for_host, candidate.strategy_data) == (RequestKind.SITEMAP, "", {})
    assert await sitemaps.of_host(replace(LEASE, host_pages=1)) == []


async def test_what_robots_lists_comes_first(sitemaps):
    robots = "User-agent: *\nDisallow: /x\n  SITEMAP : /relative.xml\nsitemap: http://cdn.example/a.xml # ours\n"
    await sitemaps.listed("a.example", robots)
    [candidate] = await sitemaps.of_host(LEASE)
    assert (candidate.url, candidate.for_host) == ("http://cdn.example/a.xml", "a.example")


@pytest.mark.parametrize(("wanted", "count"), [(None, 0), (SitemapHosts(hosts=frozenset({"b.example"})), 0)])
async def test_only_the_wanted_hosts_are_asked(frontier, wanted, count):
    sitemaps = SitemapSource(frontier, BestFirst(), wanted)
    await sitemaps.listed("a.example", "Sitemap: http://a.example/listed.xml")
    assert len(await sitemaps.of_host(LEASE)) == count
    assert await frontier.get_state("a.example", source.LISTED) is None


async def test_pages_are_scored_as_links_of_a_seed_without_words(sitemaps):
    words, below, pages = await sitemaps.read(READING, answer("http://a.example/1", "/2", "http://a.example/1"))
    assert (below, urls(pages)) == ([], ["http://a.example/1", "http://a.example/2"])
    assert {page.score for page in pages} == {0.0}
    assert str(words) == "sitemap: 2 of 3 pages, 0 of 0 sitemaps"


async def test_pages_of_other_hosts_are_left_out(sitemaps):
    _, _, pages = await sitemaps.read(READING, answer("http://b.example/1", "ftp://a.example/2", "http://a.example/3"))
    assert urls(pages) == ["http://a.example/3"]


async def test_a_sitemap_elsewhere_speaks_for_the_host_whose_robots_lists_it(sitemaps):
    reading = replace(READING, url="http://cdn.example/a.xml", host="cdn.example", for_host="a.example")
    _, _, pages = await sitemaps.read(reading, answer("http://cdn.example/1", "http://a.example/2"))
    assert urls(pages) == ["http://a.example/2"]


async def test_an_index_leads_down_on_its_own_host_and_not_too_deep(sitemaps):
    found = answer("/1.xml", "http://b.example/2.xml", index=True)
    _, [below], _ = await sitemaps.read(READING, found)
    assert (below.url, below.depth_left) == ("http://a.example/1.xml", source.MAX_INDEX_DEPTH - 1)
    deep = replace(READING, depth_left=0)
    assert (await sitemaps.read(deep, found))[1] == []


async def test_the_files_and_urls_of_a_host_are_limited(sitemaps, frontier):
    for number in range(3):
        addresses = [f"/{number}-{place}" for place in range(4_000)]
        _, _, pages = await sitemaps.read(READING, answer(*addresses))
        assert len(pages) == (4_000, 4_000, 2_000)[number]
    _, below, _ = await sitemaps.read(READING, answer(*(f"/{n}.xml" for n in range(100)), index=True))
    assert len(below) == source.MAX_FILES_PER_HOST
    assert json.loads(await frontier.get_state("a.example", source.TAKEN)) == [50, 10_000]


async def test_a_sitemap_may_move_on_its_own_host(sitemaps):
    [moved] = sitemaps.moved(READING, "https://a.example/sitemap_index.xml")
    assert (moved.url, moved.redirects, moved.depth_left) == ("https://a.example/sitemap_index.xml", 1, 3)
    assert sitemaps.moved(READING, "http://b.example/sitemap.xml") == []
    assert sitemaps.moved(replace(READING, redirects=5), "http://a.example/x.xml") == []

"""Feeds are read where they are wanted, and their entries become candidates with titles as anchors."""

from dataclasses import replace

import pytest

from thresher.records import FetchedPage, Lease, ParsedPage
from thresher.sitemaps.feed_source import FeedSource, is_feed
from thresher.sitemaps.source import SitemapHosts
from thresher.strategies.best_first import BestFirst

LEASE = Lease(url="http://a.example/start", host="a.example", score=1.0, fence=1, until=1, hops=2)
PAGE = ParsedPage(url=LEASE.url, feeds=("http://a.example/feed", "http://b.example/feed"))
RSS = (
    b"<rss><channel><item><title>old</title><link>/1</link><pubDate>Mon, 01 Jan 2001 00:00:00 GMT</pubDate></item>"
    b"<item><title>new</title><description>about cells</description><link>http://c.example/2</link>"
    b"<pubDate>Mon, 03 Sep 2001 00:00:00 GMT</pubDate></item><item><link>/1</link></item></channel></rss>"
)


class Recording(BestFirst):
    def score(self, page, judgement, lease):
        self.seen = page, judgement
        return super().score(page, judgement, lease)


def answer(body=RSS):
    return FetchedPage(url=LEASE.url, status=200, headers={}, body=body, fetched_at=1e9)


def test_the_first_page_of_a_wanted_host_leads_to_its_own_feeds():
    feeds = FeedSource(BestFirst(), SitemapHosts())
    [candidate] = feeds.of_page(LEASE, PAGE)
    assert candidate.url == "http://a.example/feed"
    assert is_feed(replace(LEASE, carry=candidate.carry))
    assert feeds.of_page(replace(LEASE, host_pages=1), PAGE) == []


@pytest.mark.parametrize("wanted", [None, SitemapHosts(hosts=frozenset({"b.example"}))])
def test_other_hosts_are_not_asked_for_feeds_but_a_seed_may_be_one(wanted):
    feeds = FeedSource(BestFirst(), wanted)
    assert feeds.of_page(LEASE, PAGE) == []
    assert not feeds.is_wanted(LEASE)
    assert feeds.is_wanted(replace(LEASE, hops=0))


async def test_entries_are_links_with_titles_the_newest_first():
    strategy = Recording()
    candidates, words = await FeedSource(strategy, SitemapHosts()).read(LEASE, answer())
    page, judgement = strategy.seen
    assert [(link.url, link.anchor, link.context) for link in page.links] == [
        ("http://c.example/2", "new", "about cells"),
        ("http://a.example/1", "old", ""),
    ]
    assert not judgement.relevant
    assert {candidate.url for candidate in candidates} == {"http://c.example/2", "http://a.example/1"}
    assert words == "feed: 2 of 3 entries"


async def test_a_feed_that_is_a_seed_counts_as_relevant():
    strategy = Recording()
    await FeedSource(strategy, None).read(replace(LEASE, hops=0), answer())
    assert strategy.seen[1].relevant


async def test_a_flaw_is_named():
    candidates, words = await FeedSource(BestFirst(), None).read(LEASE, answer(b"<rss>"))
    assert candidates == []
    assert words.startswith("feed: 0 of 0 entries; not XML")


def test_a_redirect_stays_on_the_host():
    feeds = FeedSource(BestFirst(), None)
    assert [each.url for each in feeds.moved(LEASE, "http://a.example/new")] == ["http://a.example/new"]
    assert feeds.moved(LEASE, "http://b.example/new") == []
    assert feeds.moved(replace(LEASE, redirects=5), "http://a.example/new") == []

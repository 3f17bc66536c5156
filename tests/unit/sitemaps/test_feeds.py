"""RSS, Atom and JSON feeds are read within limits, with titles, summaries and dates.

They are read where they are wanted, and their entries become candidates with titles as anchors.
"""

import json
from dataclasses import replace

import pytest

from thresher.records import FetchedPage, Lease, ParsedPage, RequestKind
from thresher.sitemaps.feeds import MAX_ENTRIES, MAX_JSON_BYTES, FeedEntry, FeedSource, read_feed
from thresher.sitemaps.source import SitemapHosts
from thresher.strategies.best_first import BestFirst

NOW = 1_700_000_000.0
RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>A blog</title><link>http://a.example/</link>
<item><title>Solar &amp; wind</title><link>http://a.example/1</link>
<description>&lt;p&gt;On &lt;b&gt;cells&lt;/b&gt;&lt;/p&gt;</description>
<pubDate>Tue, 14 Nov 2023 10:00:00 GMT</pubDate></item>
<item><title>No link</title><guid>http://a.example/2</guid></item>
<item><title>Nowhere</title><guid>tag:a</guid></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>A blog</title><link href="http://a.example/"/>
<entry><title type="html">One</title><link rel="replies" href="/replies"/><link href="/one"/>
<updated>2023-11-14T10:00:00Z</updated><content type="xhtml"><div>some <b>text</b></div></content></entry></feed>"""
RDF = """<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/" xmlns:dc="dc"><channel><title>B</title></channel>
<item><title>Two</title><link>http://a.example/2</link><dc:date>2023-11-14</dc:date></item></rdf:RDF>"""


def test_rss_is_read():
    first, second = read_feed(RSS.encode(), now=NOW).entries
    assert first == FeedEntry("http://a.example/1", "Solar & wind", "On cells", 1_699_956_000.0)
    assert second == FeedEntry("http://a.example/2", "No link")


def test_atom_is_read():
    assert read_feed(ATOM.encode(), now=NOW).entries == [FeedEntry("/one", "One", "some text", 1_699_956_000.0)]


def test_rss_1_is_read():
    assert read_feed(RDF.encode(), now=NOW).entries == [FeedEntry("http://a.example/2", "Two", "", 1_699_920_000.0)]


def test_json_is_read():
    items = [
        {
            "id": "1",
            "url": "http://a.example/1",
            "title": "One",
            "content_html": "<p>text",
            "date_published": "2023-11-14",
        },
        {"id": "http://a.example/2", "content_text": "two"},
        {"id": 3},
    ]
    feed = {"version": "https://jsonfeed.org/version/1.1", "items": items}
    entries = read_feed(json.dumps(feed).encode(), "application/feed+json", now=NOW).entries
    assert entries[:2] == [
        FeedEntry("http://a.example/1", "One", "text", 1_699_920_000.0),
        FeedEntry("http://a.example/2", "", "two"),
    ]


def test_chinese_charsets_are_read():
    source = RSS.replace("Solar &amp; wind", "太阳能电池的研究和发展").replace("?>", ' encoding="gb2312"?>', 1)
    assert read_feed(source.encode("gb18030"), now=NOW).entries[0].title == "太阳能电池的研究和发展"


@pytest.mark.parametrize(
    ("body", "flaw"),
    [
        (b"", "not XML"),
        (b"<html>", "not XML"),
        (b'<!DOCTYPE rss [<!ENTITY a "b">]>' + RSS.encode(), "document type"),
        (b"<a>" * 200, "nested too deeply"),
        (b"{", "not a JSON feed"),
        (b'{"items": 7}', "not a JSON feed"),
        (b'{"items": [7]}', "not a JSON feed"),
        (b'{"items": ' + b"[" * 100_000, "not a JSON feed"),
        (b"{" + b" " * MAX_JSON_BYTES, "larger than 1 MiB"),
    ],
)
def test_a_flaw_is_named(body, flaw):
    feed = read_feed(body, now=NOW)
    assert flaw in feed.flaw
    assert feed.entries == []


def test_what_comes_before_a_flaw_is_kept():
    feed = read_feed(RSS.replace("</channel>", "").encode(), now=NOW)
    assert len(feed.entries) == 2
    assert feed.flaw


def test_the_number_of_entries_is_limited():
    items = "".join(f"<item><link>http://a.example/{n}</link></item>" for n in range(MAX_ENTRIES + 10))
    feed = read_feed(f"<rss><channel>{items}</channel></rss>".encode(), now=NOW)
    assert len(feed.entries) == MAX_ENTRIES
    assert "more than" in feed.flaw


def test_a_date_in_the_future_is_unknown():
    assert read_feed(ATOM.replace("2023", "2093").encode(), now=NOW).entries[0].published_at == 0.0


LEASE = Lease(url="http://a.example/start", host="a.example", score=1.0, fence=1, until=1, hops=2)
PAGE = ParsedPage(url=LEASE.url, feeds=("http://a.example/feed", "http://b.example/feed"))
LISTING = (
    b"<rss><channel><item><title>old</title><link>/1</link><pubDate>Mon, 01 Jan 2001 00:00:00 GMT</pubDate></item>"
    b"<item><title>new</title><description>about cells</description><link>http://c.example/2</link>"
    b"<pubDate>Mon, 03 Sep 2001 00:00:00 GMT</pubDate></item><item><link>/1</link></item></channel></rss>"
)


class Recording(BestFirst):
    def score(self, page, judgement, lease):
        self.seen = page, judgement
        return super().score(page, judgement, lease)


def answer(body=LISTING):
    return FetchedPage(url=LEASE.url, status=200, headers={}, body=body, fetched_at=1e9)


def test_the_first_page_of_a_wanted_host_leads_to_its_own_feeds():
    feeds = FeedSource(BestFirst(), SitemapHosts())
    [candidate] = feeds.of_page(LEASE, PAGE)
    assert candidate.url == "http://a.example/feed"
    assert candidate.kind is RequestKind.FEED
    assert feeds.of_page(replace(LEASE, host_pages=1), PAGE) == []


@pytest.mark.parametrize("wanted", [None, SitemapHosts(hosts=frozenset({"b.example"}))])
def test_other_hosts_are_not_asked_for_feeds_but_a_seed_may_be_one(wanted):
    feeds = FeedSource(BestFirst(), wanted)
    assert feeds.of_page(LEASE, PAGE) == []
    assert not feeds.is_wanted(LEASE)
    assert feeds.is_wanted(replace(LEASE, kind=RequestKind.SEED))


async def test_entries_are_links_with_titles_the_newest_first():
    strategy = Recording()
    words, _, candidates = await FeedSource(strategy, SitemapHosts()).read(LEASE, answer())
    page, judgement = strategy.seen
    assert [(link.url, link.anchor, link.context) for link in page.links] == [
        ("http://c.example/2", "new", "about cells"),
        ("http://a.example/1", "old", ""),
    ]
    assert not judgement.relevant
    assert {candidate.url for candidate in candidates} == {"http://c.example/2", "http://a.example/1"}
    assert str(words) == "feed: 2 of 3 entries"


async def test_a_feed_that_is_a_seed_counts_as_relevant():
    strategy = Recording()
    await FeedSource(strategy, None).read(replace(LEASE, kind=RequestKind.SEED), answer())
    assert strategy.seen[1].relevant


async def test_a_flaw_of_a_feed_is_in_its_summary():
    words, _, candidates = await FeedSource(BestFirst(), None).read(LEASE, answer(b"<rss>"))
    assert candidates == []
    assert str(words).startswith("feed: 0 of 0 entries; not XML")


def test_a_redirect_stays_on_the_host():
    feeds = FeedSource(BestFirst(), None)
    assert [each.url for each in feeds.moved(LEASE, "http://a.example/new")] == ["http://a.example/new"]
    assert feeds.moved(LEASE, "http://b.example/new") == []
    assert feeds.moved(replace(LEASE, redirects=5), "http://a.example/new") == []

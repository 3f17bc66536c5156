"""From a phrase to seeds and a crawl, by the command line, over real sockets."""

import asyncio
import json
from collections import Counter

import pytest

from testing.live_crawl import served, write_crawl
from testing.seed_services.searxng import SearxngService
from testing.seed_services.text_index import IndexedPage, TextIndex
from tests.e2e.conftest import quick
from thresher_lab.webs.generator import generate

SOLAR = "Perovskite solar cells turn light into current; a tandem perovskite cell has a higher efficiency."
TEA = "How to brew a pot of green tea, which water to take, and how long to wait for it."


def page(title, words):
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{words}</p></body></html>"


@pytest.fixture
def web(site):
    """A site with pages about the topic, others, and one that robots.txt forbids."""
    texts = {f"/solar/{n}.html": (f"Perovskite cells {n}", f"{SOLAR} Part {n}.") for n in range(1, 8)}
    texts |= {f"/tea/{n}.html": (f"Tea {n}", f"{TEA} Not a solar matter, cup {n}.") for n in range(1, 4)}
    texts["/private/solar.html"] = ("Perovskite solar cells", SOLAR)
    site.pages |= {path: page(*text) for path, text in texts.items()}
    site.pages["/robots.txt"] = (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /private/\n")
    index = TextIndex()
    index.add(IndexedPage(url=site.url(path), title=title, text=text) for path, (title, text) in texts.items())
    return index


@pytest.fixture
def engine(web):
    service = SearxngService(web)
    with service.serving():
        yield service


@pytest.fixture
def crawl(thresher, site):
    """A crawl without seeds that may fetch from the site."""
    made = thresher("new", "solar", "--topic", "perovskite solar cells", "--contact", "me@example.org")
    assert "no seeds" in made.stderr
    quick(thresher.folder / "solar", network='{allow: ["127.0.0.0/8"]}')
    return thresher.folder / "solar"


def test_a_phrase_becomes_seeds_of_a_crawl(thresher, site, engine, crawl):
    found = thresher("seeds", "--into", crawl, "--source", f"searxng={engine.url}", "--number", 3, "--yes")
    assert found.returncode == 0, found.stderr
    seeds = (crawl / "seeds.txt").read_text().split()
    assert len(seeds) == 3
    assert all("/solar/" in url for url in seeds)
    assert " for “perovskite solar cells”" in found.stderr
    assert "robots.txt forbids it" in found.stderr
    assert "/private/solar.html" not in site.paths
    assert engine.requests[0][1] == {"q": ["perovskite solar cells"], "format": ["json"], "language": ["en"]}


def test_yes_takes_no_page_that_the_judge_finds_irrelevant(thresher, site, web, engine, crawl):
    casino = "Play poker and roulette, and win a jackpot at our casino tonight. " * 30 + "solar"
    site.pages["/casino.html"] = page("Best casino bonus", casino)
    web.add([IndexedPage(url=site.url("/casino.html"), title="Best casino bonus", text=casino)])
    words = ("--into", crawl, "--source", f"searxng={engine.url}", "--number", 20, "--per-host", 20, "--yes")
    found = thresher("seeds", *words)
    assert found.returncode == 0, found.stderr
    accepted = (crawl / "seeds.txt").read_text()
    assert "/solar/" in accepted
    assert "/casino.html" not in accepted
    assert f"not accepted by --yes: {site.url('/casino.html')}: not relevant to the judge (" in found.stderr


def test_only_irrelevant_pages_are_no_success(thresher, site, crawl):
    bad = site.url("/casino.html")
    site.pages["/casino.html"] = page("Best casino bonus", "Play poker and win a jackpot tonight. " * 30 + "solar")
    (thresher.folder / "bookmarks.txt").write_text(bad)
    found = thresher("seeds", "--into", crawl, "--source", f"bookmarks={thresher.folder / 'bookmarks.txt'}", "--yes")
    assert found.returncode == 1
    assert (crawl / "seeds.txt").read_text() == ""
    assert f"not accepted by --yes: {bad}" in found.stderr


def test_nothing_is_written_before_it_is_accepted(thresher, engine, crawl):
    found = thresher("seeds", "--into", crawl, "--source", f"searxng={engine.url}", "--json")
    assert found.returncode == 0
    reported = json.loads(found.stdout)
    assert len(reported["seeds"]) == 5
    assert reported["accepted"] == []
    assert {"url", "score", "relevance", "sources", "terms"} <= reported["seeds"][0].keys()
    assert (crawl / "seeds.txt").read_text() == ""
    assert "Nothing was written" in found.stderr


def test_private_addresses_of_a_search_engine_are_refused(thresher, site, engine):
    found = thresher(
        "seeds", "perovskite solar cells", "--contact", "me@example.org", "--source", f"searxng={engine.url}"
    )
    assert found.returncode == 4
    assert "refused" in found.stderr
    assert site.requests == []


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ((429, {"Retry-After": "30"}, b""), "HTTP 429; too many requests; try again after 30 seconds"),
        ((200, {}, b"{"), "did not answer with JSON"),
    ],
)
def test_a_source_that_fails_is_named_and_ends_with_1(thresher, engine, crawl, broken, words):
    engine.broken = broken
    found = thresher("seeds", "--into", crawl, "--source", f"searxng={engine.url}", "--yes")
    assert (found.returncode, found.stdout) == (1, "")
    assert words in found.stderr


def test_no_result_is_no_success(thresher, engine, crawl):
    found = thresher("seeds", "zzz qqq", "--into", crawl, "--source", f"searxng={engine.url}", "--yes")
    assert found.returncode == 1
    assert "0 proposed" in found.stderr


def test_a_new_crawl_without_seeds_finds_them(thresher, site, engine, monkeypatch):
    monkeypatch.setenv("THRESHER_SEED_SOURCES", f"searxng={engine.url}")
    private = thresher.apart("new", "tea", "--topic", "green tea", "--contact", "me@example.org", "--yes")
    assert private.returncode == 0
    assert "No seeds: refused" in private.stderr
    assert (thresher.folder / "tea" / "topic.yaml").is_file()


def test_hubs_of_an_earlier_crawl_are_seeds_of_the_next(thresher, site, web, crawl):
    links = "".join(f'<a href="/solar/{n}.html">perovskite cells {n}</a> ' for n in range(1, 8))
    site.pages["/hub.html"] = page("Perovskite solar cells", f"{SOLAR} {links}")
    (crawl / "seeds.txt").write_text(site.url("/hub.html"))
    assert thresher("run", crawl).returncode == 0
    thresher("new", "next", "--topic", "perovskite solar cells", "--contact", "me@example.org")
    quick(thresher.folder / "next", network='{allow: ["127.0.0.0/8"]}')
    found = thresher("seeds", "--into", "next", "--source", f"hubs={crawl}", "--yes")
    assert found.returncode == 0, found.stderr
    assert site.url("/hub.html") in (thresher.folder / "next" / "seeds.txt").read_text()
    assert "leads to 7 relevant pages on 1 hosts in solar" in found.stderr


async def test_seeds_of_a_generated_web_are_about_the_topic_and_few_of_a_host(thresher):
    web = generate(3, pages=300, hosts=8, tunnel_depth=0)
    index = TextIndex()
    index.add(IndexedPage(url=url, title=found.title, text=found.html) for url in web.urls() if (found := web.get(url)))
    async with served(web) as places:
        with SearxngService(index).serving() as engine:
            folder = write_crawl(thresher.folder / "stars", web, "Science/Astronomy", places, {"name": "thresher"})
            config = json.loads((folder / "topic.yaml").read_text()) | {"seeds": ["seeds.txt"]}
            (folder / "topic.yaml").write_text(json.dumps(config))
            (folder / "seeds.txt").write_text("")
            words = ("seeds", "--into", folder, "--source", f"searxng={engine}", "--per-host", 2, "--yes")
            found = await asyncio.to_thread(thresher, *words)
    assert found.returncode == 0, found.stderr
    seeds = (folder / "seeds.txt").read_text().split()
    assert seeds
    assert all(web.is_topic(url, "Science/Astronomy") for url in seeds)
    assert max(Counter(url.split("/")[2] for url in seeds).values()) <= 2

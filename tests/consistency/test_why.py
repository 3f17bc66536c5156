"""Row U8: an explanation is one plain sentence, words, an example and a path; its numbers are called what they are."""

import asyncio
import json
import re

import pytest

import thresher as package
from tests.e2e.conftest import CommandLine, quick, serving
from thresher.crawl import CrawlSetup
from thresher_ui.dashboard.service import CrawlService
from thresher_ui.dashboard.views import page


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("why")


@pytest.fixture(scope="module")
def thresher(folder):
    return CommandLine(folder)


@pytest.fixture(scope="module")
def site():
    with serving() as site:
        yield site


@pytest.fixture(scope="module")
def crawled(site, thresher, folder):
    """A crawl of three pages in a row, with the default strategy and judge."""
    words = "solar cells turn light into power"
    site.pages = {
        "/": f'<title>start</title><p>{words}</p><a href="/cells">solar cells</a>',
        "/cells": f'<title>cells</title><p>{words} by perovskite</p><a href="/layers">layers of cells</a>',
        "/layers": f"<title>layers</title><p>{words} in thin layers</p>",
    }
    thresher("new", "crawl", "--topic", "solar cells", "--seed", site.url("/"))
    quick(folder / "crawl", output="{keep_irrelevant: true}")
    ended = thresher("run", "crawl")
    assert ended.returncode == 0, ended.stderr
    return folder / "crawl"


def test_u8_why_begins_with_a_plain_sentence(crawled, site, thresher):
    url, title, verdict, *_ = thresher("why", "crawl", site.url("/layers")).stdout.splitlines()
    assert (url, title) == (site.url("/layers"), "Title:    layers")
    assert re.fullmatch(r"(Relevant|Not relevant): [\d.]+, (above|below) the cut of [\d.]+; rank \d of 3\.", verdict)
    assert thresher("why", "crawl", site.url("/")).stdout.splitlines()[-1] == "It is a seed."


def test_u8_why_fits_on_a_screen_and_ends_with_the_path(crawled, site, thresher):
    lines = thresher("why", "crawl", site.url("/layers")).stdout.splitlines()
    assert len(lines) <= 15
    assert max(map(len, lines)) <= 100
    assert lines[-4:] == [
        "Path, 2 links from a seed:",
        f"  start {site.url('/')}",
        f"  “solar cells” → cells {site.url('/cells')}",
        "  “layers of cells” → this page",
    ]


def test_u8_words_and_the_nearest_seed_are_named(crawled, site, thresher):
    reported = thresher("why", "crawl", site.url("/layers")).stdout
    assert re.search(r"^For:  .*solar [\d.]+ %", reported, re.MULTILINE)
    assert re.search(r"^Against:  ", reported, re.MULTILINE)
    assert re.search(rf"^Nearest:  start {site.url('/')} \(seed, similarity 0\.\d\d\)$", reported, re.MULTILINE)


def test_u8_a_page_whose_text_was_not_kept_is_explained_by_its_words_too(site, thresher, folder):
    words = "solar cells turn light into power"
    site.pages |= {
        "/sun": f'<title>sun</title><p>{words}</p><a href="/tea">green tea</a>',
        "/tea": f"<title>tea</title><p>{'green tea leaves of a garden in China. ' * 9}</p>",
    }
    thresher("new", "lean", "--topic", "solar cells", "--seed", site.url("/sun"))
    quick(folder / "lean")
    assert thresher("run", "lean").returncode == 0
    reported = thresher("why", "lean", site.url("/tea")).stdout
    assert "\nNot relevant: " in reported
    tried = thresher("try", "lean", site.url("/tea")).stdout
    for printed in (reported, tried):  # the seed has the words "green tea", by which it links to the page
        assert re.search(r"^Against: .*garden [\d.]+ %", printed, re.MULTILINE)
        assert not re.search(r"^For: .*tea", printed, re.MULTILINE)


def test_u8_numbers_are_printed_with_details_alone_and_called_what_they_are(crawled, site, thresher):
    heading = "Parts of the link score as log-odds, above 0 for the link, below 0 against it:"
    assert heading not in thresher("why", "crawl", site.url("/layers")).stdout
    everything = thresher("why", "crawl", site.url("/layers"), "--details").stdout
    assert heading in everything
    assert "The relevance was computed from (not a sum):" in everything
    described = json.loads(thresher("why", "crawl", site.url("/layers"), "--json", "--details").stdout)
    assert len(described["details"]["link"]["parts"]) == 10


def test_u8_the_score_is_the_one_that_is_exported(crawled, site, thresher):
    described = json.loads(thresher("why", "crawl", site.url("/layers"), "--json").stdout)
    rows = [json.loads(line) for line in thresher("export", "crawl").stdout.splitlines()]
    assert {row["url"]: row["score"] for row in rows}[site.url("/layers")] == described["score"]


def test_u8_the_python_api_and_the_dashboard_say_the_same(crawled, site, thresher):
    url = site.url("/layers")
    why = package.Crawl(crawled).why(url)
    assert str(why).splitlines() == thresher("why", "crawl", url).stdout.splitlines()
    described = json.loads(thresher("why", "crawl", url, "--json", "--details").stdout)
    assert why.as_json(details=True) == described
    shown = asyncio.run(page_screen(crawled, url))
    assert {key: shown[key] for key in described} == described


async def page_screen(folder, url):
    service = CrawlService({"crawl": CrawlSetup.open(folder)})
    try:
        return await service.view("crawl", page.page, url=url)
    finally:
        await service.close()

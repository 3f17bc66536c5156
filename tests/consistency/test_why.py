"""Row U8: an explanation starts with one plain sentence, and its numbers are labelled as what they are."""

import asyncio
import json

import pytest

import thresher as package
from tests.e2e.conftest import CommandLine, quick, serving
from thresher.dashboard.service import CrawlService
from thresher.dashboard.views import page
from thresher.project import CrawlProject


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
    url, summary, empty, heading, *_ = thresher("why", "crawl", site.url("/layers")).stdout.splitlines()
    assert url == site.url("/layers")
    assert summary.startswith(("Relevant: relevance 0.", "Relevant: relevance 1.", "Not relevant: relevance 0."))
    assert summary.endswith(
        f"Found on {site.url('/cells')} by the link “layers of cells”, 2 links from the seed {site.url('/')}."
    )
    assert (empty, heading) == ("", "Path from the seed:")
    assert "It is a seed." in thresher("why", "crawl", site.url("/")).stdout.splitlines()[1]


def test_u8_values_that_are_no_sum_are_not_printed_as_one(crawled, site, thresher):
    reported = thresher("why", "crawl", site.url("/layers")).stdout
    assert "relevance" in reported
    assert " = " not in reported
    assert "the relevance was computed from (not a sum):" in reported


def test_u8_log_odds_are_called_so_and_only_the_strongest_are_printed(crawled, site, thresher):
    reported = thresher("why", "crawl", site.url("/layers")).stdout
    heading = "parts of the link score as log-odds, above 0 for the link, below 0 against it"
    assert f"{heading}, the strongest 3 of 10:" in reported
    everything = thresher("why", "crawl", site.url("/layers"), "--all").stdout
    assert f"{heading}:" in everything
    assert len(everything.splitlines()) > len(reported.splitlines())
    described = json.loads(thresher("why", "crawl", site.url("/layers"), "--json").stdout)
    assert len(described["path"][-1]["score_parts"]) == 10


def test_u8_the_python_api_and_the_dashboard_say_the_same(crawled, site, thresher):
    lines = thresher("why", "crawl", site.url("/layers")).stdout.splitlines()
    why = package.Crawl(crawled).why(site.url("/layers"))
    assert str(why).splitlines() == lines
    assert why.summary == lines[1]
    assert asyncio.run(page_screen(crawled, site.url("/layers")))["summary"] == lines[1]


async def page_screen(folder, url):
    service = CrawlService({"crawl": CrawlProject.open(folder)})
    try:
        return await service.view("crawl", page.page, url=url)
    finally:
        await service.close()

"""Listed URLs are fetched once, with their links and the pages behind redirects, and no link is followed."""

import subprocess
import sys

import pytest

from tests.e2e.conftest import serving
from tests.faults.documents import docx
from thresher.config.folder import CrawlFolder
from thresher.parsing.documents.formats import DOCX
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import fingerprint

PROGRAM = """
import sys
from pathlib import Path
from thresher.config.folder import CrawlFolder
from thresher.crawl import CrawlSetup
from thresher_papers.training.fetch_listed import fetch_listed

folder, *urls = sys.argv[1:]
stored = []
crawl, training = CrawlSetup.open(Path(folder)), CrawlFolder(Path(folder) / "training")
failures = fetch_listed(crawl, training, urls, report=stored.append)
print(sum(stored), *failures.lines(), sep="|")
"""
"""A process of its own: it takes signals and sets up a log."""
TOPIC = """\
title: {en: solar cells}
seeds: [http://127.0.0.1/]
strategy: {name: layers}
scope: {max_depth: 0}
politeness: {delay_seconds: 0}
network: {allow: ["127.0.0.0/8"]}
"""
PAGES = {
    "/a": '<title>A</title><p>About cells</p><a href="/b">to b</a> <a href="/never">never</a>',
    "/b": "<title>B</title><p>About tea</p>",
    "/old": (301, {"Location": "/a2"}, ""),
    "/a2": "<title>Moved</title><p>Moved here</p>",
}


@pytest.fixture
def site():
    with serving() as site:
        site.pages = dict(PAGES)
        yield site


@pytest.fixture
def fetch(site, tmp_path):
    (tmp_path / "topic.yaml").write_text(TOPIC)

    def fetch(*paths):
        command = [sys.executable, "-c", PROGRAM, str(tmp_path), *map(site.url, paths)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        return done.stdout.strip().split("|")

    return fetch


@pytest.fixture
def stored(tmp_path):
    return lambda: PageStoreReader(CrawlFolder(tmp_path / "training").pages)


def test_text_and_links_are_stored_and_links_are_not_followed(fetch, site, stored):
    assert fetch("/a") == ["1"]
    assert site.paths == ["/robots.txt", "/a"]
    with stored() as pages:
        page = fingerprint(site.url("/a"))
        assert "About cells" in pages.text(page)
        assert [(link.url, link.anchor) for link in pages.links(page)] == [
            (site.url("/b"), "to b"),
            (site.url("/never"), "never"),
        ]


def test_what_was_settled_is_not_fetched_again(fetch, site):
    assert fetch("/a", "/none") == ["1", f"1 URL on 1 host: HTTP 404 (127.0.0.1:{site.port})"]
    assert fetch("/a", "/none", "/b")[0] == "1"
    assert site.paths == ["/robots.txt", "/a", "/none", "/b"]


def test_a_redirect_leads_to_its_page(fetch, site, stored):
    assert fetch("/old") == ["1"]
    with stored() as pages:
        assert pages.redirects() == {fingerprint(site.url("/old")): fingerprint(site.url("/a2"))}


def test_the_rules_of_the_crawl_hold_for_listed_pages(fetch, site, tmp_path):
    (tmp_path / "topic.yaml").write_text(TOPIC.replace("delay_seconds: 0", "delay_seconds: 0, ai_optout: obey"))
    site.pages["/a"] = '<title>A</title><meta name="robots" content="noai"><p>About cells</p>'
    stored, failure = fetch("/a", "/b")
    assert stored == "1"
    assert failure.startswith("1 URL on 1 host: ")


def test_nothing_to_fetch_is_no_work(fetch, site):
    fetch("/a")
    assert fetch() == ["0"]
    assert len(site.paths) == 2


def test_a_document_is_read_as_in_a_crawl(fetch, site, stored):
    site.pages["/cells.docx"] = (200, {"Content-Type": DOCX.media_types[0]}, docx("<w:p><w:t>About cells</w:t></w:p>"))
    assert fetch("/cells.docx") == ["1"]
    with stored() as pages:
        assert "About cells" in pages.text(fingerprint(site.url("/cells.docx")))

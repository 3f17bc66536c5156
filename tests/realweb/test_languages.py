"""A crawl as `thresher new` writes it finds its topic in the language of phrase and seed, whichever that is."""

import json

import pytest

from tests.e2e.conftest import CommandLine, quick, serving
from tests.realweb.bee_webs import ON_PAGES, WEBS


@pytest.fixture
def thresher(tmp_path):
    return CommandLine(tmp_path)


def crawled(thresher, site, *options):
    """Crawl a site from its first page; return the exported pages by path."""
    created = thresher("new", "bees", "--seed", site.url("/"), "--contact", "me@example.org", *options)
    assert created.returncode == 0, created.stderr
    quick(thresher.folder / "bees", engine="{concurrency: 4, timeout_seconds: 5, lease_seconds: 20}")
    assert thresher("run", "bees", "--pages", 60).returncode == 0
    assert thresher("export", "bees", "-f", "jsonl", "-o", "pages.jsonl", "--duplicates").returncode == 0
    rows = map(json.loads, (thresher.folder / "pages.jsonl").read_text(encoding="utf-8").splitlines())
    return {row["url"].removeprefix(site.url("")): row for row in rows}


@pytest.mark.parametrize("language", WEBS)
def test_the_pages_on_topic_are_relevant_and_the_others_are_not(thresher, language):
    with serving() as site:
        site.pages = WEBS[language].pages(language)
        pages = crawled(thresher, site, "--topic", WEBS[language].phrase)
    relevant = {path for path, row in pages.items() if row["relevant"]}
    assert sum(path.startswith("/on") for path in relevant) >= ON_PAGES - 1
    assert sum(path.startswith("/off") for path in relevant) <= 2
    assert {row["language"] for row in pages.values()} == {language}

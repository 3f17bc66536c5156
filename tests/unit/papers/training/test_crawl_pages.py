"""An earlier crawl brings text, links and targets to train on."""

from dataclasses import replace

import pytest

from tests.unit.lab.webs.importers.test_crawl import record
from thresher.reasons.legacy import legacy_reason
from thresher.storage.page_store import FoundLink, PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher_papers.strategies.layers.source import ELSEWHERE
from thresher_papers.training.collect import CrawlPages


@pytest.fixture
def pages(tmp_path):
    writer = PageStoreWriter(tmp_path / "w1.db")
    writer.write(
        [
            record("http://a.example/1", relevant=True, text="ships"),
            record("http://a.example/2", relevant=False, links=["http://a.example/1", "http://a.example/unfetched"]),
            record("http://a.example/gone", relevant=False, page=False),
        ]
    )
    writer.close()
    with PageStoreReader(tmp_path) as collection:
        yield CrawlPages(collection)


def test_relevant_pages_are_the_targets(pages):
    assert (len(pages), pages.relevant) == (2, [0])


def test_links_lead_to_pages_or_elsewhere(pages):
    assert list(pages.links(1)) == [(0, "to http://a.example/1"), (ELSEWHERE, "to http://a.example/unfetched")]
    assert pages.graph.predecessors(0).tolist() == [1]


def test_a_page_without_text_has_its_title(pages):
    assert (pages.text(0), pages.text(1), pages.without_text) == ("ships", "Sea & sky", 1)


def test_of_several_crawls_the_first_with_a_text_counts(pages, tmp_path):
    writer = PageStoreWriter(tmp_path / "other" / "w1.db")
    writer.write([record(f"http://a.example/{n}", relevant=True, text=f"text {n}") for n in (1, 2, 3)])
    writer.close()
    with PageStoreReader(tmp_path) as first, PageStoreReader(tmp_path / "other") as second:
        both = CrawlPages(first, second)
        numbers = [both.number_of(f"http://a.example/{n}") for n in (1, 2, 3)]
        assert [both.text(number) for number in numbers] == ["ships", "text 2", "text 3"]
        assert both.url(numbers[2]) == "http://a.example/3"
        assert both.has_text("http://a.example/2")
        assert not pages.has_text("http://a.example/2")
        assert not both.has_text("http://a.example/none")


def moved(url, target):
    link = FoundLink(url=target, anchor="", score=0.0, parts={})
    return replace(
        record(url, relevant=False, page=False), reason=legacy_reason(f"redirected to {target}"), links=[link]
    )


def test_a_url_leads_to_the_page_behind_its_redirects(tmp_path):
    writer = PageStoreWriter(tmp_path / "w1.db")
    writer.write(
        [
            record("http://a.example/new", relevant=True, text="ships"),
            moved("http://a.example/old", "http://a.example/middle"),
            moved("http://a.example/middle", "http://a.example/new"),
            moved("http://a.example/x", "http://a.example/y"),
            moved("http://a.example/y", "http://a.example/x"),
            record("http://a.example/hub", relevant=False, links=["http://a.example/old"]),
        ]
    )
    writer.close()
    with PageStoreReader(tmp_path) as collection:
        pages = CrawlPages(collection)
        assert pages.number_of("http://a.example/old") == pages.number_of("http://a.example/new")
        assert pages.number_of("http://a.example/x") == ELSEWHERE
        hub = pages.number_of("http://a.example/hub")
        assert pages.graph.successors(hub).tolist() == [pages.number_of("http://a.example/new")]
        assert pages.link_urls(hub) == ["http://a.example/old"]

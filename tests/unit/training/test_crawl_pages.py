"""An earlier crawl brings text, links and targets to train on."""

import pytest

from tests.unit.lab.webs.importers.test_crawl import record
from thresher.storage.page_store import PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.strategies.layers.source import ELSEWHERE
from thresher.training.crawl_pages import CrawlPages


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

"""Pages of a crawl can be ranked by the probability that they are targets."""

from contextlib import closing

from tests.unit.export.test_all_formats import of
from tests.unit.papers.strategies.layered_world import MODEL
from thresher.storage.page_store import PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher_papers.strategies.layers.ranking import LayerRankedPages, target_probability

PAGES = {"http://a.example/": ("index", 0.9), "http://b.example/": ("solar", 0.2), "http://c.example/": ("tea", 0.5)}


def stored(folder):
    with closing(PageStoreWriter(folder / "w1.db")) as writer:
        writer.write([of(url, relevance=relevance, text=text) for url, (text, relevance) in PAGES.items()])
    return folder


def test_the_probability_is_that_of_layer_0():
    assert [round(target_probability(MODEL, text), 2) for text in ("solar", "index", "tea")] == [0.75, 0.25, 0.5]


def test_pages_that_look_like_targets_come_first(tmp_path):
    stored(tmp_path)
    with LayerRankedPages(tmp_path, MODEL) as pages:
        assert [record.url[7] for record in pages.ranked()] == ["b", "c", "a"]
        assert [record.url[7] for record in pages.ranked(min_relevance=0.4)] == ["c", "a"]
    with PageStoreReader(tmp_path) as pages:
        assert [record.url[7] for record in pages.ranked()] == ["a", "c", "b"]

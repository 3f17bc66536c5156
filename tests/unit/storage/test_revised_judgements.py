"""A judgement that is replaced replaces the verdict too, and the numbers follow."""

from contextlib import closing

import pytest

from tests.unit.export.test_all_formats import LEAF, of
from thresher.records import Judgement, Revision
from thresher.storage.page_store import PageStoreWriter
from thresher.storage.reader import PageStoreReader


@pytest.fixture
def think(tmp_path):
    def think(record, *, relevant):
        judgement = Judgement(relevance=0.7, relevant=relevant, reward=0.4)
        with closing(PageStoreWriter(tmp_path / "w1.db")) as writer:
            writer.write([record])
            writer.apply_revisions([Revision(url=LEAF, judgement=judgement)])
        with PageStoreReader(tmp_path) as collection:
            return next(collection.ranked())

    return think


def test_a_page_with_its_text_can_become_relevant(think):
    seen = think(of(LEAF, relevance=0.2, relevant=False, text="words"), relevant=True)
    assert (seen.relevant, seen.relevance, seen.reward) == (True, 0.7, 0.4)


def test_a_page_without_text_can_become_relevant_too(think):
    seen = think(of(LEAF, relevance=0.2, relevant=False), relevant=True)
    assert (seen.relevant, seen.relevance, seen.reward) == (True, 0.7, 0.4)


def test_a_page_that_asked_not_to_be_kept_stays_relevant(think):
    assert think(of(LEAF, relevance=0.2, relevant=True), relevant=True).relevant


def test_any_page_can_stop_being_relevant(think):
    assert not think(of(LEAF, relevance=0.9, relevant=True, text="words"), relevant=False).relevant

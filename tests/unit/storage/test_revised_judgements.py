"""A judgement that is replaced replaces the verdict too, and the numbers follow."""

from contextlib import closing

import pytest

from tests.unit.export.test_all_formats import LEAF, of
from thresher.records import Judgement, Revision
from thresher.storage.page_store import PageStoreWriter, unpacked_parts
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


def test_parts_of_earlier_versions_have_their_current_names():
    stored = (
        '{"likeness": 0.3, "ordinary": 0.1, "good": 0.4, "titled": 1.0, "taught": -0.1, "told": 1.0, "unaided": 0.2}'
    )
    assert unpacked_parts(stored) == {
        "similarity": 0.3,
        "background level": 0.1,
        "topic level": 0.4,
        "titled": 1.0,
        "label correction": -0.1,
        "label": 1.0,
        "without label": 0.2,
    }
    assert unpacked_parts('{"good": 0.4, "told": 0.0}') == {"good": 0.4, "label": 0.0}  # of another judge

"""The words of a link, and those around it."""

import pytest

from thresher.records import Link
from thresher.topics.profile import TopicProfile
from thresher_papers.strategies.evidence.anchor import anchor_relevance

NBA = TopicProfile(vectors={"en": {"sport": 1 / 3, "basketbal": 2 / 3, "nba": 1.0}})


def R_AT(anchor, context="", R_PC=0.1):
    link = Link(url="http://a.example/", anchor=anchor, context=context)
    return anchor_relevance(NBA.similarity, link, R_PC=R_PC)


@pytest.mark.parametrize(("anchor", "R_anchor"), [("NBA", 0.8018), ("Basketball", 0.5345), ("Sports", 0.2673)])
def test_an_anchor_is_worth_its_place_in_the_taxonomy(anchor, R_anchor):
    assert R_AT(anchor, context="NBA") == pytest.approx(R_anchor, abs=5e-5)


def test_the_context_speaks_when_the_anchor_says_nothing():
    assert R_AT("more", context="basketball") == pytest.approx(0.5345, abs=5e-5)


def test_without_words_there_is_no_evidence():
    assert R_AT("") == 0.0


def test_an_image_speaks_on_a_page_that_has_no_word_of_the_topic():
    assert R_AT("NBA", R_PC=0.0) == pytest.approx(0.8018, abs=5e-5)

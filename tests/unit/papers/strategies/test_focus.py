"""Soft focus follows all links, the likeliest first; hard focus prunes."""

import pytest

from tests.unit.strategies.small_world import HERE, lease, links, page, verdict
from thresher.records import Revision
from thresher.strategies.base import Rescorer, ScoreChange
from thresher_papers.strategies.hard_focus import HardFocus
from thresher_papers.strategies.soft_focus import SoftFocus

FIRST = "http://a.example/0"


def scores(strategy, judgement):
    return [candidate.score for candidate in strategy.score(page(*links(2)), judgement, lease())]


def test_soft_focus_hands_down_the_probability():
    assert scores(SoftFocus(), verdict(False, relevance=0.3, reward=0.0)) == [0.3, 0.3]


def test_without_a_probability_the_relevance_counts():
    assert scores(SoftFocus(), verdict(False, relevance=0.2)) == [0.2, 0.2]


def test_hard_focus_drops_the_links_of_irrelevant_pages():
    assert scores(HardFocus(), verdict(False, relevance=0.4)) == []


def test_hard_focus_orders_what_it_follows_as_soft_focus_does():
    assert scores(HardFocus(), verdict(True, relevance=0.7)) == [0.7, 0.7]


@pytest.mark.parametrize("strategy", [SoftFocus(), HardFocus()])
def test_links_follow_when_the_judge_changes_its_mind(strategy):
    assert isinstance(strategy, Rescorer)
    scores(strategy, verdict(True, relevance=0.7))
    changes = strategy.revise([Revision(url=HERE, judgement=verdict(False, relevance=0.2))])
    assert changes[FIRST] == ScoreChange(0.7, 0.2)

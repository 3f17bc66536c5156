"""Shark: numbers computed by hand for both forms."""

import pytest

from tests.unit.strategies.small_world import IRRELEVANT, RELEVANT, KnownAim, lease, page
from thresher.records import Link
from thresher_papers.strategies.shark import Shark

AIM = KnownAim({"the page": 0.6, "good": 0.4, "around": 0.25})
GOOD = Link(url="http://a.example/1", anchor="good", context="around")
PLAIN = Link(url="http://a.example/2", anchor="here", context="around")
SILENT = Link(url="http://a.example/3", anchor="here", context="nothing")


def scored(link, judgement=RELEVANT, *, strategy_data=None, **parameters):
    world = page(link, text="the page")
    [candidate] = Shark(AIM, **parameters).score(world, judgement, lease(strategy_data=strategy_data))
    return candidate


def test_a_link_with_a_good_anchor():
    candidate = scored(GOOD)
    assert candidate.score == pytest.approx(0.5 * 0.3 + 0.5 * 0.52)
    assert candidate.score == pytest.approx(0.41)
    assert candidate.breakdown == pytest.approx({"inherited": 0.3, "anchor": 0.4, "context": 1.0})


def test_a_link_with_good_words_around_it():
    assert scored(PLAIN).score == pytest.approx(0.5 * 0.3 + 0.5 * 0.05)
    assert scored(PLAIN).score == pytest.approx(0.175)


def test_a_child_of_an_irrelevant_page_inherits_from_above_it():
    candidate = scored(SILENT, IRRELEVANT, strategy_data=scored(GOOD).strategy_data)
    assert candidate.strategy_data == pytest.approx({"inherited": 0.15})
    assert candidate.score == pytest.approx(0.075)


def test_an_irrelevant_seed_hands_nothing_down():
    assert scored(SILENT, IRRELEVANT).score == 0.0


def test_the_constants_can_be_chosen():
    assert scored(GOOD, delta=1.0, beta=1.0, gamma=0.25).score == pytest.approx(0.25 * 0.6 + 0.75 * 0.4)


def test_as_fcmrps_runs_it_page_and_anchor_weigh_two_to_eight():
    assert scored(GOOD, form="fcmrps").score == pytest.approx(0.2 * 0.6 + 0.8 * 0.4)
    assert scored(PLAIN, form="fcmrps").score == pytest.approx(0.2 * 0.6 + 0.8 * 0.25)


def test_as_fcmrps_runs_it_nothing_decays():
    candidate = scored(SILENT, IRRELEVANT, form="fcmrps")
    assert candidate.score == pytest.approx(0.2 * 0.6)
    assert candidate.strategy_data == {}


def test_an_unknown_form_is_refused():
    with pytest.raises(ValueError, match="form must be survey or fcmrps, got 'whale'"):
        Shark(AIM, form="whale")

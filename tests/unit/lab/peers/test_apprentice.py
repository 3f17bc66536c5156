"""The apprentice: words with their offsets, a first guess, and what it thinks after lessons."""

import pytest

from tests.unit.strategies.small_world import IRRELEVANT, RELEVANT, lease, page, verdict
from thresher.records import Link
from thresher.strategies.base import Rescorer
from thresher_lab.peers.apprentice import Apprentice, names_of

SOLAR = Link(url="http://a.example/s", anchor="solar", context="panels roof")
TEA = Link(url="http://a.example/t", anchor="tea", context="cup leaf")


def lesson(strategy, link, relevant, url="http://a.example/known"):
    strategy_data = {"anchor": link.anchor, "around": link.context, "page": 1.0}
    list(
        strategy.score(page(url=url), RELEVANT if relevant else IRRELEVANT, lease(url=url, strategy_data=strategy_data))
    )


def taught(**parameters):
    strategy = Apprentice(first_examples=3, rescore_every=6, **parameters)
    for number in range(6):
        lesson(strategy, TEA if number % 2 else SOLAR, not number % 2, f"http://a.example/{number}")
    return strategy


def test_words_near_a_link_are_named_with_their_offsets():
    names = names_of("solar", "one1 two2 three3 four4 five5 six6")
    assert names == ("solar@0", "one1@-2", "two2@-1", "three3@-1", "four4@+1", "five5@+1", "six6@+2")


def test_offsets_end_at_five():
    names = names_of("", " ".join(f"word{number}x" for number in range(40)))
    assert {name.rpartition("@")[2] for name in names} == {f"{sign}{d}" for sign in "+-" for d in range(1, 6)}


def test_the_first_guess_is_the_relevance_of_the_page():
    [candidate] = Apprentice().score(page(SOLAR), verdict(True, 0.6), lease())
    assert (candidate.score, candidate.breakdown) == (0.6, {"page": 0.6})
    assert candidate.strategy_data == {"anchor": "solar", "around": "panels roof", "page": 0.6}


def test_after_enough_lessons_the_apprentice_is_asked():
    solar, tea = taught().score(page(SOLAR, TEA), RELEVANT, lease())
    assert solar.score > 0.7 > 0.3 > tea.score
    assert solar.breakdown == {"page": 1.0, "apprentice": solar.score}


def test_links_that_wait_are_scored_again():
    strategy = Apprentice(first_examples=3, rescore_every=7)
    assert isinstance(strategy, Rescorer)
    list(strategy.score(page(SOLAR, TEA), RELEVANT, lease()))
    assert strategy.revise([]) == {}
    for number in range(6):
        lesson(strategy, TEA if number % 2 else SOLAR, not number % 2, f"http://a.example/{number}")
    changes = strategy.revise([])
    assert {change.was for change in changes.values()} == {1.0}
    assert changes[SOLAR.url].now > changes[TEA.url].now
    assert strategy.revise([]) == {}


def test_a_page_that_came_or_never_comes_is_not_scored_again():
    strategy = taught()
    list(strategy.score(page(SOLAR, TEA), RELEVANT, lease()))
    assert list(strategy.on_miss(lease(url=SOLAR.url))) == []
    lesson(strategy, TEA, False, TEA.url)
    assert len(strategy._waiting) == 0


def test_seeds_teach_nothing():
    strategy = Apprentice()
    list(strategy.score(page(), RELEVANT, lease()))
    assert strategy._seen == {True: 0, False: 0}


@pytest.mark.parametrize("parameters", [{"first_examples": 0}, {"rescore_every": 0}, {"replay": -1}])
def test_parameters_without_sense_are_refused(parameters):
    with pytest.raises(ValueError, match="at least"):
        Apprentice(**parameters)

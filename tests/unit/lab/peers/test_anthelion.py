"""Anthelion: the value of a host, fewer and fewer random choices, and the best URL of the best host."""

from dataclasses import replace

import pytest

from tests.unit.strategies.small_world import IRRELEVANT, RELEVANT, lease, page
from thresher.records import Link
from thresher_lab.peers.anthelion import Anthelion
from thresher_lab.peers.turns import CHOSEN_SCORE

SEED = "http://seed.example/"


def come(strategy, url, judgement, *links, hops=1):
    here = replace(lease(url=url), hops=hops)
    return list(strategy.score(page(*[Link(url=link) for link in links], url=url), judgement, here))


def taught(**parameters):
    """Show it that /solar pages are good on one host and bad on another, and that /tea pages are bad."""
    strategy = Anthelion(learn_every=1, **({"random_share": 0.0} | parameters))
    for number in "abc":
        come(strategy, f"http://sun.example/solar/{number}", RELEVANT)
        come(strategy, f"http://cup.example/tea/{number}", IRRELEVANT)
    return strategy


def test_a_host_is_worth_its_best_url_times_good_over_bad_pages():
    strategy = taught()
    assert strategy.host_value("sun.example", 0.5) == 0.5 * (3 + 1) / (0 + 1)
    assert strategy.host_value("cup.example", 0.5) == 0.5 * (0 + 1) / (3 + 1)
    assert strategy.host_value("new.example", 0.5) == 0.5


def test_random_choices_become_rarer():
    strategy = Anthelion(random_share=0.2, decay_every=10)
    shares = []
    for strategy._pulled in (0, 9, 10, 30):
        shares.append(strategy.random_share())
    assert shares == pytest.approx([0.2, 0.2, 0.1, 0.05])
    assert Anthelion(random_share=0.2, decay_every=0).random_share() == 0.2


def test_the_best_url_of_the_best_host_is_lifted():
    strategy = taught()
    candidates = come(strategy, SEED, RELEVANT, "http://sun.example/tea/x", "http://sun.example/solar/x",
                      "http://new.example/solar/x")  # fmt: skip
    [(url, change)] = strategy.revise([]).items()
    assert (url, change.now) == ("http://sun.example/solar/x", CHOSEN_SCORE)
    assert change.was == next(each.score for each in candidates if each.url == url)


def test_a_random_host_gives_its_best_url_too():
    strategy = taught(random_share=1.0, decay_every=0)
    come(strategy, SEED, RELEVANT, *(f"http://h{number}.example/solar/x" for number in range(9)))
    chosen = set(strategy.revise([]))
    come(strategy, *chosen, RELEVANT)
    assert len(chosen | set(strategy.revise([]))) == 2


def test_a_url_found_again_has_both_parents():
    strategy = Anthelion()
    come(strategy, SEED, RELEVANT, "http://a.example/x")
    come(strategy, "http://other.example/", IRRELEVANT, "http://a.example/x")
    assert strategy._waiting["http://a.example/x"].parents == [SEED, "http://other.example/"]


def test_predictions_are_probabilities_of_good():
    good, bad = come(taught(), SEED, RELEVANT, "http://a.example/solar/", "http://a.example/tea/")
    assert 1 > good.breakdown["prediction"] > 0.5 > bad.breakdown["prediction"] > 0
    assert good.score == good.breakdown["prediction"]


def test_of_unlikely_urls_the_better_host_still_wins():
    strategy = taught()
    come(strategy, SEED, RELEVANT, "http://cup.example/tea/x", "http://sun.example/tea/x")
    assert list(strategy.revise([])) == ["http://sun.example/tea/x"]


@pytest.mark.parametrize("parameters", [{"random_share": 2}, {"decay_every": -1}, {"learn_every": 0}])
def test_parameters_without_sense_are_refused(parameters):
    with pytest.raises(ValueError, match="must"):
        Anthelion(**parameters)

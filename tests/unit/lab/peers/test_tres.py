"""TRES: what is rewarded, what is fetched next, and the targets of double Q-learning."""

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.strategies.small_world import IRRELEVANT, RELEVANT, lease, page
from thresher.records import Link
from thresher.topics.profile import TopicProfile
from thresher_lab.peers.tres import Tres
from thresher_lab.peers.turns import CHOSEN_SCORE, SEED_SCORE

AIM = TopicProfile(vectors={"en": {"solar": 1.0}}, phrases=["solar"])
SEED = "http://a.example/"
LINKS = [Link(url=f"http://a.example/{name}", anchor=name) for name in ("solar", "tea")]


class KnownQ:
    """A network that values state-actions by one of their numbers."""

    def __init__(self, place, sign=1.0):
        self._place, self._sign = place, sign

    def predict(self, X):
        return self._sign * X[:, self._place]

    def learn(self, X, y):
        """It knows."""


def come(strategy, url, judgement, *links, hops=1, strategy_data=None):
    here = replace(lease(url=url, strategy_data=strategy_data), hops=hops)
    return list(strategy.score(page(*links, url=url), judgement, here))


def test_seeds_come_first_and_are_rewarded():
    strategy = Tres(AIM)
    assert [each.score for each in strategy.seeds([SEED])] == [SEED_SCORE]
    come(strategy, SEED, IRRELEVANT, hops=0)
    assert [reward for _, reward in strategy._tree.experience()] == [1.0]


def test_links_wait_in_the_tree_and_carry_their_numbers():
    strategy = Tres(AIM)
    solar, tea = come(strategy, SEED, RELEVANT, *LINKS, hops=0)
    assert (solar.score, tea.score) == (1.0, 0.5)
    assert len(solar.strategy_data["x"]) == 9
    assert solar.strategy_data["path"] == [1, 0, 1]
    assert [each.url for each in strategy._tree.leaves[0].samples] == [solar.url, tea.url]


def test_of_the_drawn_links_the_one_of_greatest_value_is_lifted():
    strategy = Tres(AIM, replay_start=1)
    come(strategy, SEED, RELEVANT, *LINKS, hops=0)
    for number in range(6):  # whether the anchor is like the topic parts the leaves
        x = [1.0, 1.0, 1.0, 0, number % 2, 0, 0.5, 0, number % 2]
        strategy._tree.learn(np.array(x), float(number % 2))
    for sign, wanted in [(1.0, "solar"), (-1.0, "tea")]:
        strategy._q = KnownQ(8, sign)
        [(url, change)] = strategy._choice.lift(strategy._choose).items()
        assert (url, change.now) == (f"http://a.example/{wanted}", CHOSEN_SCORE)
        come(strategy, url, IRRELEVANT)


def test_a_page_is_rewarded_by_its_verdict_also_after_a_restart():
    [candidate] = come(Tres(AIM), SEED, RELEVANT, LINKS[0], hops=0)
    strategy = Tres(AIM)
    come(strategy, candidate.url, RELEVANT, strategy_data=candidate.strategy_data)
    [(x, reward)] = strategy._tree.experience()
    assert (x.tolist(), reward) == (candidate.strategy_data["x"], 1.0)


def test_the_first_network_chooses_and_the_second_values():
    strategy = Tres(AIM)
    strategy._q, strategy._target_q = KnownQ(0), KnownQ(1)
    assert strategy._next_value(np.array([[1.0, 5.0], [2.0, 3.0]])) == 3.0


@pytest.mark.parametrize("parameters", [{"gamma": 1.0}, {"replay_start": 0}, {"target_every": 0}])
def test_parameters_without_sense_are_refused(parameters):
    with pytest.raises(ValueError, match="must"):
        Tres(AIM, **parameters)

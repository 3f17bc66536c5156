"""The base class of strategies has defaults that cost nothing, and no strategy has to inherit from it."""

import pytest

from thresher.records import Candidate, Merge
from thresher.strategies.base import (
    BaseStrategy,
    Batched,
    Forecaster,
    HandlesMisses,
    Rescorer,
    Stateful,
    StatefulStrategy,
    WarmStartable,
)


class Plain(BaseStrategy):
    def score(self, page, judgement, lease):
        return ()


class Deep(Plain):
    seed_score = 3.0
    seed_depth = 2


class Saved(StatefulStrategy):
    score = Plain.score


def test_seeds_come_first_and_the_best_score_counts():
    assert list(Plain().seeds(["http://a.org/", "http://b.org/"])) == [
        Candidate(url="http://a.org/", score=1.0),
        Candidate(url="http://b.org/", score=1.0),
    ]
    assert Plain().merge is Merge.MAX


def test_score_and_depth_of_seeds_are_attributes():
    assert list(Deep().seeds(["http://a.org/"])) == [Candidate(url="http://a.org/", score=3.0, depth_left=2)]


@pytest.mark.parametrize("capability", [Batched, Forecaster, HandlesMisses, Rescorer, Stateful, WarmStartable])
def test_it_switches_no_capability_on(capability):
    assert not isinstance(Plain(), capability)


def test_state_is_the_one_capability_of_the_stateful_base_class():
    assert isinstance(Saved(), Stateful)
    assert not isinstance(Saved(), Rescorer | WarmStartable | HandlesMisses | Forecaster | Batched)

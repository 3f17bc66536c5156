"""How far a path may lead over irrelevant pages."""

import pytest

from tests.unit.strategies.small_world import (
    IRRELEVANT,
    RELEVANT,
    KnownAim,
    depths_of_an_irrelevant_path,
    lease,
    links,
    page,
)
from thresher.strategies.best_first import BestFirst
from thresher.strategies.depth_limit import fcmrps_depth, fish_depth
from thresher_papers.strategies.fcmrps import Fcmrps
from thresher_papers.strategies.fish import Fish
from thresher_papers.strategies.shark import Shark


@pytest.mark.parametrize("strategy", [Fish(), Shark(KnownAim())])
def test_fish_and_shark_cross_four_irrelevant_pages(strategy):
    assert depths_of_an_irrelevant_path(strategy) == [3, 2, 1, 0]


@pytest.mark.parametrize("strategy", [Fcmrps(KnownAim()), Shark(KnownAim(), form="fcmrps"), BestFirst(D=3)])
def test_fcmrps_and_its_baselines_cross_three_irrelevant_pages(strategy):
    assert depths_of_an_irrelevant_path(strategy) == [3, 2, 1]


def test_best_first_has_no_depth_limit_by_default():
    assert len(list(BestFirst().score(page(*links(2)), IRRELEVANT, lease(depth_left=0)))) == 2


def test_best_first_with_a_depth_limit_starts_anew_from_a_relevant_page():
    [found] = BestFirst(D=3).score(page(*links(1)), RELEVANT, lease(depth_left=1))
    assert found.depth_left == 3


@pytest.mark.parametrize("rule", [fish_depth, fcmrps_depth])
def test_children_of_a_relevant_page_start_anew(rule):
    assert rule(1, True, 3) == 3


def test_at_the_end_of_a_path_a_fish_dies_even_on_a_relevant_page():
    assert fish_depth(0, True, 3) is None


def test_fcmrps_starts_anew_from_a_relevant_page_whatever_its_depth():
    assert fcmrps_depth(0, True, 3) == 3

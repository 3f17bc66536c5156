"""ACHE's levels: bands by level, the baseline before the first training, and links that move when it comes."""

import pytest

from tests.unit.strategies.small_world import IRRELEVANT, RELEVANT, lease, page, verdict
from thresher.records import Link
from thresher.strategies.base import Rescorer
from thresher_lab.peers.ache_levels import AcheLevels, banded

SOLAR = Link(url="http://a.example/solar/1", anchor="solar cells")
HUB = Link(url="http://a.example/list/1", anchor="all lists")


def test_a_better_level_outweighs_every_probability():
    assert banded([0.4, 0.3, 0.3]) == pytest.approx((2 + 0.4) / 3)
    assert banded([0.0, 1.0, 0.0]) == pytest.approx((1 + 0.99) / 3)
    assert banded([0.1, 0.1, 0.8]) == pytest.approx(0.8 / 3)


def test_before_the_first_training_the_page_decides():
    [candidate] = AcheLevels().score(page(SOLAR), verdict(True, 0.6), lease())
    assert (candidate.score, candidate.breakdown) == (pytest.approx(0.6 / 3), {"page": 0.6})
    assert candidate.strategy_data == {"near": ["solar cells", ""]}
    [candidate] = AcheLevels().score(page(SOLAR), RELEVANT, lease())
    assert 1 / 3 <= candidate.score < 2 / 3


def trained():
    """Let hubs lead to solar pages, twice, and train on them."""
    strategy = AcheLevels(learn_every=7)
    list(strategy.score(page(SOLAR, HUB), RELEVANT, lease(url="http://a.example/seed")))
    for number in range(3):
        hub, solar = f"http://a.example/list/x{number}", f"http://a.example/solar/x{number}"
        link = Link(url=solar)
        list(strategy.score(page(link, url=hub), IRRELEVANT, lease(url=hub, strategy_data={"near": ["all lists", ""]})))
        list(strategy.score(page(url=solar), RELEVANT, lease(url=solar, strategy_data={"near": ["solar cells", ""]})))
    return strategy


def test_links_that_wait_move_into_their_bands():
    strategy = trained()
    assert isinstance(strategy, Rescorer)
    changes = strategy.revise([])
    assert changes[SOLAR.url].now > 2 / 3 > changes[HUB.url].now > 1 / 3
    assert strategy.revise([]) == {}


def test_new_links_are_put_into_their_bands():
    strategy = trained()
    strategy.revise([])
    link = Link(url="http://a.example/solar/9", anchor="solar cells")
    [candidate] = strategy.score(page(link), IRRELEVANT, lease(url="http://a.example/new"))
    assert candidate.score > 2 / 3
    assert set(candidate.breakdown) == {"level 0", "level 1", "level 2"}


def test_training_comes_after_at_least_one_page():
    with pytest.raises(ValueError, match="at least 1"):
        AcheLevels(learn_every=0)

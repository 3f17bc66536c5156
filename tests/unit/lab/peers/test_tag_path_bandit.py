"""The sleeping bandit: AUER's score, arms that sleep, and links drawn from the best arm that is awake."""

from dataclasses import replace
from math import log, sqrt

import pytest

from tests.unit.strategies.small_world import IRRELEVANT, RELEVANT, lease, page
from thresher.records import Link
from thresher_lab.peers.tag_path_bandit import BanditArm, TagPathBandit

LIST, TABLE = "html/body/ul/li/a", "html/body/table/tbody/tr/td/a"


def come(strategy, url, judgement, *links, path=None):
    strategy_data = {"tag_path": path} if path else {}
    here = replace(lease(url=url, strategy_data=strategy_data), hops=1 if path else 0)
    return list(strategy.score(page(*links, url=url), judgement, here))


def links(path, *names):
    return [Link(url=f"http://a.example/{name}", tag_path=path) for name in names]


def taught(alpha):
    strategy = TagPathBandit(alpha=alpha)
    for number in range(4):
        come(strategy, f"http://a.example/l{number}", RELEVANT, path=LIST)
        come(strategy, f"http://a.example/t{number}", IRRELEVANT, path=TABLE)
    return strategy


def test_an_arm_is_worth_its_mean_and_what_it_might_be_worth():
    strategy = TagPathBandit(alpha=2.0)
    assert strategy.auer(BanditArm(pulls=4, reward=3.0), 16) == pytest.approx(0.75 + 2.0 * sqrt(log(16) / 4))
    assert strategy.auer(BanditArm(), 16) == float("inf")


def test_the_better_arm_is_pulled():
    strategy = taught(alpha=0.1)
    come(strategy, "http://a.example/seed", RELEVANT, *links(TABLE, "x", "y"), *links(LIST, "good"))
    assert list(strategy.revise([])) == ["http://a.example/good"]


def test_an_arm_without_links_sleeps():
    strategy = taught(alpha=0.1)
    come(strategy, "http://a.example/seed", RELEVANT, *links(TABLE, "x"))
    assert list(strategy.revise([])) == ["http://a.example/x"]
    strategy.on_miss(replace(lease(url="http://a.example/x", strategy_data={"tag_path": TABLE}), hops=1))
    assert strategy.revise([]) == {}


def test_alpha_decides_how_soon_a_bad_arm_is_tried_again():
    for alpha, wanted in [(0.1, "good"), (20.0, "x")]:
        strategy = taught(alpha)
        for number in range(9):  # the good arm is known ever better
            come(strategy, f"http://a.example/more{number}", RELEVANT, path=LIST)
        come(strategy, "http://a.example/seed", RELEVANT, *links(TABLE, "x"), *links(LIST, "good"))
        assert list(strategy.revise([])) == [f"http://a.example/{wanted}"]


def test_links_carry_their_place_and_say_what_their_arm_is_worth():
    [candidate] = come(taught(0.1), "http://a.example/seed", RELEVANT, *links(LIST, "good"))
    assert candidate.strategy_data == {"tag_path": LIST}
    assert candidate.breakdown == {"arm": 0.0, "mean reward": 1.0, "pulls": 4.0}


def test_a_page_that_never_comes_rewards_nobody():
    strategy = TagPathBandit()
    strategy.on_miss(lease(url="http://a.example/x", strategy_data={"tag_path": LIST}))
    assert (strategy._arms[0].pulls, strategy._arms[0].reward) == (1, 0.0)


def test_alpha_is_not_negative():
    with pytest.raises(ValueError, match="at least 0"):
        TagPathBandit(alpha=-1)

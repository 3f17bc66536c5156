"""Crawl4AI's scorer: the share of keywords in a URL, then the smaller depth; ten at a time."""

from dataclasses import replace

import pytest

from tests.unit.strategies.small_world import RELEVANT, lease, page
from thresher.records import Link
from thresher.topics.profile import TopicProfile
from thresher_lab.peers.crawl4ai_url_scorer import Crawl4aiUrlScorer, keywords_of

AIM = TopicProfile(phrases=["Food and drink", "tea"])


def score(url, *, hops=0, **parameters):
    [found] = Crawl4aiUrlScorer(AIM, **parameters).score(page(Link(url=url)), RELEVANT, replace(lease(), hops=hops))
    return found


def share(url, **parameters):
    return score(url, **parameters).breakdown["keywords in URL"]


def test_a_url_is_worth_the_share_of_keywords_in_it():
    assert share("http://a.example/food/drinks") == pytest.approx(2 / 3)
    assert share("http://a.example/Steam") == pytest.approx(1 / 3)  # anywhere, in any case: s-tea-m
    assert share("http://a.example/%74ea") == pytest.approx(1 / 3)
    assert share("http://a.example/coffee") == 0


def test_case_and_weight_are_parameters():
    assert share("http://a.example/food", case_sensitive=True) == 0
    assert share("http://a.example/Food", case_sensitive=True, weight=0.6) == pytest.approx(0.2)


def test_links_wait_below_zero_for_a_batch_of_ten():
    assert Crawl4aiUrlScorer(AIM).batch_size == 10
    assert -1 < score("http://a.example/food").score < 0


def test_depth_parts_equal_urls_only():
    assert score("http://a.example/x", hops=0).score > score("http://a.example/x", hops=1).score
    assert score("http://a.example/tea", hops=50).score > score("http://a.example/x", hops=0).score


def test_nothing_is_followed_beyond_the_depth():
    strategy = Crawl4aiUrlScorer(AIM, max_depth=2)
    here = page(Link(url="http://a.example/x"))
    assert len(list(strategy.score(here, RELEVANT, replace(lease(), hops=1)))) == 1
    assert list(strategy.score(here, RELEVANT, replace(lease(), hops=2))) == []


def test_keywords_are_words_without_stop_words_and_chinese_phrases_stay_whole():
    assert keywords_of(["Food and drink", "the food"]) == ["Food", "drink", "food"]
    assert keywords_of(["绿茶"]) == ["绿茶"]


@pytest.mark.parametrize("parameters", [{"weight": 0}, {"weight": 2}, {"max_depth": -1}])
def test_parameters_without_sense_are_refused(parameters):
    with pytest.raises(ValueError, match="must"):
        Crawl4aiUrlScorer(AIM, **parameters)

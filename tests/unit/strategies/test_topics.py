"""A strategy for several topics: the best topic that still wants pages scores a link."""

import pytest

from tests.unit.strategies.small_world import HERE, lease, links, page, verdict
from thresher.records import SEED_TOPICS, Candidate, Judgement, Merge, Revision
from thresher.strategies.base import BaseStrategy, Batched, Rescorer, ScoreChange, Stateful, WarmStartable
from thresher.strategies.best_first import BestFirst
from thresher.strategies.flagship.strategy import Thresher
from thresher.strategies.topics import TopicsStrategy, seed_topics
from thresher.topics.profile import TopicProfile

A, B = "http://a.example/0", "http://a.example/1"


class Fixed(BaseStrategy):
    """Scores every link by the reward of its page, times a factor per URL."""

    def __init__(self, **factors):
        self._factors = factors
        self.revised = []

    def score(self, page, judgement, lease):
        for link in page.links:
            factor = self._factors.get(link.url[-1:], 1.0) if self._factors else 1.0
            yield Candidate(
                url=link.url,
                score=judgement.reward * factor,
                parts={"own": judgement.reward},
                carry={"seen": lease.carry.get("seen", 0) + 1},
            )

    def revise(self, revisions):
        self.revised += revisions
        return {A: ScoreChange(0.5, 0.9)} if revisions else {}


def judged(**rewards):
    return Judgement.of_topics({name: verdict(reward > 0.5, reward) for name, reward in rewards.items()})


def both(**wanted):
    return TopicsStrategy({"solar": Fixed(), "tea": Fixed()}, seeds={"solar": {A}, "tea": {B}}, wanted=wanted)


def test_a_link_has_the_score_of_its_best_topic_and_names_all():
    [candidate] = both().score(page(*links(1)), judged(solar=0.2, tea=0.8), lease())
    assert candidate.score == 0.8
    assert candidate.parts == {"topic solar": 0.2, "topic tea": 0.8, "own": 0.8}


def test_each_topic_gets_back_its_own_carry():
    strategy = both()
    [first] = strategy.score(page(*links(1)), judged(solar=0.2, tea=0.8), lease())
    [second] = strategy.score(page(*links(1)), judged(solar=0.2, tea=0.8), lease(carry=first.carry, url=A))
    assert second.carry == {"topics": {"solar": {"seen": 2}, "tea": {"seen": 2}}}


def test_seeds_carry_the_topics_that_they_belong_to():
    other = "http://b.example/"
    seeds = {candidate.url: candidate for candidate in both().seeds([A, B, other])}
    assert {url: candidate.carry.get(SEED_TOPICS) for url, candidate in seeds.items()} == {
        A: ["solar"],
        B: ["tea"],
        other: None,
    }
    assert seed_topics(lease(carry=seeds[A].carry)) == ["solar"]
    assert seed_topics(lease()) == ()


def test_a_complete_topic_scores_no_links_and_its_waiting_urls_sink():
    strategy = both(tea=10)
    strategy.score(page(*links(1)), judged(solar=0.2, tea=0.8), lease())
    strategy.set_found({"tea": 9})
    assert strategy.revise([]) == {}
    strategy.set_found({"tea": 10})
    assert strategy.needs == {"solar": 1.0, "tea": 0.0}
    assert strategy.revise([]) == {A: ScoreChange(0.8, 0.2)}
    assert strategy.revise([]) == {}
    [candidate] = strategy.score(page(*links(1), url=B), judged(solar=0.3, tea=0.8), lease(url=B))
    assert candidate.score == 0.3
    strategy.set_found({"tea": 8})
    assert strategy.revise([]) == {A: ScoreChange(0.3, 0.8)}


def test_links_that_wait_for_a_batch_stay_below_zero():
    class Waiting(Fixed):
        batch_size = 3

        def score(self, page, judgement, lease):
            return [found._replace(score=found.score - 1) for found in super().score(page, judgement, lease)]

    strategy = TopicsStrategy({"solar": Waiting(), "tea": Waiting()}, seeds={}, wanted={"tea": 1})
    strategy.set_found({"tea": 1})
    [candidate] = strategy.score(page(*links(1)), judged(solar=0.2, tea=0.8), lease())
    assert candidate.score == pytest.approx(-0.8)
    assert strategy.batch_size == 3


def test_a_revision_reaches_the_strategies_of_its_topics_only():
    strategy = both()
    strategy.score(page(*links(1)), judged(solar=0.5, tea=0.8), lease())
    changes = strategy.revise([Revision(url=HERE, judgement=judged(solar=0.9))])
    assert changes == {A: ScoreChange(0.8, 0.9)}
    assert strategy.strategies["tea"].revised == []


def test_it_has_the_capabilities_that_the_crawl_looks_for():
    strategy = TopicsStrategy({"a": BestFirst(), "b": BestFirst()}, seeds={})
    for capability in (Rescorer, Stateful, WarmStartable, Batched):
        assert isinstance(strategy, capability)
    assert strategy.batch_size == 0
    assert strategy.merge is Merge.MAX
    assert strategy.forecast(pages=200, harvest=20.0, waiting=100) is None


def test_the_own_strategy_learns_each_topic_from_its_own_reward():
    strategy = TopicsStrategy({name: Thresher(TopicProfile()) for name in ("solar", "tea")}, seeds={})
    list(strategy.seeds([HERE]))
    before = {found.url: found for found in strategy.score(page(*links(3)), judged(solar=0.9, tea=0.1), lease())}
    assert before[A].parts["topic solar"] > before[A].parts["topic tea"]
    list(strategy.score(page(*links(2), url=B), judged(solar=0.0, tea=1.0), lease(url=B)))
    strategy.revise([Revision(url=B, judgement=judged(tea=0.9))])
    assert strategy.forecast(pages=200, harvest=20.0, waiting=100) is not None

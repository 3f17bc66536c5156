"""A strategy for several topics: a link is worth its expected gain for the topics that need pages."""

import pytest

from tests.unit.strategies.small_world import HERE, lease, links, page, verdict
from thresher.records import ONE_TOPIC, SEED_TOPICS, Candidate, Judgement, Merge, Revision
from thresher.strategies.base import BaseStrategy, Batched, Rescorer, ScoreChange, Stateful
from thresher.strategies.best_first import BestFirst
from thresher.strategies.link_model.strategy import LinkModelStrategy
from thresher.strategies.topics import MultiTopicStrategy, seed_topics, topics_strategy
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
                breakdown={"own": judgement.reward},
                strategy_data={"seen": lease.strategy_data.get("seen", 0) + 1},
            )

    def revise(self, revisions):
        self.revised += revisions
        return {A: ScoreChange(0.5, 0.9)} if revisions else {}


def judged(**rewards):
    return Judgement.of_topics({name: verdict(reward > 0.5, reward) for name, reward in rewards.items()})


def both(**wanted):
    return MultiTopicStrategy({"solar": Fixed(), "tea": Fixed()}, seeds={"solar": {A}, "tea": {B}}, wanted=wanted)


def test_a_link_has_the_sum_of_its_scores_and_names_all():
    [candidate] = both().score(page(*links(1)), judged(solar=0.2, tea=0.7), lease())
    assert candidate.score == pytest.approx(0.9)
    assert candidate.breakdown == {"topic solar": 0.2, "topic tea": 0.7, "own": 0.7}


def test_a_url_that_is_found_again_has_the_best_score_of_each_topic():
    strategy = both()
    strategy.score(page(*links(1)), judged(solar=0.2, tea=0.4), lease())
    [candidate] = strategy.score(page(*links(1), url=B), judged(solar=0.3, tea=0.1), lease(url=B))
    assert candidate.score == pytest.approx(0.3 + 0.4)


def test_the_need_of_a_topic_falls_with_its_pages_and_steps_of_waiting_urls_are_few():
    strategy = both()
    strategy.score(page(*links(1)), judged(solar=0.2, tea=0.8), lease())
    strategy.set_found({"solar": 5, "tea": 6})
    assert strategy.revise([]) == {}  # too small a change to score all waiting URLs again
    strategy.set_found({"solar": 5, "tea": 15})
    assert strategy.needs == {"solar": 1.0, "tea": pytest.approx(0.5)}
    assert strategy.revise([]) == {A: ScoreChange(1.0, pytest.approx(0.6))}
    [candidate] = strategy.score(page(*links(1), url=B), judged(solar=0.1, tea=0.9), lease(url=B))
    assert candidate.score == pytest.approx(0.2 + 0.5 * 0.9)


def test_without_balance_every_topic_that_wants_pages_counts_alike():
    strategy = MultiTopicStrategy({"solar": Fixed(), "tea": Fixed()}, seeds={}, wanted={"tea": 90}, balance=0.0)
    strategy.set_found({"solar": 5, "tea": 80})
    assert strategy.needs == {"solar": 1.0, "tea": 1.0}


def test_a_complete_topic_does_not_set_the_measure_for_the_others():
    strategy = both(tea=3)
    strategy.set_found({"solar": 95, "tea": 3})
    assert strategy.needs == {"solar": 1.0, "tea": 0.0}


def test_a_score_in_the_frontier_is_divided_among_the_topics_as_when_the_url_was_found():
    strategy = both()
    strategy.set_found({"solar": 5, "tea": 15})
    found = {"up": {"solar": 0.2, "tea": 0.4, "gone": 0.9}, "zero": {"solar": 0.0, "tea": 0.0}, "done": {"tea": 0.3}}
    found["batch"] = {"solar": -0.5, "tea": -0.9}
    assert strategy.restore_scores(found, {"up": 0.8, "zero": 0.1, "batch": -0.4}) == {
        "solar": {"up": pytest.approx(0.4), "zero": 0.1, "batch": -0.4},
        "tea": {"up": pytest.approx(0.8), "zero": 0.1, "batch": -0.9},
    }


def test_each_topic_gets_back_its_own_carry():
    strategy = both()
    [first] = strategy.score(page(*links(1)), judged(solar=0.2, tea=0.8), lease())
    [second] = strategy.score(
        page(*links(1)), judged(solar=0.2, tea=0.8), lease(strategy_data=first.strategy_data, url=A)
    )
    assert second.strategy_data == {"topics": {"solar": {"seen": 2}, "tea": {"seen": 2}}}


def test_seeds_carry_the_topics_that_they_belong_to():
    other = "http://b.example/"
    seeds = {candidate.url: candidate for candidate in both().seeds([A, B, other])}
    assert {url: candidate.strategy_data.get(SEED_TOPICS) for url, candidate in seeds.items()} == {
        A: ["solar"],
        B: ["tea"],
        other: None,
    }
    assert seed_topics(lease(strategy_data=seeds[A].strategy_data)) == ["solar"]
    assert seed_topics(lease()) == ()


def test_a_complete_topic_scores_no_links_and_its_waiting_urls_sink():
    strategy = both(tea=10)
    strategy.score(page(*links(1)), judged(solar=0.2, tea=0.8), lease())
    strategy.set_found({"tea": 9})
    assert strategy.revise([]) == {A: ScoreChange(1.0, pytest.approx(0.2 + 5 / 14 * 0.8))}
    strategy.set_found({"tea": 10})
    assert strategy.needs == {"solar": 1.0, "tea": 0.0}
    assert strategy.revise([]) == {A: ScoreChange(pytest.approx(0.2 + 5 / 14 * 0.8), 0.2)}
    assert strategy.revise([]) == {}
    [candidate] = strategy.score(page(*links(1), url=B), judged(solar=0.3, tea=0.8), lease(url=B))
    assert candidate.score == 0.3
    strategy.set_found({"tea": 8})
    assert strategy.revise([]) == {A: ScoreChange(0.3, pytest.approx(0.3 + 5 / 13 * 0.8))}


def test_links_that_wait_for_a_batch_stay_below_zero():
    class Waiting(Fixed):
        batch_size = 3

        def score(self, page, judgement, lease):
            return [found._replace(score=found.score - 1) for found in super().score(page, judgement, lease)]

    strategy = MultiTopicStrategy({"solar": Waiting(), "tea": Waiting()}, seeds={}, wanted={"tea": 1})
    strategy.set_found({"tea": 1})
    [candidate] = strategy.score(page(*links(1)), judged(solar=0.2, tea=0.8), lease())
    assert candidate.score == pytest.approx(-0.8)
    assert strategy.batch_size == 3


def test_a_revision_reaches_the_strategies_of_its_topics_only():
    strategy = both()
    strategy.score(page(*links(1)), judged(solar=0.5, tea=0.8), lease())
    changes = strategy.revise([Revision(url=HERE, judgement=judged(solar=0.9))])
    assert changes == {A: ScoreChange(1.3, pytest.approx(1.7))}
    assert strategy.strategies["tea"].revised == []


def test_the_strategy_of_an_only_topic_is_used_as_it_is_and_that_of_a_named_one_is_not():
    strategy = Fixed()
    assert topics_strategy({ONE_TOPIC: strategy}, seeds={}, wanted={}) is strategy
    assert isinstance(topics_strategy({"tea": strategy}, seeds={}, wanted={}), MultiTopicStrategy)


def test_it_has_the_capabilities_that_the_crawl_looks_for():
    strategy = MultiTopicStrategy({"a": BestFirst(), "b": BestFirst()}, seeds={})
    for capability in (Rescorer, Stateful, Batched):
        assert isinstance(strategy, capability)
    assert strategy.batch_size == 0
    assert strategy.merge is Merge.MAX
    assert strategy.forecast(pages=200, harvest=20.0, waiting=100) is None


def test_the_own_strategy_learns_each_topic_from_its_own_reward():
    strategy = MultiTopicStrategy({name: LinkModelStrategy(TopicProfile()) for name in ("solar", "tea")}, seeds={})
    list(strategy.seeds([HERE]))
    before = {found.url: found for found in strategy.score(page(*links(3)), judged(solar=0.9, tea=0.1), lease())}
    assert before[A].breakdown["topic solar"] > before[A].breakdown["topic tea"]
    list(strategy.score(page(*links(2), url=B), judged(solar=0.0, tea=1.0), lease(url=B)))
    strategy.revise([Revision(url=B, judgement=judged(tea=0.9))])
    assert strategy.forecast(pages=200, harvest=20.0, waiting=100) is not None


def test_a_seed_is_a_seed_for_its_own_topics_only():
    class Hops(Fixed):
        def score(self, page, judgement, lease):
            self.hops = lease.hops
            return super().score(page, judgement, lease)

    strategy = MultiTopicStrategy({"solar": Hops(), "tea": Hops()}, seeds={"solar": {A}, "tea": {B}})
    [seed] = [candidate for candidate in strategy.seeds([A, B]) if candidate.url == A]
    list(
        strategy.score(
            page(*links(1), url=A), judged(solar=1.0, tea=0.0), lease(url=A, strategy_data=seed.strategy_data)
        )
    )
    assert {name: each.hops for name, each in strategy.strategies.items()} == {"solar": 0, "tea": 1}

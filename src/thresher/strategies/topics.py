"""The strategy of crawls of several topics: one strategy of the configured kind per topic.

Each learns from the judgements for its own topic. The score of a link is its expected gain, the sum over the topics of
need times score. A topic that has its pages needs no more. The need of the others falls with what they have:

    need = ((SMOOTHING + least found) / (SMOOTHING + found)) ^ balance        over the topics that need pages

With balance 1 the crawl is proportionally fair (Kelly 1997): it follows the gradient of the sum of log(found), so a
topic with many pages, or whose judge is too generous, leaves fetches to the others. The scores of waiting URLs are
remembered by topic; all are scored again when a need has changed by the factor `NEED_STEP`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from math import log
from typing import cast

from thresher.judges.base import StateStore
from thresher.modelstate.by_topic import TopicState
from thresher.records import (
    EMPTY,
    ONE_TOPIC,
    SEED_TOPICS,
    TOPIC_PART,
    Candidate,
    Forecast,
    Json,
    Judgement,
    Lease,
    Merge,
    ParsedPage,
    Revision,
    StrategyData,
)
from thresher.strategies.base import (
    Batched,
    Forecaster,
    HandlesMisses,
    Rescorer,
    ScoreChange,
    Stateful,
    Strategy,
)

MAX_WAITING = 500_000
"""Waiting URLs whose scores are remembered by topic: the latest."""
MIN_CHANGE = 1e-6
BALANCE = 1.0
SMOOTHING = 5.0
"""Pages that every topic is taken to have at the start: about the number of seeds."""
NEED_STEP = 1.3
"""A need is applied when it has changed by this factor: all waiting URLs are scored again."""
DATA_BY_TOPIC = "topics"
"""The key of a URL's strategy data with those of each topic."""

Scores = dict[str, float]
"""Scores of one URL, by topic."""


class MultiTopicStrategy:
    """Follow the links that are best for one of several topics.

    Args:
        strategies: The strategy of each topic, by its name.
        seeds: The canonical URLs of each topic's seeds; a seed of no topic is scored by all of them.
        wanted: How many relevant pages a topic wants; topics without a number always need more.
        balance: How much the need of a topic falls with its pages: 0 not at all.
    """

    def __init__(
        self,
        strategies: Mapping[str, Strategy],
        *,
        seeds: Mapping[str, AbstractSet[str]],
        wanted: Mapping[str, int] | None = None,
        balance: float = BALANCE,
    ) -> None:
        self.strategies = strategies
        self._balance = balance
        self.wanted = wanted or {}
        first = next(iter(strategies.values()))
        self.merge: Merge = first.merge
        self.batch_size = max(each.batch_size if isinstance(each, Batched) else 0 for each in strategies.values())
        self._seeds = seeds
        self._waiting: dict[str, Scores] = {}
        self._needs = self._applied_needs = dict.fromkeys(strategies, 1.0)

    @property
    def needs(self) -> Mapping[str, float]:
        return self._needs

    def set_found(self, found: Mapping[str, int]) -> None:
        """Set how many relevant pages each topic has; the next `revise` scores waiting URLs again if needs changed."""
        numbers = {name: found.get(name, 0) for name in self.strategies}
        incomplete = {name: n for name, n in numbers.items() if n < self.wanted.get(name, n + 1)}
        least = SMOOTHING + min(incomplete.values(), default=0)
        needs = {
            name: (least / (SMOOTHING + number)) ** self._balance if name in incomplete else 0.0
            for name, number in numbers.items()
        }
        if any(_differs(need, self._needs[name]) for name, need in needs.items()):
            self._needs = needs
            if not self._waiting:
                self._applied_needs = needs

    def seeds(self, urls: Sequence[str]) -> Iterable[Candidate]:
        owners = {url: [name for name in self.strategies if url in self._seeds.get(name, ())] for url in urls}
        found = {
            name: strategy.seeds([url for url in urls if name in owners[url] or not owners[url]])
            for name, strategy in self.strategies.items()
        }
        for candidate in self._combined(found):
            names = owners[candidate.url]
            yield (
                candidate._replace(strategy_data={**candidate.strategy_data, SEED_TOPICS: names})
                if names
                else candidate
            )

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterable[Candidate]:
        self._waiting.pop(lease.url, None)
        return self._combined(
            {
                name: strategy.score(page, judgement.topics.get(name, judgement), _lease_of(lease, name))
                for name, strategy in self.strategies.items()
            }
        )

    def on_miss(self, lease: Lease) -> Iterable[Candidate]:
        self._waiting.pop(lease.url, None)
        found = {
            name: strategy.on_miss(_lease_of(lease, name))
            for name, strategy in self.strategies.items()
            if isinstance(strategy, HandlesMisses)
        }
        return self._combined(found)

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, ScoreChange]:
        """Return the new scores of waiting URLs: of all when a need has changed."""
        was = self._applied_needs
        changed = self._waiting if was != self._needs else {}
        before = {url: _gain(scores, was) for url, scores in changed.items()}
        for name, strategy in self.strategies.items():
            if isinstance(strategy, Rescorer):
                for url, change in strategy.revise(_revisions_of(revisions, name)).items():
                    scores = self._waiting.setdefault(url, {name: change.was})
                    before.setdefault(url, _gain(scores, was))
                    scores[name] = change.now
        self._applied_needs = self._needs
        after = {url: _gain(self._waiting[url], self._needs) for url in before}
        return {
            url: ScoreChange(score, after[url]) for url, score in before.items() if abs(after[url] - score) > MIN_CHANGE
        }

    def restore_scores(
        self, found: Mapping[str, Mapping[str, float]], waiting: Mapping[str, float]
    ) -> Mapping[str, Scores]:
        """Remember waiting URLs after a restart; return for each topic its scores of them, by URL.

        Args:
            found: By URL its scores by topic when it was found; topics may have been removed from topic.yaml since.
            waiting: The scores of waiting URLs in the frontier.
        """
        restored: dict[str, Scores] = {name: {} for name in self.strategies}
        for url in (url for url in found if url in waiting):
            if own := {name: score for name, score in found[url].items() if name in restored}:
                for name, score in self._split(own, waiting[url]).items():
                    self._waiting.setdefault(url, {})[name] = restored[name][url] = score
        return restored

    def _split(self, scores: Scores, score: float) -> Scores:
        """Return scores by topic that give a waiting URL its score in the frontier.

        Args:
            scores: Its scores by topic when it was found.
            score: Its score in the frontier.
        """
        gain = _gain(scores, self._applied_needs)
        if gain > 0 and score >= 0:
            return {name: own * score / gain for name, own in scores.items()}
        best = max(scores.values())
        return {name: score if own == best else min(own, score) for name, own in scores.items()}

    def forecast(self, *, pages: int, harvest: float, waiting: int) -> Forecast | None:
        first = next(iter(self.strategies.values()))  # all are of one kind, which has one formula
        return first.forecast(pages=pages, harvest=harvest, waiting=waiting) if isinstance(first, Forecaster) else None

    def load_state(self, state_store: StateStore) -> None:
        for name, strategy in self.strategies.items():
            if isinstance(strategy, Stateful):
                strategy.load_state(TopicState(state_store, name))

    def save_state(self) -> None:
        for strategy in self.strategies.values():
            if isinstance(strategy, Stateful):
                strategy.save_state()

    def _combined(self, found: Mapping[str, Iterable[Candidate]]) -> list[Candidate]:
        """Return one candidate per URL, with its score for each topic as parts."""
        by_url: dict[str, dict[str, Candidate]] = {}
        for name, candidates in found.items():
            for candidate in candidates:
                own = by_url.setdefault(candidate.url, {})
                if name not in own or own[name].score < candidate.score:
                    own[name] = candidate
        return [self._candidate(url, own) for url, own in by_url.items()]

    def _candidate(self, url: str, own: Mapping[str, Candidate]) -> Candidate:
        scores = self._remember(url, {name: candidate.score for name, candidate in own.items()})
        decisive = max(own, key=lambda name: _weighted(own[name].score, self._applied_needs[name]))
        topics = {f"{TOPIC_PART}{name}": round(candidate.score, 3) for name, candidate in own.items()}
        data_by_topic = {name: candidate.strategy_data for name, candidate in own.items() if candidate.strategy_data}
        return Candidate(
            url,
            _gain(scores, self._applied_needs),
            {**topics, **own[decisive].breakdown},
            cast(StrategyData, {DATA_BY_TOPIC: data_by_topic}) if data_by_topic else EMPTY,
            max(candidate.depth_left for candidate in own.values()),
        )

    def _remember(self, url: str, scores: Scores) -> Scores:
        """Combine the scores with those of an earlier link to the same URL, as the frontier does; return the result."""
        known = self._waiting.get(url)
        if known is None:
            self._waiting[url] = known = dict(scores)
            if len(self._waiting) > MAX_WAITING:
                del self._waiting[next(iter(self._waiting))]
        elif self.merge is Merge.MAX:
            for name, score in scores.items():
                known[name] = max(score, known.get(name, score))
        return known


def topics_strategy(
    strategies: Mapping[str, Strategy], *, seeds: Mapping[str, AbstractSet[str]], wanted: Mapping[str, int]
) -> Strategy:
    """Combine the strategies of all topics, as `MultiTopicStrategy` does; that of an only topic is itself."""
    if ONE_TOPIC in strategies:
        return strategies[ONE_TOPIC]
    return MultiTopicStrategy(strategies, seeds=seeds, wanted=wanted)


def seed_topics(lease: Lease) -> Sequence[str]:
    """Return the topics of a seed, also after redirects; none for other URLs and in crawls of one topic."""
    return cast(Sequence[str], lease.strategy_data.get(SEED_TOPICS, ())) if lease.strategy_data else ()


def _gain(scores: Scores, needs: Mapping[str, float]) -> float:
    """Return the score of a URL by its scores for the topics; where some wait for the next batch, the best counts."""
    if min(scores.values()) < 0:
        return max(_weighted(score, needs[name]) for name, score in scores.items())
    return sum(needs[name] * score for name, score in scores.items())


def _weighted(score: float, need: float) -> float:
    """Multiply a score by a need; scores below 0 wait for the next batch, and their lowest value is -1."""
    return need * score if score >= 0 else need * (score + 1) - 1


def _differs(need: float, applied: float) -> bool:
    """Return whether a need has changed enough to score all waiting URLs again."""
    return need != applied and (not need or not applied or abs(log(need / applied)) >= log(NEED_STEP))


def _lease_of(lease: Lease, topic: str) -> Lease:
    """Return the lease with the strategy data of one topic, for which a seed of others is an ordinary page."""
    hops = lease.hops if topic in seed_topics(lease) else max(1, lease.hops)
    data_by_topic = (
        cast(Mapping[str, Json], lease.strategy_data.get(DATA_BY_TOPIC) or EMPTY) if lease.strategy_data else EMPTY
    )
    return replace(lease, hops=hops, strategy_data=cast(StrategyData, data_by_topic.get(topic) or EMPTY))


def _revisions_of(revisions: Sequence[Revision], topic: str) -> list[Revision]:
    """Return the revised judgements for one topic; one without topics holds for all."""
    return [
        Revision(url=revision.url, judgement=revision.judgement.topics.get(topic, revision.judgement))
        for revision in revisions
        if topic in revision.judgement.topics or not revision.judgement.topics
    ]

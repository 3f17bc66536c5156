"""The strategy of crawls of several topics: one strategy of the configured kind per topic.

Each learns from the judgements for its own topic. The score of a link is the maximum over the topics of need times
score: the need of a topic is 1 while it wants pages, and 0 when it has them. The scores of waiting URLs are remembered
by topic, so that all of them are scored again when a need changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import cast

from thresher.judges.base import StateStore
from thresher.modelstate.by_topic import TopicState
from thresher.records import (
    EMPTY,
    SEED_TOPICS,
    TOPIC_PART,
    Candidate,
    Carry,
    Forecast,
    Json,
    Judgement,
    Lease,
    Merge,
    ParsedPage,
    Revision,
)
from thresher.strategies.base import (
    Batched,
    Forecaster,
    HandlesMisses,
    Rescorer,
    ScoreChange,
    Stateful,
    Strategy,
    WarmStartable,
)

MOST_WAITING = 500_000
"""Waiting URLs whose scores are remembered by topic: the latest."""
LEAST_CHANGE = 1e-6
CARRIES = "topics"
"""The key of a URL's carry with the carry of each topic."""

Scores = dict[str, float]
"""Scores of one URL, by topic."""


class TopicsStrategy:
    """Follow the links that are best for one of several topics.

    Args:
        strategies: The strategy of each topic, by its name.
        seeds: The canonical URLs of each topic's seeds; a seed of no topic is scored by all of them.
        wanted: How many relevant pages a topic wants; topics without a number always need more.
    """

    def __init__(
        self,
        strategies: Mapping[str, Strategy],
        *,
        seeds: Mapping[str, AbstractSet[str]],
        wanted: Mapping[str, int] | None = None,
    ) -> None:
        self.strategies = strategies
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
        complete = {name for name, wanted in self.wanted.items() if found.get(name, 0) >= wanted}
        self._needs = {name: float(name not in complete) for name in self.strategies}

    def seeds(self, urls: Sequence[str]) -> Iterable[Candidate]:
        owners = {url: [name for name in self.strategies if url in self._seeds.get(name, ())] for url in urls}
        found = {
            name: strategy.seeds([url for url in urls if name in owners[url] or not owners[url]])
            for name, strategy in self.strategies.items()
        }
        for candidate in self._combined(found):
            names = owners[candidate.url]
            yield candidate._replace(carry={**candidate.carry, SEED_TOPICS: names}) if names else candidate

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
        before = {url: self._best(scores, was) for url, scores in changed.items()}
        for name, strategy in self.strategies.items():
            if isinstance(strategy, Rescorer):
                for url, change in strategy.revise(_revisions_of(revisions, name)).items():
                    scores = self._waiting.setdefault(url, {name: change.was})
                    before.setdefault(url, self._best(scores, was))
                    scores[name] = change.now
        self._applied_needs = self._needs
        after = {url: self._best(self._waiting[url], self._needs) for url in before}
        return {
            url: ScoreChange(score, after[url])
            for url, score in before.items()
            if abs(after[url] - score) > LEAST_CHANGE
        }

    def warm_start(
        self, page: ParsedPage, judgement: Judgement, *, waiting: Mapping[str, float], outcomes: Mapping[str, float]
    ) -> None:
        """Load a page of an earlier run for all topics alike; `warm_start_topic` knows the scores of each."""
        for name in self.strategies:
            self.warm_start_topic(name, page, judgement, waiting=waiting, outcomes=outcomes)

    def warm_start_topic(
        self,
        name: str,
        page: ParsedPage,
        judgement: Judgement,
        *,
        waiting: Mapping[str, float],
        outcomes: Mapping[str, float],
    ) -> None:
        """Load a page of an earlier run for one topic, with the scores and outcomes for this topic."""
        strategy = self.strategies.get(name)
        if strategy is None:  # it was removed from topic.yaml since
            return
        for link in page.links:
            if link.url in waiting:
                self._waiting.setdefault(link.url, {})[name] = waiting[link.url]
        if isinstance(strategy, WarmStartable):
            own = judgement.topics.get(name, judgement)
            strategy.warm_start(page, own, waiting=waiting, outcomes=outcomes)

    def forecast(self, *, pages: int, harvest: float, waiting: int) -> Forecast | None:
        first = next(iter(self.strategies.values()))
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
        scores = {name: candidate.score for name, candidate in own.items()}
        self._remember(url, scores)
        weighted = {name: _weighted(score, self._needs[name]) for name, score in scores.items()}
        decisive = own[max(weighted, key=weighted.__getitem__)]
        topics = {f"{TOPIC_PART}{name}": round(score, 3) for name, score in weighted.items()}
        carries = {name: candidate.carry for name, candidate in own.items() if candidate.carry}
        return Candidate(
            url,
            max(weighted.values()),
            {**topics, **decisive.parts},
            cast(Carry, {CARRIES: carries}) if carries else EMPTY,
            max(candidate.depth_left for candidate in own.values()),
        )

    def _remember(self, url: str, scores: Scores) -> None:
        """Combine the scores with those of an earlier link to the same URL, as the frontier does."""
        known = self._waiting.get(url)
        if known is None:
            self._waiting[url] = dict(scores)
            if len(self._waiting) > MOST_WAITING:
                del self._waiting[next(iter(self._waiting))]
        elif self.merge is Merge.MAX:
            for name, score in scores.items():
                known[name] = max(score, known.get(name, score))

    def _best(self, scores: Scores, needs: Mapping[str, float]) -> float:
        return max(_weighted(score, needs[name]) for name, score in scores.items())


def seed_topics(lease: Lease) -> Sequence[str]:
    """Return the topics of a seed, also after redirects; none for other URLs and in crawls of one topic."""
    return cast(Sequence[str], lease.carry.get(SEED_TOPICS, ())) if lease.carry else ()


def _weighted(score: float, need: float) -> float:
    """Multiply a score by a need; scores below 0 wait for the next batch, and their lowest value is -1."""
    return need * score if score >= 0 else need * (score + 1) - 1


def _lease_of(lease: Lease, topic: str) -> Lease:
    """Return the lease with the carry of one topic."""
    if not lease.carry:
        return lease
    carries = cast(Mapping[str, Json], lease.carry.get(CARRIES) or EMPTY)
    return replace(lease, carry=cast(Carry, carries.get(topic) or EMPTY))


def _revisions_of(revisions: Sequence[Revision], topic: str) -> list[Revision]:
    """Return the revised judgements for one topic; one without topics holds for all."""
    return [
        Revision(url=revision.url, judgement=revision.judgement.topics.get(topic, revision.judgement))
        for revision in revisions
        if topic in revision.judgement.topics or not revision.judgement.topics
    ]

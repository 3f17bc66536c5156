"""CPU time of the judge and the strategy, without the rest of the pipeline."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from copy import copy

from thresher.judges.base import Judge, Learner, StateStore
from thresher.judges.topics import MultiTopicJudge, topics_judge
from thresher.records import Candidate, Forecast, Judgement, Lease, ParsedPage, Revision, TermWeight
from thresher.strategies.base import Batched, Forecaster, HandlesMisses, Rescorer, ScoreChange, Strategy
from thresher.strategies.topics import MultiTopicStrategy


class Stopwatch:
    """Adds up CPU seconds, which other processes do not distort."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._started = 0.0

    def __enter__(self) -> Stopwatch:
        self._started = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.process_time() - self._started


class TimedJudge:
    """A judge with a stopwatch."""

    def __init__(self, judge: Judge, watch: Stopwatch) -> None:
        self._judge = judge
        self._watch = watch

    def judge(self, page: ParsedPage) -> Judgement:
        with self._watch:
            return self._judge.judge(page)

    def words(self, page: ParsedPage) -> Sequence[TermWeight]:
        return self._judge.words(page)


class TimedLearner(TimedJudge):
    """A learning judge with a stopwatch."""

    def __init__(self, judge: Learner, watch: Stopwatch) -> None:
        super().__init__(judge, watch)
        self._learner = judge

    def learn(self, page: ParsedPage, *, seed: bool = False) -> Sequence[Revision]:
        with self._watch:
            return self._learner.learn(page, seed=seed)

    def teach(self, labelled: Mapping[str, float | None]) -> Sequence[Revision]:
        with self._watch:
            return self._learner.teach(labelled)

    def vector(self, page: ParsedPage) -> bytes:
        return self._learner.vector(page)

    def judge_vector(self, url: str, language: str, vector: bytes) -> Judgement | None:
        with self._watch:
            return self._learner.judge_vector(url, language, vector)

    def remembers(self, url: str) -> bool:
        return self._learner.remembers(url)

    def load_state(self, state_store: StateStore) -> None:
        self._learner.load_state(state_store)

    def save_state(self) -> None:
        self._learner.save_state()


def timed_judge(judge: Judge, watch: Stopwatch) -> Judge:
    """Wrap a judge with a stopwatch; a learning judge still learns, and of several topics each is timed."""
    if isinstance(judge, MultiTopicJudge):
        return topics_judge({name: timed_judge(each, watch) for name, each in judge.judges.items()})
    return TimedLearner(judge, watch) if isinstance(judge, Learner) else TimedJudge(judge, watch)


class TimedStrategy:
    """A strategy with a stopwatch."""

    def __init__(self, strategy: Strategy, watch: Stopwatch) -> None:
        self._strategy = strategy
        self._watch = watch
        self.merge = strategy.merge
        self.batch_size = strategy.batch_size if isinstance(strategy, Batched) else 0

    def seeds(self, urls: Sequence[str]) -> Iterable[Candidate]:
        return self._strategy.seeds(urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterable[Candidate]:
        with self._watch:
            return list(self._strategy.score(page, judgement, lease))

    def on_miss(self, lease: Lease) -> Iterable[Candidate]:
        with self._watch:
            return list(self._strategy.on_miss(lease)) if isinstance(self._strategy, HandlesMisses) else []

    def forecast(self, *, pages: int, harvest: float, waiting: int) -> Forecast | None:
        """Return the strategy's forecast, if it makes one."""
        if not isinstance(self._strategy, Forecaster):
            return None
        return self._strategy.forecast(pages=pages, harvest=harvest, waiting=waiting)


class TimedRescorer(TimedStrategy):
    """A rescoring strategy with a stopwatch."""

    def __init__(self, strategy: Rescorer, watch: Stopwatch) -> None:
        super().__init__(strategy, watch)
        self._rescorer = strategy

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, ScoreChange]:
        with self._watch:
            return self._rescorer.revise(revisions)


def timed_strategy(strategy: Strategy, watch: Stopwatch) -> Strategy:
    """Wrap a strategy with a stopwatch; a rescoring strategy still rescores, and of several topics each is timed."""
    if isinstance(strategy, MultiTopicStrategy):
        timed = copy(strategy)
        timed.strategies = {name: timed_strategy(each, watch) for name, each in strategy.strategies.items()}
        return timed
    return TimedRescorer(strategy, watch) if isinstance(strategy, Rescorer) else TimedStrategy(strategy, watch)

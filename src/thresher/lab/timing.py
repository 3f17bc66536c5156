"""What the judge and the strategy spend, apart from the line around them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from thresher.classify.base import Judge, Learner, Notebook
from thresher.records import Candidate, Forecast, Judgement, Lease, ParsedPage, Revision, Word
from thresher.strategies.base import Batcher, Change, Forecaster, Persistent, Rescorer, Strategy


class Stopwatch:
    """Adds up seconds of the processor, which others at work on the machine do not stretch."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._started = 0.0

    def __enter__(self) -> Stopwatch:
        self._started = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.process_time() - self._started


class TimedJudge:
    """A judge on a stopwatch."""

    def __init__(self, judge: Judge, watch: Stopwatch) -> None:
        self._judge = judge
        self._watch = watch

    def judge(self, page: ParsedPage) -> Judgement:
        """Judge, and note how long it took."""
        with self._watch:
            return self._judge.judge(page)

    def words(self, page: ParsedPage) -> Sequence[Word]:
        """Say which words counted."""
        return self._judge.words(page)


class TimedLearner(TimedJudge):
    """A judge that learns, on a stopwatch."""

    def __init__(self, judge: Learner, watch: Stopwatch) -> None:
        super().__init__(judge, watch)
        self._learner = judge

    def learn(self, page: ParsedPage, *, seed: bool = False) -> Sequence[Revision]:
        """Learn, and note how long it took."""
        with self._watch:
            return self._learner.learn(page, seed=seed)

    def teach(self, told: Mapping[str, bool | None]) -> Sequence[Revision]:
        """Take a person's word, and note how long it took."""
        with self._watch:
            return self._learner.teach(told)

    def vector(self, page: ParsedPage) -> bytes:
        """Give what is needed to judge the page again."""
        return self._learner.vector(page)

    def judge_vector(self, url: str, language: str, vector: bytes) -> Judgement | None:
        """Judge a page again, and note how long it took."""
        with self._watch:
            return self._learner.judge_vector(url, language, vector)

    def remembers(self, url: str) -> bool:
        """Tell whether a page is at hand to learn from."""
        return self._learner.remembers(url)

    def keep_in(self, notebook: Notebook) -> None:
        """Write down what is learned."""
        self._learner.keep_in(notebook)

    def write_down(self) -> None:
        """Write down what was learned."""
        self._learner.write_down()


def timed_judge(judge: Judge, watch: Stopwatch) -> Judge:
    """Put a judge on a stopwatch; it still learns if it did before."""
    return TimedLearner(judge, watch) if isinstance(judge, Learner) else TimedJudge(judge, watch)


class TimedStrategy:
    """A strategy on a stopwatch."""

    def __init__(self, strategy: Strategy, watch: Stopwatch) -> None:
        self._strategy = strategy
        self._watch = watch
        self.merge = strategy.merge
        self.batch_size = strategy.batch_size if isinstance(strategy, Batcher) else 0

    def seeds(self, urls: Sequence[str]) -> Iterable[Candidate]:
        """Give the seeds their place in the queue."""
        return self._strategy.seeds(urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterable[Candidate]:
        """Score, and note how long it took."""
        with self._watch:
            return list(self._strategy.score(page, judgement, lease))

    def missed(self, lease: Lease) -> Iterable[Candidate]:
        """Go on from a page that never came, and note how long it took."""
        with self._watch:
            return list(self._strategy.missed(lease)) if isinstance(self._strategy, Persistent) else []

    def forecast(self, *, pages: int, harvest: float, waiting: int) -> Forecast | None:
        """Return the strategy's forecast, if it makes one."""
        if not isinstance(self._strategy, Forecaster):
            return None
        return self._strategy.forecast(pages=pages, harvest=harvest, waiting=waiting)


class TimedRescorer(TimedStrategy):
    """A strategy that scores again, on a stopwatch."""

    def __init__(self, strategy: Rescorer, watch: Stopwatch) -> None:
        super().__init__(strategy, watch)
        self._rescorer = strategy

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, Change]:
        """Score again, and note how long it took."""
        with self._watch:
            return self._rescorer.revise(revisions)


def timed_strategy(strategy: Strategy, watch: Stopwatch) -> Strategy:
    """Put a strategy on a stopwatch; it still scores again if it did before."""
    return TimedRescorer(strategy, watch) if isinstance(strategy, Rescorer) else TimedStrategy(strategy, watch)

"""What the judge and the strategy spend, apart from the line around them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from thresher.classify.base import Judge
from thresher.records import Candidate, Judgement, Lease, ParsedPage
from thresher.strategies.base import Strategy


class Stopwatch:
    """Adds up seconds."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._started = 0.0

    def __enter__(self) -> Stopwatch:
        self._started = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._started


class TimedJudge:
    """A judge on a stopwatch."""

    def __init__(self, judge: Judge, watch: Stopwatch) -> None:
        self._judge = judge
        self._watch = watch

    def judge(self, page: ParsedPage) -> Judgement:
        """Judge, and note how long it took."""
        with self._watch:
            return self._judge.judge(page)


class TimedStrategy:
    """A strategy on a stopwatch."""

    def __init__(self, strategy: Strategy, watch: Stopwatch) -> None:
        self._strategy = strategy
        self._watch = watch
        self.merge = strategy.merge

    def seeds(self, urls: Sequence[str]) -> Iterable[Candidate]:
        """Give the seeds their place in the queue."""
        return self._strategy.seeds(urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterable[Candidate]:
        """Score, and note how long it took."""
        with self._watch:
            return list(self._strategy.score(page, judgement, lease))

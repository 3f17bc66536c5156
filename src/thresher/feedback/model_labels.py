"""Answers of a language model: the log of requests, which is cache and account, and how often the model is wrong.

Each request is a line of the log, with its tokens and the answer. An answer is found again by a hash of model, topic
and text, so that asking the same again costs nothing. The sums over the log are what the budget limits, over all runs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from thresher.config.model_labels import ModelLabelsConfig
from thresher.feedback.labels import MIN_DOUBT, Label, model_labels, verdicts
from thresher.feedback.model_client import ModelAnswer
from thresher.intervals import wilson_interval
from thresher.locale.translation import _

MIN_COMPARED = 5
"""Pages with a person's label too from which an error rate is reported."""
ASSUMED_RIGHT, ASSUMED_PAGES = 0.65, 5.0
"""The confidence in a model that was not compared yet, and how many pages this assumption counts as.

Chosen on dev topics (``python -m bench.effectiveness.model_labels --dev``): with 0.8, a model with every fifth answer
wrong made verdicts worse; with 0.65 it hardly does, and a model without errors still improves them.
"""


@dataclass(frozen=True, kw_only=True)
class ErrorRate:
    """How often a model is wrong, on pages that a person labelled too.

    Args:
        pages: Pages that both labelled.
        wrong: Those where they differ.
    """

    pages: int
    wrong: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the error rate, after Wilson."""
        return wilson_interval(self.wrong, self.pages)

    @property
    def confidence(self) -> float:
        """The probability that an answer is right, between the assumption and what was observed."""
        right = self.pages - self.wrong + ASSUMED_PAGES * ASSUMED_RIGHT
        return min(max(right / (self.pages + ASSUMED_PAGES), 0.5), 1.0 - MIN_DOUBT)

    def __str__(self) -> str:
        if self.pages < MIN_COMPARED:
            return _("not known yet ({pages} of its pages have a person's label too)", pages=self.pages)
        low, high = self.interval
        return _(
            "{rate:.0%} ({low:.0%} to {high:.0%}, by {pages} pages that a person labelled too)",
            rate=self.wrong / self.pages,
            low=low,
            high=high,
            pages=self.pages,
        )


def error_rate(labels: Iterable[Label], model: str = "") -> ErrorRate:
    """Compare labels of models with those of people; with a name, those of this model."""
    labels = list(labels)
    people, asked = verdicts(labels), model_labels(labels)
    both = [
        (label.relevant, people[url])
        for url, label in asked.items()
        if url in people and (not model or label.model == model)
    ]
    return ErrorRate(pages=len(both), wrong=sum(given != right for given, right in both))


def label_probability(answer: ModelAnswer, rate: ErrorRate) -> float:
    """Return the probability that a page is about the topic, given a model's answer of yes or no.

    It is that of the endpoint's log probabilities, but no answer is taken as surer than the confidence in the model,
    which grows by comparison with people: a model that is wrong is often sure of it.
    """
    assert answer.relevant is not None
    given = 1.0 if answer.probability is None else max(answer.probability, 1.0 - answer.probability)
    sure = min(given, rate.confidence)
    return sure if answer.relevant else 1.0 - sure


@dataclass(frozen=True, kw_only=True)
class Spending:
    """What was spent on a model, over all runs."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0

    def exhausted(self, config: ModelLabelsConfig) -> str:
        """Return which limit of the budget is reached; empty when none is."""
        if self.calls >= config.calls:
            return _("{calls:,} calls", calls=config.calls)
        if config.tokens is not None and self.tokens >= config.tokens:
            return _("{tokens:,} tokens", tokens=config.tokens)
        if config.cost is not None and self.cost >= config.cost:
            return _("a cost of {cost:g}", cost=config.cost)
        return ""

    def __str__(self) -> str:
        if not self.cost:
            return _("{calls:,} calls, {tokens:,} tokens", calls=self.calls, tokens=self.tokens)
        return _(
            "{calls:,} calls, {tokens:,} tokens, cost {cost:.4f}", calls=self.calls, tokens=self.tokens, cost=self.cost
        )


class AnswerLog:
    """The requests to a model, in a file of lines; truncated lines are skipped."""

    def __init__(self, path: Path, config: ModelLabelsConfig) -> None:
        self._path = path
        self._config = config
        self._answers: dict[str, ModelAnswer] = {}
        self._calls = self._input_tokens = self._output_tokens = 0
        for line in path.read_bytes().splitlines() if path.is_file() else ():
            self._read(line)

    @property
    def spending(self) -> Spending:
        config = self._config
        cost = (self._input_tokens * config.input_price + self._output_tokens * config.output_price) / 1e6
        return Spending(calls=self._calls, tokens=self._input_tokens + self._output_tokens, cost=cost)

    def find(self, key: str) -> ModelAnswer | None:
        """Return a cached answer."""
        return self._answers.get(key)

    def add(self, key: str, answer: ModelAnswer | None, reason: str = "") -> None:
        """Record a request; without an answer, the reason why there is none."""
        entry: dict[str, object] = {"key": key, "at": time.time(), "model": self._config.model}
        if answer:
            entry |= {"relevant": answer.relevant, "probability": answer.probability}
            entry |= {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens}
        if reason:
            entry["reason"] = reason
        line = json.dumps(entry).encode()
        with self._path.open("ab") as file:
            file.write((b"" if self._is_complete() else b"\n") + line + b"\n")
        self._read(line)

    def _is_complete(self) -> bool:
        """Return whether the last line has its end; a crash may have truncated it."""
        if not self._path.is_file() or not self._path.stat().st_size:
            return True
        with self._path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) == b"\n"

    def _read(self, line: bytes) -> None:
        try:
            entry = json.loads(line)
            answer = _answer(entry)
        except (ValueError, TypeError, KeyError, AttributeError):
            return
        self._calls += 1
        self._input_tokens += answer.input_tokens
        self._output_tokens += answer.output_tokens
        if answer.relevant is not None:
            self._answers[str(entry["key"])] = answer


def _answer(entry: Mapping[str, object]) -> ModelAnswer:
    """Read an entry of the log.

    Raises:
        ValueError: It has other values than those that are written.
    """
    relevant, probability = entry.get("relevant"), entry.get("probability")
    tokens = [entry.get("input_tokens", 0), entry.get("output_tokens", 0)]
    is_answer = relevant in (True, False, None) and (probability is None or isinstance(probability, float))
    if not is_answer or not isinstance(entry["key"], str) or not all(isinstance(number, int) for number in tokens):
        raise ValueError("not an answer")
    return ModelAnswer(
        relevant=None if relevant is None else bool(relevant),
        probability=probability if isinstance(probability, float) else None,
        input_tokens=int(str(tokens[0])),
        output_tokens=int(str(tokens[1])),
    )

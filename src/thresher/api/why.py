"""The explanation of a URL: one sentence, the path from a seed, and all parts of its scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from thresher.charts.html import html_table
from thresher.operations.explain import Explanation, strongest
from thresher.records import Parts
from thresher.storage.reader import PathHop
from thresher.text.terminal import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One page of a path, and the link that led to it.

    Args:
        anchor: The words of the link; empty for a seed or a redirect.
        score: The score of that link, or of the seed.
        score_parts: The parts of the score.
        relevance: The probability that the page is about the topic.
        relevance_parts: What the relevance was computed from.
        reason: Why it gave no page; empty when it did.
    """

    url: str
    title: str
    anchor: str
    score: float
    score_parts: Parts
    relevance: float
    relevant: bool
    relevance_parts: Parts = field(repr=False)
    reason: str


@dataclass(frozen=True, kw_only=True)
class Why:
    """Everything known about a URL.

    Args:
        state: ``waiting``, ``leased``, ``done``, ``failed``, or ``unknown`` when it was never queued.
        reason: Why it failed, or why it is outside the scope.
        path: From the seed to it; to the page that links to it when it was not fetched yet.
        fetched: Whether it was fetched.
    """

    url: str
    state: str
    reason: str
    path: list[Step]
    fetched: bool
    explanation: Explanation = field(repr=False)

    @property
    def summary(self) -> str:
        """Its state and how it was found, in one or two sentences."""
        return self.explanation.summary

    @property
    def score(self) -> float | None:
        """Its score in the queue, or when it was leased; None when it was never queued."""
        if self.fetched and self.path:
            return self.path[-1].score
        return self.explanation.entry.score if self.explanation.entry else None

    @property
    def score_parts(self) -> Parts:
        """The parts of the score, once it was fetched."""
        return self.path[-1].score_parts if self.fetched and self.path else {}

    @property
    def relevance_parts(self) -> Parts:
        """What the relevance was computed from, once it was fetched."""
        return self.path[-1].relevance_parts if self.fetched and self.path else {}

    def as_json(self) -> dict[str, Any]:
        """Return plain values, as ``thresher why --json`` prints them."""
        return self.explanation.as_json()

    def __str__(self) -> str:
        return "\n".join(map(printable, self.explanation.lines()))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        columns = ["", "page", "title", "by the link", "score", "strongest parts", "relevance", "computed from"]
        rows = [(number, *_cells(step)) for number, step in enumerate(self.path)]
        return html_table(["", ""], [("url", self.url), ("", self.summary)]) + html_table(columns, rows)


def why_of(explanation: Explanation) -> Why:
    """Return an explanation as a `Why`."""
    entry = explanation.entry
    return Why(
        url=explanation.url,
        state=str(entry.state) if entry else "unknown",
        reason=entry.reason if entry else explanation.outside,
        path=[_step(hop) for hop in explanation.path],
        fetched=bool(explanation.history),
        explanation=explanation,
    )


def _step(hop: PathHop) -> Step:
    record = hop.record
    return Step(
        url=record.url,
        title=record.title,
        anchor=hop.anchor,
        score=hop.score,
        score_parts=hop.parts,
        relevance=record.relevance,
        relevant=record.relevant,
        relevance_parts=record.parts,
        reason=record.reason,
    )


def _cells(step: Step) -> tuple[Any, ...]:
    score_parts, relevance_parts = _values(strongest(step.score_parts)), _values(step.relevance_parts)
    return step.url, step.title or step.reason, step.anchor, step.score, score_parts, step.relevance, relevance_parts


def _values(parts: Parts) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in parts.items())

"""The explanation of a URL: the verdict in words, the shortest path from a seed, and all parts of its scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from thresher.charts.html import html_table
from thresher.operations.explain import Explanation
from thresher.operations.verdict import PageVerdict
from thresher.records import ScoreBreakdown
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
    score_parts: ScoreBreakdown
    relevance: float
    relevant: bool
    relevance_parts: ScoreBreakdown = field(repr=False)
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
        """The verdict or its state, and how it was found, in sentences."""
        return self.explanation.summary

    @property
    def verdict(self) -> PageVerdict | None:
        """The verdict on its page: sentence, rank, words for and against, nearest example; None without a page."""
        return self.explanation.verdict

    @property
    def score(self) -> float | None:
        """Its score when it was fetched, before that in the queue; None when it was never queued."""
        return self.explanation.score

    @property
    def score_parts(self) -> ScoreBreakdown:
        """The parts of the score of the link by which it was found."""
        return self.explanation.link.parts if self.explanation.link else {}

    @property
    def relevance_parts(self) -> ScoreBreakdown:
        """What the relevance was computed from, once it was fetched."""
        return self.verdict.judgement.breakdown if self.verdict else {}

    def as_json(self, *, details: bool = False) -> dict[str, Any]:
        """Return plain values, as ``thresher why --json`` prints them."""
        return self.explanation.as_json(details=details)

    def details(self) -> str:
        """Return every number as text, as ``thresher why --details`` prints them."""
        return "\n".join(map(printable, self.explanation.detail_lines()))

    def __str__(self) -> str:
        return "\n".join(map(printable, self.explanation.lines()))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(["", ""], [("", line) for line in str(self).splitlines()])


def why_of(explanation: Explanation) -> Why:
    """Return an explanation as a `Why`."""
    return Why(
        url=explanation.url,
        state=explanation.state,
        reason=explanation.reason,
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
        reason=str(record.reason),
    )

"""Why a page is there: one sentence, the path from a seed, and every part of every score."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from thresher.api.markup import table
from thresher.archive.collection import Hop
from thresher.explain import Explanation, strongest
from thresher.records import Parts
from thresher.text.printable import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One page of a path, and the link that led to it.

    Args:
        anchor: The words of the link; empty for a seed or a redirect.
        score: The score of that link, or of the seed.
        score_parts: What the score was made of.
        relevance: How well the page fits the topic.
        relevance_parts: What that was made of.
        reason: Why it brought no page; empty when it did.
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
    """All that is known of a URL.

    Args:
        state: ``waiting``, ``leased``, ``done``, ``failed``, or ``unknown`` when it was never queued.
        reason: Why it failed, or why the crawl's rules leave it out.
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
        """Where it stands and how it was found, in one or two plain sentences."""
        return self.explanation.summary

    @property
    def score(self) -> float | None:
        """The score that it waits with, or by which its turn came; None when it was never queued."""
        if self.fetched and self.path:
            return self.path[-1].score
        return self.explanation.entry.score if self.explanation.entry else None

    @property
    def score_parts(self) -> Parts:
        """What the score was made of, once it was fetched."""
        return self.path[-1].score_parts if self.fetched and self.path else {}

    @property
    def relevance_parts(self) -> Parts:
        """What the relevance was made of, once it was fetched."""
        return self.path[-1].relevance_parts if self.fetched and self.path else {}

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values, as ``thresher why --json`` prints them."""
        return self.explanation.as_json()

    def __str__(self) -> str:
        return "\n".join(map(printable, self.explanation.lines()))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        columns = ["", "page", "title", "by the link", "score", "strongest parts", "relevance", "computed from"]
        rows = [(number, *_cells(step)) for number, step in enumerate(self.path)]
        return table(["", ""], [("url", self.url), ("", self.summary)]) + table(columns, rows)


def why_of(explanation: Explanation) -> Why:
    """Put an explanation into the words of a program."""
    entry = explanation.entry
    return Why(
        url=explanation.url,
        state=str(entry.state) if entry else "unknown",
        reason=entry.reason if entry else explanation.outside,
        path=[_step(hop) for hop in explanation.path],
        fetched=bool(explanation.history),
        explanation=explanation,
    )


def _step(hop: Hop) -> Step:
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
    made_of, thought = _values(strongest(step.score_parts)), _values(step.relevance_parts)
    return step.url, step.title or step.reason, step.anchor, step.score, made_of, step.relevance, thought


def _values(parts: Parts) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in parts.items())

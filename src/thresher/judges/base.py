"""Protocols of judges and of the state store that learners use.

A judge is called for every page. A learner is also trained with each page, and from time to time revises earlier
judgements. Judges take plain values: they depend neither on files nor on taxonomies or stores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from thresher.records import Judgement, ParsedPage, Revision, TermWeight

MAX_WORDS = 50
"""Terms that an explanation of a judgement lists at most."""
MIN_CHANGE = 0.01
"""A revision is reported when the relevance (or the reward) changes by more than this."""
FINAL_PAGES = 500
"""Pages after which the judgements of new pages change little."""


def label_weight(label: float) -> float:
    """Return how much a label counts: 1 for one by a person, less the less sure a model is, 0 at one half."""
    return abs(2.0 * label - 1.0)


def is_certain(label: float) -> bool:
    """Return whether a label is by a person."""
    return label in (0.0, 1.0)


def with_label(probability: float, label: float) -> float:
    """Return the probability of a labelled page: the label of a person; with one by a model, both as odds."""
    if is_certain(label):
        return float(label)
    odds = min(max(probability, 1e-6), 1.0 - 1e-6) * label
    return odds / (odds + min(max(1.0 - probability, 1e-6), 1.0 - 1e-6) * (1.0 - label))


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestExample:
    """The example that a page is most similar to.

    Args:
        similarity: The cosine of their term vectors, in the weights of the judge.
        label: 1 for yes, 0 for no, between them that of a model; None for a seed without a label.
    """

    url: str
    similarity: float
    label: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """Why a judge judges a page as it does.

    Args:
        words: As `Judge.words` returns them.
        nearest: The nearest other example; None when the judge does not compare pages, or has no other.
    """

    words: Sequence[TermWeight] = ()
    nearest: NearestExample | None = None


class Judge(Protocol):
    """A classifier of pages that explains its judgements."""

    def judge(self, page: ParsedPage) -> Judgement:
        """Judge one page, without side effects; never raises for anything a page can contain."""
        ...

    def words(self, page: ParsedPage) -> Sequence[TermWeight]:
        """Return the terms of the page that counted, for and against, by descending absolute weight."""
        ...


class StateStore(Protocol):
    """Persistent state of a learner, one entry per kind and worker."""

    @property
    def write_seconds(self) -> float:
        """Seconds between two saves at least, as the crawl goes on; 0 where only pages count."""
        ...

    def write(self, kind: str, content: bytes) -> None:
        """Replace this worker's entry of a kind atomically."""
        ...

    def read(self, kind: str) -> bytes | None:
        """Return this worker's entry of a kind."""
        ...

    def read_others(self, kind: str) -> Sequence[bytes]:
        """Return the entries of a kind that other workers wrote since the previous call."""
        ...


@runtime_checkable
class Learner(Judge, Protocol):
    """A judge that learns from the crawl."""

    def learn(self, page: ParsedPage, *, seed: bool = False) -> Sequence[Revision]:
        """Learn from a fetched page; return the judgements of earlier pages that changed.

        Args:
            seed: Whether the page is a seed, at whatever URL it was served.
        """
        ...

    def teach(self, labelled: Mapping[str, float | None]) -> Sequence[Revision]:
        """Apply labels of pages, fetched or not, and refit once; return the judgements that changed.

        Args:
            labelled: By URL whether the page is about the topic: True or False by a person, the probability by a
                model; None withdraws the label.
        """
        ...

    def vector(self, page: ParsedPage) -> bytes:
        """Return what is needed to judge the page again later, without its text."""
        ...

    def judge_vector(self, url: str, language: str, vector: bytes) -> Judgement | None:
        """Judge a page by its `vector` with the current model; None when that is not enough.

        Raises:
            ValueError: The vector cannot be read.
        """
        ...

    def remembers(self, url: str) -> bool:
        """Return whether a page is still in memory; a labelled page that is not must be passed to `learn` again."""
        ...

    def load_state(self, state_store: StateStore) -> None:
        """Restore the saved state, and save to the same store from time to time from now on."""
        ...

    def save_state(self) -> None:
        """Save what was learned since the last save."""
        ...


@runtime_checkable
class ExplainingLearner(Learner, Protocol):
    """A learner that can explain the judgement of a page whose text was not kept, by its `vector`."""

    def reasons(self, page: ParsedPage, vector: bytes) -> Reasons:
        """Explain the judgement of a page.

        Raises:
            ValueError: The vector cannot be read.
        """
        ...


def reasons_of(judge: Judge, page: ParsedPage, vector: bytes) -> Reasons:
    """Explain the judgement of a page by its `vector`, or by its text where there is none.

    Raises:
        ValueError: The vector cannot be read.
    """
    if vector and isinstance(judge, ExplainingLearner):
        return judge.reasons(page, vector)
    return Reasons(words=judge.words(page) if page.text else ())

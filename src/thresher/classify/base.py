"""What every judge promises, and what it is told of its topic.

A judge is asked about every page; a learner also takes each page in, and now and then thinks again about those it
has judged before. Judges take plain values, so that they know nothing of files, taxonomies or stores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from thresher.records import Judgement, ParsedPage, Revision, Word

TermWeights = Mapping[str, float]
"""Weights of terms as `text.tokens.tokenize` writes them."""


def _no_classes() -> Mapping[str, Sequence[str]]:
    return {}


@dataclass(frozen=True, kw_only=True)
class Brief:
    """What a judge is told of a topic before the first page.

    Args:
        phrases: Its phrases and keywords as the user wrote them.
        vectors: Its terms and their weights, by language.
        seeds: Canonical URLs to start from: about the topic, as far as anybody knows.
        yes: Canonical URLs of pages that the user says are about it.
        no: Canonical URLs of pages that the user says are not.
        classes: Gives the texts of the example pages of every class of a taxonomy; asked for only by judges that train.
        targets: The classes that are wanted.
    """

    phrases: Sequence[str] = ()
    vectors: Mapping[str, TermWeights] = field(default_factory=dict)
    seeds: frozenset[str] = frozenset()
    yes: frozenset[str] = frozenset()
    no: frozenset[str] = frozenset()
    classes: Callable[[], Mapping[str, Sequence[str]]] = _no_classes
    targets: frozenset[str] = frozenset()


class Judge(Protocol):
    """Says how well a page fits the topic, and what that was made of."""

    def judge(self, page: ParsedPage) -> Judgement:
        """Judge one page; changes nothing, and never raises for anything a page can contain."""
        ...

    def words(self, page: ParsedPage) -> Sequence[Word]:
        """Say which words of the page counted, for and against, the weightiest first."""
        ...


class Notebook(Protocol):
    """Where a learner writes down what must outlive its process, and reads what the other workers wrote."""

    def write(self, kind: str, content: bytes) -> None:
        """Replace this worker's entry of a kind, whole or not at all."""
        ...

    def read(self, kind: str) -> bytes | None:
        """Return this worker's entry of a kind."""
        ...

    def read_others(self, kind: str) -> Sequence[bytes]:
        """Return the entries of a kind that other workers wrote since this was asked before."""
        ...


@runtime_checkable
class Learner(Judge, Protocol):
    """A judge that learns from the crawl."""

    def learn(self, page: ParsedPage, *, seed: bool = False) -> Sequence[Revision]:
        """Take in a fetched page; return what it now thinks of pages that it thought differently of before.

        Args:
            seed: Whether the page is a seed, under whatever address it answered.
        """
        ...

    def teach(self, told: Mapping[str, bool | None]) -> Sequence[Revision]:
        """Take a person's word on pages, fetched or still to come, and think again once; return as `learn` does.

        Args:
            told: By URL whether the page is about the topic; None takes back what was said of it.
        """
        ...

    def vector(self, page: ParsedPage) -> bytes:
        """Give what is needed to judge the page again later, without its text."""
        ...

    def judge_vector(self, url: str, language: str, vector: bytes) -> Judgement | None:
        """Judge a page by what `vector` gave, as the topic is known now; None when that is not enough.

        Raises:
            ValueError: The vector cannot be read.
        """
        ...

    def remembers(self, url: str) -> bool:
        """Tell whether a page is at hand to learn from; a labelled page that is not must be learned once more."""
        ...

    def keep_in(self, notebook: Notebook) -> None:
        """Take up what was learned before, and write down what is learned from now on, every now and then."""
        ...

    def write_down(self) -> None:
        """Write down what was learned since the last time."""
        ...

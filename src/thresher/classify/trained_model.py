"""A trained model of two classes, ready for one page at a time: a linear score, and a logistic that makes it likely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from typing import Any

from numpy.typing import NDArray

from thresher.classify.pieces import Pieces, put_together, take_apart
from thresher.classify.scorer import PlainScorer
from thresher.classify.sections import Counts
from thresher.records import Word

_PLACE = "model."


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedModel:
    """What a page's terms say about the topic.

    Args:
        scorer: The linear model; its classes are False and True.
        slope: How fast the probability grows with the margin.
        offset: The log-odds of a page whose margin is 0.
    """

    scorer: PlainScorer
    slope: float
    offset: float

    def knows(self, counts: Counts) -> bool:
        """Tell whether any term of a page means something here."""
        return not self.scorer.vocabulary.keys().isdisjoint(counts)

    def margin(self, counts: Counts) -> float:
        """Give how much the terms speak for the topic, as the linear model has it."""
        scores = self.scorer.scores(counts)
        return scores[True] - scores[False]

    def probability(self, margin: float) -> float:
        """Give how likely a page with this margin is about the topic."""
        return 1.0 / (1.0 + exp(-max(-50.0, min(50.0, self.slope * margin + self.offset))))

    def words(self, counts: Counts) -> list[Word]:
        """Say what each term adds to the log-odds of the topic, the weightiest first."""
        words = self.scorer.words(counts, True)
        return [Word(term=word.term, weight=self.slope * word.weight) for word in words]

    def take_apart(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the model as arrays and as values that JSON can hold."""
        pieces = Pieces()
        tree = take_apart(self.scorer, pieces, _PLACE)
        return pieces.arrays, {"tree": tree, "terms": pieces.terms, "slope": self.slope, "offset": self.offset}

    @classmethod
    def put_together(cls, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> TrainedModel:
        """Make the model that `take_apart` described.

        Raises:
            ThresherError: Something is missing or does not fit.
        """
        pieces = Pieces({name: array for name, array in arrays.items() if name.startswith(_PLACE)}, values["terms"])
        scorer: PlainScorer = put_together(values["tree"], pieces, _PLACE)
        return cls(scorer=scorer, slope=float(values["slope"]), offset=float(values["offset"]))

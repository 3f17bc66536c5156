"""Naive Bayes over ITFIDF weights: LPE, section 3, with the seeds as one class and the crawl as the other."""

from __future__ import annotations

from thresher.classify.base import Brief
from thresher.classify.example_learner import ExampleLearner, Trained
from thresher.classify.training_pages import TrainingPages
from thresher.errors import ConfigError


class ItfIdfJudge(ExampleLearner):
    """Judge pages by naive Bayes over ITFIDF weights, which tells the seeds from what else was crawled.

    Args:
        brief: The topic.
        terms: How many terms are kept, those that are tied most closely to one of the classes.
        smoothing: How much every term is counted in both classes beforehand.
        refit_pages: Pages after which it is trained anew; later after a tenth of the pages seen.
        sample_pages: Pages of the background that are remembered.
        threshold: The relevance from which a page is relevant.
    """

    def __init__(
        self,
        brief: Brief,
        *,
        terms: int = 8000,
        smoothing: float = 1.0,
        refit_pages: int = 25,
        sample_pages: int = 2000,
        threshold: float = 0.5,
    ) -> None:
        if terms < 1 or smoothing <= 0:
            raise ConfigError(f"judge itfidf: terms and smoothing must be above 0, got {terms} and {smoothing}")
        self._terms = terms
        self._smoothing = smoothing
        super().__init__(
            brief, "itfidf", self._fit, refit_pages=refit_pages, sample_pages=sample_pages, threshold=threshold
        )

    def _fit(self, pages: TrainingPages) -> Trained | None:
        from thresher.classify.training import itfidf_bayes, train  # here, because a saved model needs no scikit-learn

        return train(pages, itfidf_bayes(self._terms, self._smoothing))

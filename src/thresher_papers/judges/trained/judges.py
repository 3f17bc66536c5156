"""Judges that separate the seeds from the crawl by a trained classifier: a linear SVM, naive Bayes over ITFIDF."""

from __future__ import annotations

from thresher.errors import ConfigError
from thresher.topics.profile import TopicProfile
from thresher_papers.judges.trained.examples import TrainingPages
from thresher_papers.judges.trained.learner import ExampleLearner, Trained


class SvmJudge(ExampleLearner):
    """Judge pages by a linear SVM that separates the seeds from the rest of the crawl.

    Args:
        topic_profile: The topic.
        C: Penalty of misclassified pages. Small, because pages of the background may be about the topic.
        refit_pages: Pages until the next refit; later a tenth of the pages seen.
        sample_pages: Sample size of the background.
        threshold: The relevance from which a page is relevant.
    """

    source = "A linear support vector machine, trained on seeds against the crawl: SURVEY, section 2.6."

    def __init__(
        self,
        topic_profile: TopicProfile,
        *,
        C: float = 0.1,
        refit_pages: int = 25,
        sample_pages: int = 2000,
        threshold: float = 0.5,
    ) -> None:
        if C <= 0:
            raise ConfigError(f"judge svm: C must be above 0, got {C}")
        self._C = C
        super().__init__(
            topic_profile, "svm", self._fit, refit_pages=refit_pages, sample_pages=sample_pages, threshold=threshold
        )

    def _fit(self, pages: TrainingPages) -> Trained | None:
        from thresher_papers.judges.trained.training import (  # imported lazily: a saved model needs no scikit-learn
            svm,
            train,
        )

        return train(pages, svm(self._C))


class ItfIdfJudge(ExampleLearner):
    """Judge pages by naive Bayes over ITFIDF weights, which separates the seeds from the rest of the crawl.

    Args:
        topic_profile: The topic.
        terms: How many terms are kept, by their mutual information with one of the classes.
        smoothing: Laplace smoothing of the term counts.
        refit_pages: Pages until the next refit; later a tenth of the pages seen.
        sample_pages: Sample size of the background.
        threshold: The relevance from which a page is relevant.
    """

    source = "Naive Bayes over ITFIDF weights: LPE, section 3, with the seeds as one class and the crawl as the other."

    def __init__(
        self,
        topic_profile: TopicProfile,
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
            topic_profile, "itfidf", self._fit, refit_pages=refit_pages, sample_pages=sample_pages, threshold=threshold
        )

    def _fit(self, pages: TrainingPages) -> Trained | None:
        from thresher_papers.judges.trained.training import itfidf_bayes, train  # imported lazily, as above

        return train(pages, itfidf_bayes(self._terms, self._smoothing))

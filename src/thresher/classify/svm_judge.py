"""A linear support vector machine, trained on the seeds against the crawl; SURVEY, section 2.6, asks for one."""

from __future__ import annotations

from thresher.classify.base import Brief
from thresher.classify.example_learner import ExampleLearner, Trained
from thresher.classify.training_pages import TrainingPages
from thresher.errors import ConfigError


class SvmJudge(ExampleLearner):
    """Judge pages by a linear SVM that tells the seeds from what else was crawled.

    Args:
        brief: The topic.
        C: How much a page on the wrong side counts. Small, because pages of the background may be about the topic.
        refit_pages: Pages after which it is trained anew; later after a tenth of the pages seen.
        sample_pages: Pages of the background that are remembered.
        threshold: The relevance from which a page is relevant.
    """

    def __init__(
        self,
        brief: Brief,
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
            brief, "svm", self._fit, refit_pages=refit_pages, sample_pages=sample_pages, threshold=threshold
        )

    def _fit(self, pages: TrainingPages) -> Trained | None:
        from thresher.classify.training import svm, train  # here, because a model that was saved needs no scikit-learn

        return train(pages, svm(self._C))

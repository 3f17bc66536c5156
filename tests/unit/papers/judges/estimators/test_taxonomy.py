"""A taxonomy classifier scores every class."""

import numpy as np
import pytest
from scipy import sparse

from thresher_papers.judges.estimators.taxonomy_classifier import TaxonomyClassifier

RANDOM = np.random.default_rng(0)
CLASSES = np.array(["Arts", "Games", "Sports/Ball", "Sports/Golf"])
Y = np.repeat(CLASSES, 30)
RATES = np.full((4, 24), 0.3) + 2.0 * np.kron(np.eye(4), np.ones(6))
X = sparse.csr_matrix(RANDOM.poisson(np.repeat(RATES, 30, axis=0)).astype(float))


@pytest.fixture
def taxonomy():
    return TaxonomyClassifier(random_state=0).fit(X, Y)


def test_every_class_has_a_score_and_they_add_up_to_one(taxonomy):
    [scores] = taxonomy.predict_scores(X[0])
    assert list(scores) == CLASSES.tolist()
    assert sum(scores.values()) == pytest.approx(1.0)


def test_relevance_is_the_sum_over_the_targets(taxonomy):
    proba = taxonomy.predict_proba(X)
    assert taxonomy.soft_focus(X, {"Sports/Ball", "Sports/Golf"}) == pytest.approx(proba[:, 2:].sum(axis=1))


def test_hard_focus_follows_pages_of_the_targets_only(taxonomy):
    followed = taxonomy.hard_focus(X, {"Arts"})
    assert followed[:30].mean() > 0.9
    assert not followed[30:].any()


def test_a_class_that_nobody_knows_is_relevant_nowhere(taxonomy):
    assert (taxonomy.soft_focus(X, {"Health"}) == 0).all()

"""Training on a few examples and a crowd that hides some more."""

import numpy as np
import pytest
from scipy import sparse

from tests.unit.judges.small_corpus import documents
from thresher.topics.profile import TopicProfile
from thresher_papers.judges.estimators.sections import weighted_counts
from thresher_papers.judges.trained.examples import TrainingPages
from thresher_papers.judges.trained.training import balanced, fit_logistic, itfidf_bayes, left_out_margins, svm, train

FITS = {"svm": svm(0.1), "itfidf": itfidf_bayes(8000, 1.0)}
TEXTS, LABELS = documents(120)
MUSIC = [number for number, label in enumerate(LABELS) if label == "music"]


@pytest.fixture(params=FITS)
def fit(request):
    return FITS[request.param]


def pages(examples):
    found = TrainingPages(TopicProfile(), sample_pages=1000)
    for number, text in enumerate(TEXTS):
        found.add(f"page {number}", weighted_counts(text), chinese=False, seed=number in examples)
    return found


def test_pages_like_the_examples_are_likelier_even_if_they_are_part_of_the_crowd(fit):
    training = pages(MUSIC[:5])
    _, probabilities = train(training, fit)
    likely = dict(zip(training.sample.urls, probabilities, strict=True))
    hidden = np.mean([likely[f"page {number}"] for number in MUSIC[5:]])
    others = np.mean([likely[f"page {number}"] for number in range(120) if number not in MUSIC])
    assert hidden > others + 0.2


def test_one_page_at_a_time_is_scored_as_all_together(fit):
    training = pages(MUSIC[:5])
    model, probabilities = train(training, fit)
    likely = dict(zip(training.sample.urls, probabilities, strict=True))
    for number, text in enumerate(TEXTS[:20]):
        alone = model.probability(model.margin(weighted_counts(text)))
        assert alone == pytest.approx(likely[f"page {number}"], rel=1e-9)


def test_one_example_is_enough_to_train(fit):
    _, probabilities = train(pages(MUSIC[:1]), fit)
    assert np.isfinite(probabilities).all()


def test_pages_that_share_no_terms_teach_nothing(fit):
    strange = TrainingPages(TopicProfile(), sample_pages=100)
    for number in range(20):
        strange.add(f"page {number}", {f"word{number}": 1.0}, chinese=False, seed=number < 2)
    assert train(strange, fit) is None


def test_empty_pages_teach_nothing(fit):
    empty = TrainingPages(TopicProfile(), sample_pages=100)
    for number in range(20):
        empty.add(f"page {number}", {}, chinese=False, seed=number < 2)
    assert train(empty, fit) is None


def test_examples_and_crowd_weigh_the_same_and_refused_pages_one_each():
    yes, no = np.array([True, False, False, False, False, False]), np.array([False, False, False, False, False, True])
    weights = balanced(yes, no, np.zeros(6))
    assert weights.tolist() == [3.0, 0.75, 0.75, 0.75, 0.75, 1.0]


def test_a_page_of_the_crowd_weighs_less_the_likelier_it_is():
    yes, no = np.array([True, False, False]), np.zeros(3, dtype=bool)
    weights = balanced(yes, no, np.array([0.9, 0.75, 0.25]))
    assert weights.tolist() == pytest.approx([1.5, 0.375, 1.125])


class Memory:
    """Scores a page by whether it was fitted to it."""

    def __init__(self, X):
        self.seen = set(X.toarray().ravel())

    def decision_function(self, X):
        return np.array([float(value in self.seen) for value in X.toarray().ravel()])


@pytest.mark.parametrize("examples", [2, 5, 9])
def test_every_page_is_scored_by_parts_that_did_not_see_it(examples):
    X = sparse.csr_matrix(np.arange(1, 31)[:, None].astype(float))
    margins = left_out_margins(X, np.arange(30) < examples, np.ones(30), lambda X, y, weights: [Memory(X)])
    assert margins.tolist() == [0.0] * 30


def test_a_single_example_cannot_be_left_out():
    X = sparse.csr_matrix(np.arange(1, 31)[:, None].astype(float))
    margins = left_out_margins(X, np.arange(30) < 1, np.ones(30), lambda X, y, weights: [Memory(X)])
    assert margins.tolist() == [1.0] + [0.0] * 29


def test_few_examples_leave_more_doubt():
    def highest(examples):
        margins = np.concatenate([np.full(examples, 1.0), np.full(1000, -1.0)])
        y = margins > 0
        slope, offset = fit_logistic(margins, y, balanced(y, np.zeros(len(y), dtype=bool), np.zeros(len(y))))
        return 1 / (1 + np.exp(-slope - offset))

    assert highest(1) == pytest.approx(2 / 3, abs=0.01)
    assert highest(1) < highest(5) < highest(100)

"""A page's prediction comes from its text and from the labels of all other pages, never from its own."""

import numpy as np
import pytest

from tests.unit.lab.small_web import SmallWeb, tea_and_solar, u
from thresher.text.word_vectors import load_word_vectors
from thresher_lab.simulation.text_predictions import (
    LeaveOneOutRidge,
    TextPredictions,
    term_features,
    vector_features,
)
from thresher_lab.webs.parsed_pages import ParsedPages


def refitted(features, labels, ridge):
    """Fit a model for each page, without it."""
    X, y, predicted = features - features.mean(axis=0), labels - labels.mean(), []
    for page in range(len(X)):
        others = np.arange(len(X)) != page
        gram = X[others].T @ X[others] + ridge * np.eye(X.shape[1])
        predicted.append(X[page] @ np.linalg.solve(gram, X[others].T @ y[others]))
    return predicted


@pytest.mark.parametrize("ridge", [0.1, 1.0, 10.0])
def test_the_closed_form_equals_a_refit_without_the_page(ridge):
    random = np.random.default_rng(3)
    features, labels = random.normal(size=(40, 6)), random.random(40) < 0.3
    predicted = LeaveOneOutRidge(features, ridge=ridge).predict(labels)
    assert predicted == pytest.approx(refitted(features, labels, ridge))


def test_pages_whose_text_says_nothing_have_the_same_prediction_whatever_their_label():
    features = np.array([[1.0], [-1.0], [0.0], [0.0]])
    predicted = LeaveOneOutRidge(features).predict(np.array([True, False, True, False]))
    assert predicted[2] == predicted[3] == 0


def test_without_features_nothing_is_predicted():
    assert LeaveOneOutRidge(np.zeros((3, 0))).predict(np.array([True, False, False])).tolist() == [0, 0, 0]


@pytest.fixture
def predictions(tmp_path):
    opened = []

    def open_predictions(web, **options):
        opened.append(ParsedPages(web, cache=tmp_path))
        return TextPredictions(web, opened[-1], **options)

    yield open_predictions
    for pages in opened:
        pages.close()


def topic_mask(web, topic):
    return np.isin(np.arange(len(web)), list(web.targets(topic)))


def separates(predicted, labels):
    return predicted[labels].min() > predicted[~labels].max()


def test_paragraphs_tell_topics_apart(predictions):
    web = tea_and_solar()
    labels = topic_mask(web, "energy/solar")
    assert separates(predictions(web).by_paragraph.predict(labels), labels)


def linked_by(names):
    """A page that links to pages without a text of their own, which the end of their URL names."""
    pages = {u("start"): ([], "start", [u(name) for name in names])}
    return SmallWeb(pages | {u(name): ([topic], "", []) for name, topic in names.items()})


def test_link_text_tells_topics_apart_by_shared_words(predictions):
    names = {f"{word}_{number}": word for word in ("tea", "ship") for number in range(6)}
    web = linked_by(names)
    labels = topic_mask(web, "tea")
    assert separates(predictions(web).by_link_text.predict(labels), labels)


@pytest.mark.skipif(load_word_vectors() is None, reason="installed without word vectors")
def test_word_vectors_tell_topics_apart_without_a_shared_word(predictions):
    fruit, rivers = ["apple", "pear", "cherry", "plum", "peach"], ["danube", "rhine", "volga", "thames", "elbe"]
    web = linked_by({**dict.fromkeys(fruit, "fruit"), **dict.fromkeys(rivers, "rivers")})
    labels = topic_mask(web, "fruit")
    known = predictions(web, vectors=load_word_vectors())
    assert known.has_word_vectors
    predicted = known.by_link_text.predict(labels)
    assert predicted[1:6].mean() > predicted[6:].mean() + 0.1


def test_documents_without_any_term_have_no_features():
    assert term_features([[], []]).shape == (2, 0)


@pytest.mark.skipif(load_word_vectors() is None, reason="installed without word vectors")
def test_words_that_no_vector_knows_leave_predictions_finite():
    features = vector_features([["qqxz"], ["zzqx"], []], load_word_vectors())
    predicted = LeaveOneOutRidge(features).predict(np.array([True, False, False]))
    assert np.isfinite(predicted).all()

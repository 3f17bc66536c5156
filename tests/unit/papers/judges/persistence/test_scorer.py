"""A plain scorer says of one page what its pipeline says."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from tests.unit.judges.small_corpus import documents, pipelines
from thresher_papers.judges.estimators.section_counter import SectionCounter
from thresher_papers.judges.estimators.weighted_bayes import WeightedNaiveBayes
from thresher_papers.judges.persistence.flatten import flatten, term_weights

NEW, _ = documents(25, seed=1)
NEW += [{"body": ""}, {"body": "unheard of"}]


TOPICS = {"two classes": ["energy", "music"], "three classes": ["energy", "music", "garden"]}


@pytest.fixture(scope="module", params=TOPICS.values(), ids=TOPICS)
def trained(request):
    train, y = documents(120, topics=request.param)
    return {name: pipeline.fit(train, y) for name, pipeline in pipelines().items()}


@pytest.mark.parametrize("name", pipelines())
def test_scores_are_those_of_the_pipeline(trained, name):
    pipeline, scorer = trained[name], flatten(trained[name])
    if scorer.probabilistic:
        expected = pipeline.predict_proba(NEW)
        plain = np.array([list(scorer.probabilities(scorer.count(page)).values()) for page in NEW])
    else:
        margins = pipeline.decision_function(NEW)
        expected = margins if margins.ndim > 1 else np.column_stack([np.zeros_like(margins), margins])
        plain = np.array([list(scorer.scores(scorer.count(page)).values()) for page in NEW])
    assert np.abs(plain - expected).max() < 1e-9


@pytest.mark.parametrize("name", pipelines())
def test_the_best_class_is_that_of_the_pipeline(trained, name):
    scorer = flatten(trained[name])
    assert [scorer.best(scorer.count(page)) for page in NEW] == trained[name].predict(NEW).tolist()


def test_margins_are_not_passed_off_as_probabilities(trained):
    with pytest.raises(TypeError, match="margins"):
        flatten(trained["svm"]).probabilities({})


def test_words_speak_for_a_class_and_against_it(trained):
    scorer = flatten(trained["itfidf"])
    words = {word.term: word.weight for word in scorer.words(scorer.count({"body": "guitar turbine"}), "music")}
    assert words["guitar"] > 0 > words["turbin"]


@pytest.mark.parametrize("name", pipelines())
def test_words_add_up_to_the_lead_over_the_other_classes(trained, name):
    scorer = flatten(trained[name])
    empty, counts = scorer.scores({}), scorer.count(NEW[0])
    lead = scorer.scores(counts)
    if not scorer.by_length:  # or the share of the intercept depends on the length of the page
        others = [label for label in scorer.labels if label != "music"]
        gained = {label: lead[label] - empty[label] for label in scorer.labels}
        expected = gained["music"] - np.mean([gained[label] for label in others])
        assert sum(word.weight for word in scorer.words(counts, "music")) == pytest.approx(expected)


def test_with_two_classes_a_term_has_one_weight():
    train, y = documents(120, topics=["energy", "music"])
    weights = term_weights(pipelines()["counts"].fit(train, y))
    assert weights["guitar"] > 0 > weights["turbin"]


def test_with_more_classes_a_term_has_a_weight_for_each():
    train, y = documents(120)
    pipeline = pipelines()["counts"].fit(train, y)
    row = pipeline[0].vocabulary_["guitar"]
    assert term_weights(pipeline)["guitar"] == pytest.approx(pipeline[-1].feature_log_prob_[:, row])


def test_a_step_that_it_does_not_know_is_refused():
    train, y = documents(20)
    pipeline = make_pipeline(SectionCounter(), MaxAbsScaler(), WeightedNaiveBayes()).fit(train, y)
    with pytest.raises(TypeError, match="MaxAbsScaler"):
        flatten(pipeline)

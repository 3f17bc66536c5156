"""Naive Bayes over anchors, with numbers computed by hand."""

import json

import pytest

from thresher_papers.strategies import learning_anchor
from thresher_papers.strategies.learning_anchor import AnchorClassifier


@pytest.fixture
def classifier():
    classifier = AnchorClassifier()
    classifier.add("jazz music", True)
    classifier.add("football", False)
    return classifier


def test_a_term_counts_by_how_often_each_class_has_seen_it(classifier):
    classifier.train()  # jazz: (1+1)/(2+3) against (0+1)/(1+3), that is 1.6 to 1
    assert classifier.score("jazz") == pytest.approx(1.6 / 2.6)
    assert classifier.score("Jazz music") == pytest.approx(2.56 / 3.56)
    assert classifier.score("football") == pytest.approx(0.4 / 1.4)


def test_the_share_of_relevant_examples_counts(classifier):
    classifier.add("", False)
    classifier.train()
    assert classifier.score("unheard") == pytest.approx(1 / 3)


def test_without_training_or_words_there_is_no_score(classifier):
    assert classifier.score("jazz") is None
    classifier.train()
    assert classifier.score("") is None
    assert classifier.score("→ ?") is None


def test_from_one_class_alone_nothing_is_learned():
    classifier = AnchorClassifier()
    classifier.add("jazz", True)
    classifier.train()
    assert not classifier.is_trained


def test_nothing_is_learned_before_both_classes_have_enough_examples():
    classifier = AnchorClassifier(fewest=2)
    for anchor, relevant in [("jazz", True), ("opera", True), ("football", False)]:
        classifier.add(anchor, relevant)
    assert (classifier.train(), classifier.is_trained) == (False, False)
    classifier.add("tennis", False)
    assert (classifier.train(), classifier.is_trained) == (True, True)


def test_new_examples_wait_for_the_next_training(classifier):
    classifier.train()
    before = classifier.score("opera")
    classifier.add("opera", True)
    assert classifier.score("opera") == before
    classifier.train()
    assert classifier.score("opera") > before


def test_chinese_anchors_are_read_in_pairs(classifier):
    classifier.add("音乐会", True)
    classifier.train()
    assert classifier.score("流行音乐") > classifier.score("足球")


def test_what_was_learned_survives_as_json(classifier):
    classifier.train()
    again = AnchorClassifier()
    again.restore(json.loads(json.dumps(classifier.state())))
    assert again.score("jazz") == classifier.score("jazz")


def test_rare_terms_are_forgotten_first(classifier, monkeypatch):
    monkeypatch.setattr(learning_anchor, "MAX_TERMS", 1)
    classifier.add("football", False)
    classifier.train()
    assert set(classifier.state()["terms"]) == {"footbal"}


def test_no_number_of_words_makes_a_score_that_is_not_finite(classifier):
    for _ in range(1000):
        classifier.add("jazz " * 50, True)
    classifier.train()
    assert 0 < classifier.score("football " * 500) < 0.001

"""Example pages say what a topic is about."""

from thresher_lab.reproduce.trial_runner import TERMS, distinctive_terms, document_counts


def test_terms_that_stand_everywhere_tell_nothing():
    common = document_counts(["water", "water stone", "water"])
    assert list(distinctive_terms(["water tea"], common, 3)) == ["tea"]


def test_a_term_of_a_single_page_tells_nothing_of_the_topic():
    found = distinctive_terms(["tea", "tea", "tea", "tea", "tea", "tea kenobi"], {}, 10)
    assert list(found) == ["tea"]


def test_the_heaviest_term_weighs_1():
    found = distinctive_terms(["tea tea leaf", "tea"], {}, 10)
    assert found["tea"] == 1
    assert 0 < found["leaf"] < 1


def test_only_the_heaviest_terms_are_kept():
    words = " ".join(f"word{letter}" for letter in "abcdefghijklmn")
    assert len(distinctive_terms([words], {}, 10)) == TERMS


def test_without_examples_there_are_no_terms():
    assert distinctive_terms([], {}, 10) == {}

import pytest

from thresher.cli.label import boundary_sentence
from thresher.operations.labelling import Boundary, equal_threshold

SCORES = [0.9, 0.6, 0.45, 0.35, 0.3, 0.1]


@pytest.mark.parametrize(("count", "threshold"), [(3, 0.4), (2, 0.6), (5, 0.3), (6, 0.1), (0, 1.0), (7, 0.1)])
def test_the_equal_threshold_selects_as_many_pages_by_their_earlier_relevance(count, threshold):
    found = equal_threshold(SCORES, count, threshold=0.4)
    assert found == threshold
    assert sum(score >= found for score in SCORES) == min(count, len(SCORES))


def test_without_pages_the_threshold_is_what_it_was():
    assert equal_threshold([], 0, threshold=0.4) == 0.4


def moved(**values):
    usual = {"below": 5, "below_yes": 3, "above": 5, "above_yes": 4, "threshold": 0.4, "now": 0.31}
    return Boundary(**{**usual, "relevant": 214, "relevant_now": 1371, **values})


@pytest.mark.parametrize(
    ("values", "begin"),
    [
        ({}, "3 of 5 pages below the threshold and 4 of 5 pages above the threshold were on topic"),
        ({"above": 0, "above_yes": 0}, "3 of 5 pages below the threshold were on topic"),
        ({"below": 0, "above": 0}, "No page was labelled"),
    ],
)
def test_what_boundary_labels_changed_is_one_line(values, begin):
    assert boundary_sentence(moved(**values)) == f"{begin}: threshold 0.40 → 0.31, relevant 214 → 1,371"

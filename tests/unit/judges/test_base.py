"""How much a label counts, and what it makes of a probability."""

import pytest

from thresher.judges.base import is_certain, label_weight, with_label


def test_a_label_of_a_person_counts_fully_and_one_by_a_model_less():
    assert [label_weight(label) for label in (True, False, 0.8, 0.5)] == pytest.approx([1.0, 1.0, 0.6, 0.0])
    assert [is_certain(label) for label in (True, False, 0.98)] == [True, True, False]


def test_a_person_decides_and_a_model_is_weighed_against_the_judge():
    assert with_label(0.9, False) == 0.0
    assert with_label(0.5, 0.8) == pytest.approx(0.8)
    assert with_label(0.9, 0.2) == pytest.approx(0.692, abs=0.001)
    assert 0.0 <= with_label(0.0, 0.98) < with_label(1.0, 0.02) <= 1.0

"""The interval of the number of relevant pages: wide without labels, narrow with many."""

import pytest

from thresher.feedback.count_interval import count_interval
from thresher.frontier.base import Counts


def interval(labels=0, **numbers):
    return count_interval(Counts(**{"pages": 500, "relevant": 115, **numbers}), labels)


def test_labels_narrow_the_interval():
    none, ten, many = (interval(labels) for labels in (0, 10, 400))
    assert none.least < ten.least < many.least <= 115 <= many.most < ten.most < none.most
    assert not none.is_certain
    assert many.is_certain


def test_it_is_written_as_a_number_with_its_bounds():
    found = interval()
    assert str(found) == f"about 115 relevant ({found.least} to {found.most})"


@pytest.mark.parametrize("relevant", [0, 1, 499, 500])
def test_it_stays_within_the_pages_of_the_crawl(relevant):
    found = interval(relevant=relevant)
    assert 0 <= found.least <= relevant <= found.most <= 500


def test_duplicates_are_no_pages_on_topic():
    assert interval(relevant=90, duplicates=400).most <= 100

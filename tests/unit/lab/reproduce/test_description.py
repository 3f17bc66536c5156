"""The description of a topic measures pages by their words."""

import pytest

from thresher_lab.reproduce.trial_runner import TopicDescription


def test_likeness_is_the_cosine_with_labels_and_examples():
    tea = TopicDescription(["tea"], ["tea leaf"], [])
    assert tea.similarity("tea leaf") == pytest.approx(3 / (5**0.5 * 2**0.5))


def test_a_page_must_be_more_like_it_than_half_of_the_other_pages():
    tea = TopicDescription(["tea"], [], ["tea", "tea leaf", "leaf"])
    assert tea.threshold == pytest.approx(0.5**0.5)

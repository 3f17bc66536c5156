"""The description of a topic measures pages by their words."""

from math import log

import pytest

from thresher_lab.reproduce.trial_runner import TopicDescription


def test_likeness_is_the_cosine_with_labels_and_titles_whose_terms_weigh_by_their_rarity():
    tea = TopicDescription(["tea", "tea leaf"], [], {"leaf": 9}, 9)
    rare, common = 2 * log(10), log(10 / 10)
    assert tea.similarity("tea leaf") == pytest.approx((rare + common) / (rare * 2**0.5))


def test_words_of_every_page_tell_nothing():
    tea = TopicDescription(["home page of tea"], [], {"home": 99, "page": 99}, 99)
    assert tea.similarity("the home page") == 0


def test_a_page_must_be_more_like_it_than_half_of_the_other_pages():
    tea = TopicDescription(["tea"], ["tea", "tea leaf", "leaf"], {}, 0)
    assert tea.threshold == 0  # nothing is rare where nothing is known
    tea = TopicDescription(["tea"], ["tea", "tea leaf", "leaf"], {}, 10)
    assert tea.threshold == pytest.approx(0.5**0.5)

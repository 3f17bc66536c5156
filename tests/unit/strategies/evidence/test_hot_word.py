"""Hot words: an anchor that says what the user asked for."""

import pytest

from thresher.strategies.evidence.hot_word import HotWords


def test_the_pair_of_the_paper_shares_one_pair_of_characters_in_four():
    assert HotWords(["碩士班甄試"]).similarity("研究所甄試") == pytest.approx(0.25)


def test_title_and_keywords_are_one_query():
    assert HotWords(["solar cells", "perovskite"]).similarity("Perovskites") == pytest.approx(3**-0.5)


def test_phrases_do_not_run_into_each_other():
    assert HotWords(["太陽", "能量"]).similarity("陽能") == 0.0


@pytest.mark.parametrize("anchor", ["", "more", "首頁"])
def test_an_anchor_without_a_word_of_the_query_is_not_hot(anchor):
    assert HotWords(["碩士班甄試", "solar cells"]).similarity(anchor) == 0.0

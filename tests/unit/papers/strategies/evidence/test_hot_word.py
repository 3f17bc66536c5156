"""Hot words: an anchor that says what the user asked for."""

import pytest

from thresher_papers.strategies.evidence.hot_word import HotWords


def test_the_pair_of_the_paper_shares_one_pair_of_characters_in_four():
    assert HotWords(["碩士班甄試"]).similarity("研究所甄試") == pytest.approx(0.25)


def test_of_title_and_keywords_the_best_phrase_counts():
    assert HotWords(["solar cells", "perovskite"]).similarity("Perovskites") == pytest.approx(1.0)
    assert HotWords(["solar cells", "perovskite"]).similarity("solar power") == pytest.approx(0.5)


def test_a_phrase_in_another_language_takes_nothing_away():
    alone, both = HotWords(["碩士班甄試"]), HotWords(["碩士班甄試", "graduate entrance examination"])
    assert both.similarity("研究所甄試") == alone.similarity("研究所甄試") == pytest.approx(0.25)


def test_thirty_keywords_leave_an_exact_keyword_hot():
    keywords = [f"keyword{number} phrase{number}" for number in range(30)]
    assert HotWords(["solar cells", *keywords]).similarity("Solar cells") == pytest.approx(1.0)


def test_phrases_do_not_run_into_each_other():
    assert HotWords(["太陽", "能量"]).similarity("陽能") == 0.0


@pytest.mark.parametrize("anchor", ["", "more", "首頁"])
def test_an_anchor_without_a_word_of_the_query_is_not_hot(anchor):
    assert HotWords(["碩士班甄試", "solar cells"]).similarity(anchor) == 0.0

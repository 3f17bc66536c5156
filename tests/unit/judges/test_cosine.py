"""The cosine judge compares a page with the topic in each language and takes the best."""

import pytest

from thresher.judges.cosine import CosineJudge
from thresher.records import ParsedPage
from thresher.topics.profile import TopicProfile

VECTORS = {"en": {"solar": 1.0, "cell": 1.0}, "zh": {"太阳": 1.0}}


def judge(text):
    return CosineJudge(TopicProfile(vectors=VECTORS)).judge(ParsedPage(url="http://a.example/", text=text))


def test_a_page_of_nothing_but_the_topic_fits_fully():
    assert judge("solar cells solar cells").relevance == pytest.approx(1.0)


def test_raw_frequencies_count():
    # page: solar 3, tea 4; topic: solar 1, cell 1 -> 3 / (5 * sqrt 2)
    assert judge("solar solar solar tea tea tea tea").relevance == pytest.approx(3 / (5 * 2**0.5))


def test_the_better_language_counts_and_both_are_reported():
    judgement = judge("太阳")
    assert judgement.breakdown == {"cosine en": 0.0, "cosine zh": pytest.approx(1.0)}
    assert judgement.relevant


def test_a_page_without_words_is_not_relevant():
    assert not judge("").relevant


def test_relevant_means_at_least_the_threshold():
    page = ParsedPage(url="http://a.example/", text="solar cells")
    assert not CosineJudge(TopicProfile(vectors=VECTORS), threshold=1.01).judge(page).relevant
    cosine = CosineJudge(TopicProfile(vectors=VECTORS)).judge(page).relevance
    assert CosineJudge(TopicProfile(vectors=VECTORS), threshold=cosine).judge(page).relevant

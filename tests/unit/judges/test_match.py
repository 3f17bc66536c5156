"""The match judge says yes or no: all words of the topic, or a pattern."""

import pytest

from thresher.errors import ConfigError
from thresher.judges.match import MAX_CHARACTERS, MatchJudge
from thresher.records import ParsedPage
from thresher.topics.profile import TopicProfile

BRIEF = TopicProfile(vectors={"en": {"solar": 0.5, "cell": 1.0}, "zh": {"太阳": 1.0, "阳能": 1.0}})


def page(text, title=""):
    return ParsedPage(url="http://a.example/", title=title, text=text)


def relevance(text, **parameters):
    return MatchJudge(BRIEF, **parameters).judge(page(text)).relevance


def test_a_page_with_all_words_matches():
    assert relevance("Cells that are solar") == 1.0


def test_a_page_that_lacks_a_word_does_not():
    assert relevance("solar wind") == 0.0


def test_the_words_of_one_language_are_enough():
    assert relevance("太阳能") == 1.0


def test_words_of_two_languages_do_not_add_up():
    assert relevance("solar 太阳") == 0.0


def test_a_share_of_the_words_can_be_enough():
    assert relevance("solar wind", least=0.5) == 1.0


def test_a_pattern_takes_the_place_of_the_words():
    assert relevance("Perovskites", pattern="perovskite") == 1.0
    assert relevance("solar cells", pattern="perovskite") == 0.0


def test_a_pattern_is_held_against_the_title_too():
    assert MatchJudge(BRIEF, pattern="perovskite").judge(page("", title="Perovskite")).relevant


def test_a_pattern_looks_at_so_much_of_a_page_and_no_more():
    assert relevance("a " * MAX_CHARACTERS + "perovskite", pattern="perovskite") == 0.0


def test_a_topic_without_words_matches_nothing():
    assert not MatchJudge(TopicProfile()).judge(page("solar cells")).relevant


def test_the_words_are_those_that_were_found():
    words = MatchJudge(BRIEF).words(page("solar cells, solar wind"))
    assert [(word.term, word.weight) for word in words] == [("cell", 1.0), ("solar", 0.5)]


def test_the_words_of_a_pattern_are_what_it_matched_each_once():
    words = MatchJudge(BRIEF, pattern=r"sol\w+").words(page("Solar solar solstice"))
    assert [word.term for word in words] == ["solar", "solstice"]


def test_a_pattern_that_is_none_is_refused():
    with pytest.raises(ConfigError, match="no regular expression"):
        MatchJudge(BRIEF, pattern="(")


@pytest.mark.parametrize("least", [0, 1.5, -1])
def test_a_share_that_is_none_is_refused(least):
    with pytest.raises(ConfigError, match="least"):
        MatchJudge(BRIEF, least=least)

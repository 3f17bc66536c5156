"""Stop words are plain lists, or lines of a table."""

from thresher.text.languages import RECOGNISED
from thresher.text.stopwords import stop_words


def test_many_languages_have_stop_words():
    few = [code for code in RECOGNISED - {"ja", "ko", "th", "zh", "sr"} if len(stop_words(code)) < 20]
    assert few == []  # sr has no list, the others are split into pairs of characters
    assert {"der", "und", "über"} <= stop_words("de")
    assert stop_words("xx") == frozenset()


def test_both_languages_have_a_list():
    assert {"the", "and", "don"} <= stop_words("en")
    assert {"的", "了", "們", "们"} <= stop_words("zh")


def test_words_are_in_the_form_that_the_tokenizer_looks_up():
    assert all(word == word.lower() and word.isalpha() for word in stop_words("en"))
    assert all(len(character) == 1 for character in stop_words("zh"))

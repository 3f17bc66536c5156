"""Stop words are plain lists, or lines of a table."""

from thresher.text.stopwords import stop_words


def test_many_languages_have_stop_words():
    codes = "ar bg ca cs da de el es fa fi fr he hi hr hu id it lt lv nl no pl pt ro ru sk sl sv tr uk ur vi".split()
    assert [code for code in codes if len(stop_words(code)) < 20] == []
    assert {"der", "und", "über"} <= stop_words("de")
    assert stop_words("xx") == frozenset()


def test_both_languages_have_a_list():
    assert {"the", "and", "don"} <= stop_words("en")
    assert {"的", "了", "們", "们"} <= stop_words("zh")


def test_words_are_in_the_form_that_the_tokenizer_looks_up():
    assert all(word == word.lower() and word.isalpha() for word in stop_words("en"))
    assert all(len(character) == 1 for character in stop_words("zh"))

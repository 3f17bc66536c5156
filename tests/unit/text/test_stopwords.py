"""Stop words are plain lists."""

from thresher.text.stopwords import stop_words


def test_both_languages_have_a_list():
    assert {"the", "and", "don"} <= stop_words("en")
    assert {"的", "了", "們", "们"} <= stop_words("zh")


def test_words_are_in_the_form_that_the_tokenizer_looks_up():
    assert all(word == word.lower() and word.isalpha() for word in stop_words("en"))
    assert all(len(character) == 1 for character in stop_words("zh"))

"""Texts are alike when they share pairs of neighbouring words."""

from thresher.text.tokens import MAX_BYTES, word_pairs


def test_four_words_make_three_pairs():
    assert len(word_pairs("one two three four")) == 3
    assert word_pairs("one") == word_pairs("") == set()


def test_order_counts_and_digits_do_not():
    assert word_pairs("page 17 of 20") == word_pairs("page 98 of 31")
    assert not word_pairs("one two") & word_pairs("two one")


def test_the_numbers_are_the_same_in_every_process():
    assert word_pairs("solar cell") == {-860984573}


def test_chinese_is_distinguished_by_characters():
    first, second = "钙钛矿太阳能电池的效率在第12页", "钙钛矿太阳能电池的效率在第98页"
    assert len(word_pairs(first)) == 14
    assert word_pairs(first) == word_pairs(second)
    assert not word_pairs(first) & word_pairs("今天的天气很好我们去公园散步")


def test_long_texts_and_lone_surrogates_do_no_harm():
    assert len(word_pairs("\ud800 word " * MAX_BYTES)) <= 4
    assert len(word_pairs("\ud800字" * MAX_BYTES)) <= 4

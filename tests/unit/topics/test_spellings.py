"""Labels are written in URLs without blanks, in pinyin, by first letters."""

import pytest

from thresher.topics.token_table import fold, full_pinyin, initials


@pytest.mark.parametrize(
    ("label", "written"),
    [("Real Estate", "realestate"), ("Open_Source", "opensource"), ("E-Commerce", "ecommerce"), ("篮球", "篮球")],
)
def test_a_label_is_folded_as_urls_write_it(label, written):
    assert fold(label) == written


@pytest.mark.parametrize(
    ("label", "pinyin"),
    [("音乐", "yinyue"), ("银行", "yinhang"), ("重庆", "chongqing"), ("长城", "changcheng"), ("西藏", "xizang")],
)
def test_characters_of_several_readings_are_read_in_their_word(label, pinyin):
    assert full_pinyin(label) == pinyin


def test_letters_inside_a_chinese_label_stay():
    assert full_pinyin("NBA 篮球") == "nbalanqiu"


def test_initials_are_the_first_letters():
    assert initials("上海") == "sh"


def test_a_single_initial_says_nothing():
    assert initials("茶") == ""

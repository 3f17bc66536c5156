"""Texts become stems of words and pairs of Chinese characters."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text.tokens import MAX_WORD_BYTES, Mentions, count, tokenize

MIXED = st.text(alphabet="abc Running's9_-，。中文的了学習カナéßＡ１ﬁ\u0301\U00020000한글\n\ud800", max_size=60)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Running runners ran", ["run", "runner", "ran"]),
        ("the cat and the hat", ["cat", "hat"]),
        ("Don't stop; it isn’t over!", ["stop"]),
        ("state-of-the-art C3PO, 2024", ["state", "art", "c3po", "2024"]),
        ("café CAFÉ", ["café", "café"]),
        ("новости спорта", ["новости", "спорта"]),
    ],
)
def test_words_are_stemmed_and_stop_words_left_out(text, terms):
    assert tokenize(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("南开大学", ["南开", "开大", "大学"]),
        ("研究所甄試", ["研究", "究所", "所甄", "甄試"]),
        ("南开，大学", ["南开", "大学"]),
        ("X 光 机", ["光", "机"]),
        ("的 了", []),
        ("我们的学校", ["的学", "学校"]),
        ("カナ", ["カナ"]),
    ],
)
def test_chinese_is_cut_into_pairs_and_pairs_of_function_characters_left_out(text, terms):
    assert tokenize(text) == terms


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        ("de", "die Häuser und das Haus der Eltern", ["haus", "haus", "elt"]),
        ("fr", "les chevaux et le cheval des voisins", ["cheval", "cheval", "voisin"]),
        ("es", "las canciones y la canción de los niños", ["cancion", "cancion", "niñ"]),
        ("ru", "новости о спорте и спорт", ["новост", "спорт", "спорт"]),
        ("pl", "książki i książka dla dzieci", ["książk", "książk", "dziec"]),
        ("hi", "किताबें और किताब", ["किताब", "किताब"]),
        ("uk", "новини про спорт", ["новини", "спорт"]),
        ("", "die Häuser", ["die", "häuser"]),
        ("zh", "running the 学校", ["run", "学校"]),
    ],
)
def test_words_are_stemmed_and_stop_words_left_out_by_language(language, text, terms):
    assert tokenize(text, language) == terms
    assert count(text, language) == Counter(terms)


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        ("ko", "도서관은 books", ["도서", "서관", "관은", "book"]),
        ("th", "หนังสือ", ["หน", "นั", "ัง", "งส", "สื", "ือ"]),
        ("ja", "図書館と本", ["図書", "書館", "館と", "と本"]),
        ("en", "Seoul (서울은)", ["seoul", "서울은"]),
    ],
)
def test_korean_and_thai_are_cut_into_pairs_in_texts_of_their_own_language(language, text, terms):
    assert tokenize(text, language) == terms
    assert count(text, language) == Counter(terms)
    assert all(Mentions([term])(text, language) for term in terms)


def test_both_scripts_may_stand_side_by_side():
    assert tokenize("学习Python编程 with 南开") == ["学习", "python", "编程", "南开"]


def test_full_width_letters_and_digits_are_ordinary_ones():
    assert tokenize("ＡＢＣ１２ ﬁles cafe\u0301") == ["abc12", "file", "café"]


def test_what_is_too_long_for_a_word_is_none():
    assert tokenize("x" * (MAX_WORD_BYTES + 1)) == []


def test_terms_are_counted_over_all_their_forms():
    assert count("Dogs and dog's dog, 篮球 篮球队") == {"dog": 3, "篮球": 2, "球队": 1}


@given(st.one_of(st.text(), MIXED))
def test_no_text_raises_and_both_ways_to_read_it_agree(text):
    assert count(text) == Counter(tokenize(text))


@given(st.one_of(st.text(), MIXED))
def test_a_text_that_holds_a_term_is_never_missed(text):
    assert all(Mentions([term])(text) for term in count(text))


@pytest.mark.parametrize(
    ("term", "text", "found"),
    [
        ("histori", "British History of the world", True),
        ("histori", "a page on tea", False),
        ("绿茶", "中国绿茶的历史", True),
        ("绿茶", "中国红茶的历史", False),
        ("php", "PHP教程", True),
        ("tea", "红茶 and tea", True),
    ],
)
def test_a_term_is_looked_for_without_counting_the_others(term, text, found):
    assert Mentions([term])(text) is found

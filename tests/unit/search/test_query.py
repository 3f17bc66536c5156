"""Everything that is typed is data; only double quotes mean something."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.search.query import MAX_UNITS, SearchQuery


def test_words_become_their_stems():
    assert SearchQuery.read("Solar cells").units == (("solar",), ("cell",))


def test_quoted_words_become_one_phrase():
    assert SearchQuery.read('perovskite "solar cells" 效率').units == (("solar", "cell"), ("perovskit",), ("效率",))


@pytest.mark.parametrize("typed", ["“solar cells”", "「solar cells」", "＂solar cells＂", '"solar cells"'])
def test_quotes_of_other_keyboards_are_quotes(typed):
    assert SearchQuery.read(typed).units == (("solar", "cell"),)


def test_a_quote_that_is_never_closed_means_nothing():
    assert SearchQuery.read('"solar cells').units == (("solar",), ("cell",))


@pytest.mark.parametrize("typed", ["", "   ", "the of and", '""', "*", "?!", "的"])
def test_a_query_without_words_to_look_for_is_empty(typed):
    assert not SearchQuery.read(typed)


def test_operators_of_the_database_are_only_words():
    asked = SearchQuery.read("title:cells NEAR(a b) NOT x^2 -wind* OR {text}")
    assert not set(asked.all_of) & set("*^:{}()-")


def test_a_long_text_is_cut_to_a_bounded_question():
    assert len(SearchQuery.read(" ".join(f"word{number}" for number in range(500))).units) == MAX_UNITS


def test_a_lone_character_stands_for_the_pairs_that_it_begins():
    assert SearchQuery.read("猫").all_of == '"猫" *'


@given(st.text())
def test_whatever_is_typed_is_a_question_that_the_database_understands(typed):
    asked = SearchQuery.read(typed)
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'ascii')")
    for question in (asked.all_of, asked.any_of) if asked else ():
        assert db.execute("SELECT * FROM words WHERE words MATCH ?", [question]).fetchall() == []
    db.close()

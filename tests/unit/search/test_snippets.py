"""The piece of text that shows why a page was found."""

import time

from thresher.search.query import SearchQuery
from thresher.search.snippets import CHARACTERS, snippet


def piece(text, typed):
    return snippet(text, SearchQuery.read(typed).terms)


def test_the_words_that_were_looked_for_stand_in_marks():
    assert piece("The cells were studied.", "study cell") == "The «cells» were «studied»."


def test_overlapping_pairs_of_characters_become_one_mark():
    assert piece("关于钙钛矿的研究", "钙钛矿") == "关于«钙钛矿»的研究"


def test_the_piece_with_the_most_words_is_shown():
    text = "solar " + "x " * 300 + "solar cells of perovskite " + "y " * 300
    found = piece(text, "solar cells perovskite")
    assert "«solar» «cells» of «perovskite»" in found
    assert found.startswith("…")
    assert found.endswith("…")


def test_a_piece_is_short():
    assert len(piece("solar " * 1000, "solar").replace("«", "").replace("»", "")) <= CHARACTERS + 2


def test_a_text_without_the_words_shows_its_beginning():
    assert piece("tidal power", "wind") == "tidal power"
    assert piece("", "wind") == ""


def test_a_word_inside_another_is_not_marked():
    assert piece("unstable stables", "stable") == "unstable «stables»"


def test_a_very_long_text_does_not_take_long():
    begun = time.process_time()
    piece("solar cells and 太阳能电池 " * 100_000, "solar cells 太阳能电池 perovskite")
    assert time.process_time() - begun < 1

import numpy as np
import pytest

from thresher.strategies.link_model import term_model as module
from thresher.strategies.link_model.term_model import (
    ABOUT_WORDS,
    AROUND,
    AROUND_WORDS,
    NAME,
    NAME_WORDS,
    TermModel,
    end_of,
    rows_of,
)


def row(words, *texts, width):
    numbers, at = words.of(texts)
    return rows_of(numbers, at * 0, np.array([width]))[0]


def name(words, anchor, url="http://a.org/"):
    return row(words, anchor, end_of(url), width=NAME_WORDS)


def context(words, text):
    return row(words, text, width=AROUND_WORDS)


def introduction(words, title, text=""):
    return row(words, title, text, width=ABOUT_WORDS)


def rows(*lists):
    return np.array(lists, dtype=np.int32)


def test_of_an_address_its_end_is_read():
    assert end_of("http://a.org/x/Harbour_Seals.htm") == "x Harbour_Seals"
    assert end_of("http://a.org/animals/harbour%20seals?page=html") == "animals harbour seals"
    assert end_of("http://seals.org/") == "seals"


def test_a_row_has_the_first_different_words_of_its_texts_and_is_filled_up():
    words, at = np.array([5, 3, 5, 4, 9, 9, 7]), np.array([0, 0, 0, 0, 2, 2, 2])
    assert rows_of(words, at, np.array([2, 3, 3])).tolist() == [[5, 3, 0], [0, 0, 0], [9, 7, 0]]
    assert rows_of(words[:0], at[:0], np.array([2])).tolist() == [[0, 0]]


def test_a_word_of_relevant_pages_is_worth_more_than_one_of_others():
    words = TermModel()
    good, bad = words.of_page("seal pup"), words.of_page("tax form")
    for _ in range(4):
        words.read_page(good, 1.0)
        words.read_page(bad, 0.0)
    words.update()
    names = rows(name(words, "seal"), name(words, "tax"))
    assert words.features(NAME, names)[0, 1] > 0 > words.features(NAME, names)[1, 1]


def test_a_second_thought_about_a_page_is_taken_over():
    words = TermModel()
    page = words.of_page("seal pup")
    words.read_page(page, 1.0)
    words.read_page(words.of_page("tax form"), 0.0)
    words.revise_page(page, -1.0)
    words.update()
    names = rows(name(words, "seal"), name(words, "tax"))
    assert words.features(NAME, names)[0, 1] == pytest.approx(words.features(NAME, names)[1, 1])


def test_words_of_links_are_learned_by_following_them():
    words = TermModel()
    good, bad = rows(name(words, "seal")), rows(name(words, "tax"))
    around, about = rows(context(words, "")), rows(introduction(words, "zoo"))
    for _ in range(10):
        words.follow(good, around, about, relevance=1.0, error=-0.5)
        words.follow(bad, around, about, relevance=0.0, error=0.5)
    words.update()
    weight, _, _, led = words.features(NAME, np.vstack([good, bad])).T
    assert weight[0] > 0 > weight[1]
    assert led[0] > 0 > led[1]
    assert words.features(AROUND, around).tolist() == [[0, 0, 0, 0]]


def test_a_page_promises_what_links_of_pages_like_it_held():
    words = TermModel()
    zoo, office = rows(introduction(words, "zoo", "animals")), rows(introduction(words, "office", "papers"))
    nothing = rows((0,) * NAME_WORDS), rows((0,) * AROUND_WORDS)
    for _ in range(5):
        words.follow(*nothing, zoo, relevance=1.0, error=-0.5)
        words.follow(*nothing, office, relevance=0.0, error=0.5)
    words.update()
    assert words.promise(zoo)[0] > 0 > words.promise(office)[0]


def test_a_word_that_comes_twice_counts_once():
    often, once = TermModel(), TermModel()
    for words, text in ((often, "seal seal seal"), (once, "seal")):
        words.read_page(words.of_page(text), 1.0)
        words.read_page(words.of_page("tax form"), 0.0)
        links = rows(name(words, text), name(words, "seal pup"))
        words.follow(
            links, rows(*[context(words, text)] * 2), rows(introduction(words, text)), relevance=1.0, error=-0.5
        )
    np.testing.assert_array_equal(often.state(10)[1], once.state(10)[1])


def test_when_all_numbers_are_given_out_words_share_them(monkeypatch):
    monkeypatch.setattr(module, "MAX_WORDS", 8)
    words = TermModel()
    numbers = words.of_page(" ".join(f"word{number}" for number in range(100)))
    assert set(numbers.tolist()) <= set(range(1, 8))

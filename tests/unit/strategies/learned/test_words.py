import numpy as np
import pytest

from thresher.strategies.learned import words as module
from thresher.strategies.learned.words import ABOUT_WORDS, AROUND, AROUND_WORDS, NAME, NAME_WORDS, Words, row_of


def rows(*lists):
    return np.array(lists, dtype=np.int32)


def name(words, anchor, url="http://a.org/"):
    return row_of([*words.of(anchor), *words.of_url(url)], NAME_WORDS)


def context(words, text):
    return row_of(words.of(text), AROUND_WORDS)


def test_a_link_is_called_by_its_anchor_and_its_address():
    words = Words()
    seals = set(words.of("Harbour seals"))
    assert set(words.of_url("http://a.org/x/Harbour_Seals.htm")) == seals
    assert set(words.of_url("http://a.org/animals/harbour%20seals?page=html")) > seals
    assert words.of_url("http://a.org/") == words.of_url("http://a.org") == words.of("a.org")[:0]


def test_chinese_words_are_pairs_of_characters():
    words = Words()
    assert (
        set(words.of("海豹"))
        < set(words.of("灰海豹群"))
        == set(words.of_url("http://a.org/x/%E7%81%B0%E6%B5%B7%E8%B1%B9%E7%BE%A4"))
    )
    assert len(words.of_introduction("海豹", "灰海豹群")) == ABOUT_WORDS


def test_a_word_of_relevant_pages_is_worth_more_than_one_of_others():
    words = Words()
    good, bad = words.of_page("seal pup"), words.of_page("tax form")
    for _ in range(4):
        words.read_page(good, 1.0)
        words.read_page(bad, 0.0)
    words.think()
    names = rows(name(words, "seal"), name(words, "tax"))
    assert words.say(NAME, names)[0, 1] > 0 > words.say(NAME, names)[1, 1]


def test_a_second_thought_about_a_page_is_taken_over():
    words = Words()
    page = words.of_page("seal pup")
    words.read_page(page, 1.0)
    words.read_page(words.of_page("tax form"), 0.0)
    words.revise_page(page, -1.0)
    words.think()
    names = rows(name(words, "seal"), name(words, "tax"))
    assert words.say(NAME, names)[0, 1] == pytest.approx(words.say(NAME, names)[1, 1])


def test_words_of_links_are_learned_by_following_them():
    words = Words()
    good, bad = rows(name(words, "seal")), rows(name(words, "tax"))
    around, about = rows(context(words, "")), rows(words.of_introduction("zoo", ""))
    for _ in range(10):
        words.follow(good, around, about, relevance=1.0, error=-0.5)
        words.follow(bad, around, about, relevance=0.0, error=0.5)
    words.think()
    weight, _, _, led = words.say(NAME, np.vstack([good, bad])).T
    assert weight[0] > 0 > weight[1]
    assert led[0] > 0 > led[1]
    assert words.say(AROUND, around).tolist() == [[0, 0, 0, 0]]


def test_a_page_promises_what_links_of_pages_like_it_held():
    words = Words()
    zoo, office = rows(words.of_introduction("zoo", "animals")), rows(words.of_introduction("office", "papers"))
    nothing = rows((0,) * NAME_WORDS), rows((0,) * AROUND_WORDS)
    for _ in range(5):
        words.follow(*nothing, zoo, relevance=1.0, error=-0.5)
        words.follow(*nothing, office, relevance=0.0, error=0.5)
    words.think()
    assert words.promise(zoo)[0] > 0 > words.promise(office)[0]


def test_when_all_numbers_are_given_out_words_share_them(monkeypatch):
    monkeypatch.setattr(module, "MOST_WORDS", 8)
    words = Words()
    numbers = words.of_page(" ".join(f"word{number}" for number in range(100)))
    assert set(numbers.tolist()) <= set(range(1, 8))

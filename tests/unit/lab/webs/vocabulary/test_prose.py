"""Sentences are made of the right words, in the right shares."""

from random import Random

import pytest

from thresher_lab.webs.vocabulary import vocabulary
from thresher_lab.webs.vocabulary.prose import Prose, mixed, prose


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_text_is_as_long_as_wanted(language):
    writer = prose(language, "Arts/Music", 0.6)
    text = writer.joined(writer.text(Random(1), 1_000))
    assert 900 < len(text) < 1_100
    assert not set("<>%") & set(text)


def test_the_same_draws_give_the_same_text():
    writer = prose("en", "Arts/Music", 0.6)
    assert writer.text(Random(1), 500) == writer.text(Random(1), 500) != writer.text(Random(2), 500)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.9])
def test_words_are_mixed_in_the_wanted_share(share):
    own, general = tuple(f"o{n}" for n in range(150)), tuple(f"g{n}" for n in range(260))
    words = mixed(own, general, share)
    assert sum(word.startswith("o") for word in words) / len(words) == pytest.approx(share, abs=0.06)


def test_without_a_topic_there_are_only_general_words():
    own, general = ("a",), ("b",)
    assert mixed(own, general, 0.0) == general
    assert mixed(own, general, 1.0) == own


def test_most_titles_name_the_topic():
    nouns = set(vocabulary("en", "music").nouns)
    writer, draw = Prose("en", "Arts/Music", 0.6), Random(1).getrandbits
    titles = [writer.title(draw(64)) for _ in range(400)]
    telling = sum(bool(nouns & set(title.lower().replace(":", "").split())) for title in titles)
    assert 0.65 < telling / len(titles) < 0.9


def test_a_keyword_is_a_noun_of_the_topic():
    assert prose("zh", "Sport/Football", 0.6).keyword(12345) in vocabulary("zh", "football").nouns

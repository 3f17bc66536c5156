"""The word lists are large, clean, and different from each other."""

import re

import pytest

from thresher_lab.webs.vocabulary import GENERAL, LANGUAGES, TOPICS, vocabulary

LISTS = [(language, name) for language in LANGUAGES for name in (GENERAL, *TOPICS.values())]


@pytest.mark.parametrize(("language", "name"), LISTS)
def test_a_list_has_a_few_hundred_words(language, name):
    words = vocabulary(language, name)
    assert len(words.nouns) >= 120
    assert len(words.verbs) >= 20
    assert len(words.adjectives) >= 25


@pytest.mark.parametrize(("language", "name"), LISTS)
def test_words_are_words_of_the_language_without_markup(language, name):
    words = vocabulary(language, name)
    letters = re.compile(r"[a-z]+(?:-[a-z]+)*" if language == "en" else r"[\u4e00-\u9fff]+").fullmatch
    wrong = [word for word in (*words.nouns, *words.verbs, *words.adjectives) if not letters(word)]
    assert wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_topics_share_few_of_their_nouns(language):
    names = list(TOPICS.values())
    for number, name in enumerate(names):
        for other in names[number + 1 :]:
            nouns, others = set(vocabulary(language, name).nouns), set(vocabulary(language, other).nouns)
            assert len(nouns & others) < 0.15 * min(len(nouns), len(others)), (name, other)

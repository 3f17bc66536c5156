"""Sentences, titles and keywords about a topic: grammatical enough to be parsed, and about nothing but their words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from random import Random

from thresher_lab.webs.vocabulary import GENERAL, TOPICS, vocabulary

_SENTENCES = {
    "en": (
        "The <a> <n> and the <n> belong to every <n>.",
        "Many people <v> the <n> before they <v> the <a> <n>.",
        "Without the <n>, nobody would <v> the <a> <n> today.",
        "We <v> each <n> with some <n>, and then the <n> follows.",
        "It took a <n> and two <a> weeks to <v> the <n>.",
        "Some <v> the <n>, others <v> only the <a> <n> of the <n>.",
        "In this <n> the <a> <n> is older than the <n>.",
        "Those who <v> the <n> often ask about the <n> and its <a> <n>.",
        "There is no <n> here, but the <n> of the <a> <n> is close.",
        "Between the <n> and the <n> lies the <a> part of the <n>.",
        "You can <v> the <n> again when the <n> is <a>.",
        "Our <n> shows how to <v> the <a> <n> in a single <n>.",
        "Neither the <n> nor the <n> was <a> at that time.",
        "After the <n>, they began to <v> the <n> and the <n>.",
        "What makes the <n> so <a> is the <n> behind it.",
        "First <v> the <n>, then <v> the <n>, and last <v> the <a> <n>.",
    ),
    "zh": (
        "<a>的<n>和<n>都离不开<n>。",
        "许多人先<v><n>，然后才<v><a>的<n>。",
        "没有<n>，今天谁也不能<v><a>的<n>。",
        "我们用<n>来<v>每一个<n>，接着就是<n>。",
        "为了<v><n>，他们花了两个<a>的星期准备<n>。",
        "有人<v><n>，也有人只<v><a>的<n>。",
        "在这个<n>里，<a>的<n>比<n>更早。",
        "常常<v><n>的人，总会问起<n>和<a>的<n>。",
        "这里没有<n>，不过<a>的<n>就在附近。",
        "<n>与<n>之间，是<n>里最<a>的部分。",
        "只要<n>还<a>，就可以再次<v><n>。",
        "本文说明怎样用一次<n>来<v><a>的<n>。",
        "当时的<n>并不<a>，<n>也是如此。",
        "<n>之后，大家开始<v><n>和<n>。",
        "<n>之所以<a>，是因为背后有<n>。",
        "先<v><n>，再<v><n>，最后<v><a>的<n>。",
    ),
}
_TITLES = {
    "en": ("{0} {1} and {2}", "The {1} of the {2}", "{1}: {0} {2}"),
    "zh": ("{0}的{1}与{2}", "{1}和{2}", "{1}：{0}的{2}"),
}
_JOINERS = {"en": " ", "zh": ""}
_REPEATS = 4  # of the general words, so that shares can be met closely
_UNTOLD_TITLES = 4  # one page in this many has a title without its topic

_SLOT = re.compile("<([nva])>")
_KINDS = {"n": 0, "v": 1, "a": 2}


class Prose:
    """A writer of one language with one mixture of words.

    Args:
        language: ``en`` or ``zh``.
        topic: The label of its topic; empty for none.
        share: Share of words from the topic's own list.
    """

    def __init__(self, language: str, topic: str, share: float) -> None:
        general = vocabulary(language, GENERAL)
        own = vocabulary(language, TOPICS[topic]) if topic else general
        self.language = language
        self._own, self._general = own, general
        words = (
            mixed(own.nouns, general.nouns, share),
            mixed(own.verbs, general.verbs, share),
            mixed(own.adjectives, general.adjectives, share),
        )
        self._sentences = [
            (form, [(words[kind], len(words[kind])) for kind in kinds]) for form, kinds in _compiled(language)
        ]

    def text(self, random: Random, characters: int) -> list[str]:
        """Return sentences with at least this many characters."""
        sentences: list[str] = []
        draw, forms, count = random.random, self._sentences, len(self._sentences)
        while characters > 0:
            form, slots = forms[int(draw() * count)]
            sentence = form % tuple([words[int(draw() * number)] for words, number in slots])
            sentences.append(sentence)
            characters -= len(sentence) + 1
        return sentences

    def title(self, draw: int) -> str:
        """Return the title for a large number."""
        source = self._general if draw % _UNTOLD_TITLES == 0 else self._own
        nouns, adjectives, forms = source.nouns, source.adjectives, _TITLES[self.language]
        words = (
            adjectives[(draw >> 4) % len(adjectives)],
            nouns[(draw >> 16) % len(nouns)],
            nouns[(draw >> 32) % len(nouns)],
        )
        title = forms[(draw >> 48) % len(forms)].format(*words)
        return title[:1].upper() + title[1:]

    def keyword(self, draw: int) -> str:
        """Return the noun of the topic for a large number."""
        return self._own.nouns[draw % len(self._own.nouns)]

    def joined(self, pieces: Sequence[str]) -> str:
        """Join sentences as the language does."""
        return _JOINERS[self.language].join(pieces)


@cache
def prose(language: str, topic: str, share: float) -> Prose:
    """Return a writer; the same one for the same arguments."""
    return Prose(language, topic, share)


def mixed(own: tuple[str, ...], general: tuple[str, ...], share: float) -> tuple[str, ...]:
    """Return a list of which about the given share is from `own`, by repeating both."""
    if share <= 0 or share >= 1:
        return own if share >= 1 else general
    repeats = round(_REPEATS * share / (1 - share) * len(general) / len(own))
    return (*own * max(1, repeats), *general * _REPEATS)


@cache
def _compiled(language: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return the sentences as formats, with the kinds of their words."""
    return tuple(
        (_SLOT.sub("%s", form), tuple(_KINDS[kind] for kind in _SLOT.findall(form))) for form in _SENTENCES[language]
    )

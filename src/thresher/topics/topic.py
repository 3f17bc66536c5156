"""What the user wants, as words.

A topic is one phrase per language and some keywords. Its vectors give each word of the phrase and of the keywords
the same weight; a page is compared with the vector of each language on its own and the best one counts, so that an
English page need not contain the Chinese words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from thresher.text.languages import language
from thresher.text.tokens import tokenize


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A topic in one or more languages.

    Args:
        title: The topic as a phrase, by language.
        about: The topic in a sentence or two, by language; for people, not for scores.
        keywords: Words and phrases, each in any language.
    """

    title: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, str] = field(default_factory=dict)
    keywords: Sequence[str] = ()

    @classmethod
    def from_phrase(cls, text: str, *, keywords: Sequence[str] = ()) -> Topic:
        """Read a topic as people type it: ``perovskite solar cells; 钙钛矿太阳能电池``.

        Phrases are parted by semicolons, and each goes to the language its script tells. A second phrase of the
        same language becomes a keyword.
        """
        title: dict[str, str] = {}
        more: list[str] = []
        for phrase in filter(None, (part.strip() for part in text.replace("；", ";").split(";"))):
            code = phrase_language(phrase)
            if code in title:
                more.append(phrase)
            else:
                title[code] = phrase
        return cls(title=title, keywords=[*more, *keywords])

    def vectors(self) -> dict[str, dict[str, float]]:
        """Return one vector of term weights per language in which the topic has any words."""
        texts: dict[str, list[str]] = {code: [phrase] for code, phrase in self.title.items()}
        for keyword in self.keywords:
            texts.setdefault(phrase_language(keyword), []).append(keyword)
        vectors = {code: dict.fromkeys(tokenize(" ; ".join(phrases)), 1.0) for code, phrases in texts.items()}
        return {code: vector for code, vector in vectors.items() if vector}


def phrase_language(phrase: str) -> str:
    """Tell the language of a phrase of a few words: by its script, and English for Latin letters."""
    if phrase.isascii():
        return "en"
    return language(" ".join([phrase] * 4)) or "en"  # a phrase is shorter than what a language is told by

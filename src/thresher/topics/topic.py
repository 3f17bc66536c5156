"""The definition of a topic in words.

A topic is one phrase per language and some keywords, or some nodes of a taxonomy. A node has the labels from the first
level to its own, of which the i-th of d has the weight i/d; a phrase is treated as a taxonomy of one node. A page is
compared with each vector separately and the best one counts, so that an English page need not contain Chinese words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from thresher.errors import ConfigError
from thresher.text import OPEN
from thresher.text.languages import phrase_language, phrase_languages, possible_languages
from thresher.text.tokens import tokenize

if TYPE_CHECKING:
    from thresher.topics.taxonomy.taxonomy import TaxonomyNode, TaxonomyReader

MAX_LANGUAGES = 3
"""A phrase that may be in more languages than this tells nothing about the languages of wanted pages."""

Labels = Sequence[Mapping[str, str]]
"""The labels of a node's path, each by language, from the first level to the node's own."""


@dataclass(frozen=True, kw_only=True)
class TopicDefinition:
    """A topic in one or more languages.

    Args:
        title: The topic as a phrase, by language, ``und`` for one that may be in several; with nodes only for users.
        about: The topic in a sentence or two, by language; only for users, not for scores.
        keywords: Words and phrases, each in any language.
        nodes: The labels of each chosen node of a taxonomy.
    """

    title: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, str] = field(default_factory=dict)
    keywords: Sequence[str] = ()
    nodes: Sequence[Labels] = ()

    @classmethod
    def from_phrase(
        cls, text: str, *, keywords: Sequence[str] = (), languages: Collection[str] = ()
    ) -> TopicDefinition:
        """Parse a topic as users type it: ``perovskite solar cells; 钙钛矿太阳能电池``.

        Phrases are separated by semicolons; the language of each is detected. A second phrase of the same language
        becomes a keyword.

        Args:
            text: The phrases.
            keywords: Further words and phrases.
            languages: The languages that the phrases are in; any if not given.
        """
        title: dict[str, str] = {}
        more: list[str] = []
        for phrase in filter(None, (part.strip() for part in text.replace("；", ";").split(";"))):
            code = _language_among(phrase, languages)
            if code in title:
                more.append(phrase)
            else:
                title[code] = phrase
        return cls(title=title, keywords=[*more, *keywords])

    @classmethod
    def from_nodes(
        cls,
        taxonomy: TaxonomyReader,
        paths: Iterable[str],
        *,
        languages: Collection[str] = "auto",
        keywords: Sequence[str] = (),
    ) -> TopicDefinition:
        """Make a topic of nodes of a taxonomy, in some of its languages: ``auto`` for English and Chinese.

        Descriptions and keywords of the nodes become those of the topic; the given keywords come after them.

        Raises:
            UnknownNode: A path does not exist.
            ConfigError: No node is given, or one has no label in any of the languages.
        """
        nodes, languages = [], ("en", "zh") if languages == "auto" else languages
        chosen = list(map(taxonomy.node, dict.fromkeys(paths)))
        for path in (node.path for node in chosen):
            levels = [{code: labels[code] for code in languages if code in labels} for labels in taxonomy.labels(path)]
            if not levels[-1]:
                raise ConfigError(f"node {path!r} has no label in {' or '.join(languages)}; choose another language")
            nodes.append(levels)
        if not nodes:
            raise ConfigError("no node of the taxonomy is chosen; name at least one")
        title = {code: ", ".join(_own_labels(nodes, code)) for code in languages if _own_labels(nodes, code)}
        about = {code: " ".join(_texts(chosen, code)) for code in languages if _texts(chosen, code)}
        own = [keyword for code in languages for node in chosen for keyword in node.keywords.get(code, ())]
        return cls(title=title, about=about, keywords=list(dict.fromkeys([*own, *keywords])), nodes=nodes)

    @property
    def labels(self) -> Sequence[Labels]:
        """The labels of the topic, a path per node; a phrase is a path of one level."""
        return self.nodes or ([[self.title]] if self.title else [])

    @property
    def languages(self) -> list[str]:
        """The languages of the phrases, labels and keywords; of one that may be in two or three, all of these."""
        title = [
            code for levels in self.labels for own, label in levels[-1].items() for code in _known_languages(own, label)
        ]
        keywords = [
            code for keyword in self.keywords if not self._covers(keyword) for code in _known_languages(OPEN, keyword)
        ]
        return sorted({*title, *keywords})

    @property
    def is_open(self) -> bool:
        """Whether a phrase may be in more languages than are listed in `languages`."""
        phrases = [(own, label) for levels in self.labels for own, label in levels[-1].items()]
        return any(not _known_languages(own, label) for own, label in phrases)

    def _covers(self, keyword: str) -> bool:
        return any(code in self.title for code in possible_languages(keyword))

    def vectors(self) -> dict[str, dict[str, float]]:
        """Return a vector of term weights for each node and language with any terms.

        Their names are ``en`` and ``zh``, those of a second node ``en 2`` and ``zh 2``, and so on. A phrase that may be
        in several languages has a vector for each of them in which it has other terms. Keywords have the weight 1 in
        every vector of their language.
        """
        vectors = {
            code if number == 1 else f"{code} {number}": label_vector(levels, code)
            for number, levels in enumerate(self.labels, start=1)
            for code in levels[-1]  # without a label of its own, a node could not be distinguished from its parent
            if code != OPEN
        }
        phrase = "" if self.nodes else self.title.get(OPEN, "")
        for code in phrase_languages(phrase) if phrase else ():
            if (vector := dict.fromkeys(tokenize(phrase, code), 1.0)) not in vectors.values():
                vectors[code] = vectors.get(code, {}) | vector
        for keyword in self.keywords:
            codes = possible_languages(keyword)
            named = [name for name in vectors if name.partition(" ")[0] in codes]
            for name in named or phrase_languages(keyword):
                code = name.partition(" ")[0]
                vectors.setdefault(name, {}).update(dict.fromkeys(tokenize(keyword, code), 1.0))
        return {name: vector for name, vector in vectors.items() if vector}


def label_vector(levels: Labels, code: str) -> dict[str, float]:
    """Weigh the labels of a path in one language: FCMRPS 3.1, ``v_t = {label_i: i/d}``.

    Each term of a label gets the label's weight; the maximum counts when it occurs in several.
    """
    d = len(levels)
    v_t: dict[str, float] = {}
    for i, labels in enumerate(levels, start=1):  # weights grow towards the node, so the last one is the greatest
        v_t |= dict.fromkeys(tokenize(labels.get(code, ""), code), i / d)
    return v_t


def _language_among(phrase: str, languages: Collection[str]) -> str:
    """Return the language of a phrase, when it must be one of some languages; ``und`` when it may be several."""
    if not languages:
        return phrase_language(phrase)
    likely, possible = phrase_languages(phrase), possible_languages(phrase)
    wanted = [code for code in languages if code in likely] or [code for code in languages if code in possible]
    return wanted[0] if len(wanted) == 1 else OPEN if wanted else phrase_language(phrase)


def _known_languages(own: str, label: str) -> Sequence[str]:
    """Return the language of a label or phrase; of an open one all that it may be in, when they are few."""
    codes = phrase_languages(label) if own == OPEN else [own]
    return codes if len(codes) <= MAX_LANGUAGES else []


def _texts(nodes: Iterable[TaxonomyNode], code: str) -> list[str]:
    return [node.descriptions[code] for node in nodes if code in node.descriptions]


def _own_labels(nodes: Iterable[Labels], code: str) -> list[str]:
    return list(dict.fromkeys(levels[-1][code] for levels in nodes if code in levels[-1]))

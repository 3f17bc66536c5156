"""The topic as judges and strategies get it: plain values and ready-made parts.

`UrlEvidence` is the topic evidence in a URL, before its page is fetched: FCMRPS 3.5, equations 5 and 6. A topic is a
path of labels from the root of a taxonomy to its node. Each label that the URL contains counts, deeper ones more, and
less reliable kinds of spellings less.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from thresher.text.tokens import Mentions, count
from thresher.text.vectors import Vector, cosine
from thresher.topics.token_table import ALPHA, SpellingKind, TokenTable
from thresher.topics.topic import Labels
from thresher.urls.tokens import host_block, path_blocks, spellings, split_host, url_tokens

LevelLabels = Mapping[str, str]
"""The labels of one level of a taxonomy, by language."""

_PARTS = re.compile(r"[_+\s-]").split


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlMatch:
    """A label that a URL contains.

    Args:
        label: The label in its first language.
        level: Its level on the path, from 1 for the root's children.
        depth: The length of the path; a label at this level is the topic's own.
        kind: The kind of spelling.
        spelling: The spelling.
        token: The token of the URL that contains it.
        part: Its share of the evidence.
    """

    label: str
    level: int
    depth: int
    kind: SpellingKind
    spelling: str
    token: str
    part: float


class UrlEvidence:
    """A predictor of relevance by URL.

    Args:
        paths: The nodes of the topic, each as the labels from the top of the taxonomy down to it.
        table: The spellings of labels in URLs.
        whole_token_up_to: Spellings of up to this many letters must be a whole token, or a part of one between
            ``-`` and ``_``; longer ones may occur anywhere in a token. With 0 all may, as in the paper.
    """

    def __init__(
        self, paths: Iterable[Sequence[LevelLabels]], table: TokenTable, *, whole_token_up_to: int = 3
    ) -> None:
        self._paths = [_Path(path, table) for path in paths]
        self._spellings = tuple(sorted({spelling for path in self._paths for spelling in path.spellings()}))
        short = (s for s in self._spellings if s.isascii() and len(s) <= whole_token_up_to)
        self._short = {s: re.compile(rf"(?<![^\W_]){s}(?![^\W_])").search for s in short}
        # Cached: links share hosts, pages share links, and there are few distinct sets of spellings.
        self._in_host = lru_cache(maxsize=1 << 12)(lambda host: self._spelled(host, _host_tokens))
        self._in_path = lru_cache(maxsize=1 << 13)(lambda path: self._spelled(path, _path_tokens))
        self._R_url = lru_cache(maxsize=1 << 12)(self._best_score)

    def score(self, url: str) -> float:
        """Return R_url, from 0 to 1; the maximum over the nodes."""
        text = url.lower()
        if "%" not in text and not self._likely(text):
            return 0.0
        host, path = split_host(url)
        return self._R_url(self._in_host(host) + self._in_path(path))

    def _best_score(self, spelled: tuple[str, ...]) -> float:
        return max((path.score(spelled) for path in self._paths), default=0.0)

    def matches(self, url: str) -> list[UrlMatch]:
        """Return the labels of the best node that the URL contains; their parts add up to the score."""
        tokens = url_tokens(url)
        found = {spelling: token for spelling in self._spellings if (token := self._holder(spelling, tokens))}
        best = max(self._paths, key=lambda path: path.score(found), default=None)
        return list(best.matches(found)) if best else []

    def _spelled(self, text: str, cut: Callable[[str], list[str]]) -> tuple[str, ...]:
        """Return the spellings in a part of a URL; most have none, and need not be tokenized."""
        likely = self._spellings if "%" in text else self._likely(text)  # escapes can hide a spelling
        if not likely:
            return ()
        tokens = cut(text)
        return tuple([spelling for spelling in likely if self._holder(spelling, tokens)])

    def _likely(self, text: str) -> Sequence[str]:
        """Return a superset of the spellings in the text: separators may occur inside or around them."""
        bare = text.replace("-", "").replace("_", "").replace("+", "")
        held = [spelling for spelling in self._spellings if spelling in bare]
        short = self._short
        return [s for s in held if s not in short or short[s](text) or short[s](bare)] if held else held

    def _holder(self, spelling: str, tokens: Sequence[str]) -> str:
        for token in tokens:
            if spelling in token and (spelling not in self._short or token == spelling or spelling in _PARTS(token)):
                return token
        return ""


def _host_tokens(host: str) -> list[str]:
    return spellings([host_block(host)])


def _path_tokens(path: str) -> list[str]:
    return spellings(path_blocks(path))


class _Path:
    """One node of the topic: its labels with their weights and spellings."""

    def __init__(self, path: Sequence[LevelLabels], table: TokenTable) -> None:
        d = len(path)
        self._labels = [next(iter(labels.values()), "") for labels in path]
        self._w = [i / d for i in range(1, d + 1)]
        self._beta = 1 / sum(self._w) if path else 0.0
        self._levels = [table.spellings(labels.values()) for labels in path]

    def spellings(self) -> set[str]:
        return {spelling for level in self._levels for spelling in level}

    def score(self, spelled: Iterable[str]) -> float:
        best = (max((ALPHA[level[s]] for s in spelled if s in level), default=0.0) for level in self._levels)
        return sum(w_i * b_i for w_i, b_i in zip(self._w, best, strict=True)) * self._beta

    def matches(self, found: Mapping[str, str]) -> Iterable[UrlMatch]:
        for place, level in enumerate(self._levels):
            held = sorted((s for s in found if s in level), key=lambda s: (-ALPHA[level[s]], -len(s), s))
            for spelling in held[:1]:
                kind = level[spelling]
                yield UrlMatch(
                    label=self._labels[place],
                    level=place + 1,
                    depth=len(self._levels),
                    kind=kind,
                    spelling=spelling,
                    token=found[spelling],
                    part=self._w[place] * ALPHA[kind] * self._beta,
                )


REMEMBERED_TEXTS = 1 << 15
"""Cache size for similarities: anchors and menus repeat."""


def _no_classes() -> Mapping[str, Sequence[str]]:
    return {}


@dataclass(frozen=True, kw_only=True)
class TopicProfile:
    """The topic as judges and strategies see it; unused values may be left empty.

    Args:
        phrases: Its phrases and keywords as the user wrote them.
        vectors: Its terms and their weights, by language and node.
        labels: The names of its nodes from the first level down, for URLs.
        tokens: How names are spelled in URLs; the shipped table when none is given.
        model: The folder of the models trained for this crawl; None without any.
        seeds: Canonical URLs to start from, assumed to be on topic.
        yes: Canonical URLs of pages that the user labels as on topic.
        no: Canonical URLs of pages that the user labels as off topic.
        classes: Returns the texts of the example pages of every class of a taxonomy; called only for training.
        targets: The wanted classes.
    """

    phrases: Sequence[str] = ()
    vectors: Mapping[str, Vector] = field(default_factory=dict)
    labels: Sequence[Labels] = ()
    tokens: TokenTable | None = None
    model: Path | None = None
    seeds: frozenset[str] = frozenset()
    yes: frozenset[str] = frozenset()
    no: frozenset[str] = frozenset()
    classes: Callable[[], Mapping[str, Sequence[str]]] = _no_classes
    targets: frozenset[str] = frozenset()

    @property
    def labelled(self) -> dict[str, bool]:
        return {**dict.fromkeys(self.yes, True), **dict.fromkeys(self.no, False)}

    def similarity(self, text: str, language: str = "") -> float:
        """Return the highest cosine of a text with one of the topic's vectors: FCMRPS, equations 1 to 3."""
        return self._similarity(text, language) if text else 0.0

    def url_evidence(self, url: str) -> float:
        """Return R_url: the share of the topic's names that occurs in a URL."""
        return self._evidence.score(url)

    @cached_property
    def _similarity(self) -> _Similarity:
        return _Similarity(self.vectors)

    @cached_property
    def _evidence(self) -> UrlEvidence:
        return UrlEvidence(self.labels, self.tokens or TokenTable.shipped())


class _Similarity:
    """Cached similarities of texts to the topic."""

    def __init__(self, vectors: Mapping[str, Vector]) -> None:
        self._vectors = list(vectors.values())
        self._mentions = Mentions(term for vector in self._vectors for term in vector)
        self._remembered = lru_cache(maxsize=REMEMBERED_TEXTS)(self._compare)

    def __call__(self, text: str, language: str) -> float:
        return self._remembered(text, language) if len(text) < 1000 else self._compare(text, language)

    def _compare(self, text: str, language: str) -> float:
        if not self._mentions(text, language):  # most texts around links contain no term of the topic
            return 0.0
        counts = count(text, language)
        return max((cosine(counts, vector) for vector in self._vectors), default=0.0)

"""What a URL says about a topic before its page is fetched: FCMRPS 3.5, equations 5 and 6.

A topic is a path of labels from the root of a taxonomy to its node. Each label that the URL spells counts, deeper ones
more, and unsure kinds of spellings less.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from thresher.topics.spellings import ALPHA, Kind
from thresher.topics.token_table import TokenTable
from thresher.urls.tokens import host_block, path_blocks, spellings, split_host, url_tokens

Labels = Mapping[str, str]
"""The labels of one level of a taxonomy, by language."""

_PARTS = re.compile(r"[_+\s-]").split


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlMatch:
    """A label that a URL spells.

    Args:
        label: The label in its first language.
        level: Its place on the path, from 1 for the root's children.
        depth: The length of the path; the label is the topic's own when it lies at this level.
        kind: The kind of spelling.
        spelling: The spelling.
        token: The token of the URL that holds it.
        part: What it adds to the evidence.
    """

    label: str
    level: int
    depth: int
    kind: Kind
    spelling: str
    token: str
    part: float


class UrlEvidence:
    """Predict by its URL whether a page is about a topic.

    Args:
        paths: The nodes of the topic, each as the labels from the top of the taxonomy down to it.
        table: How labels are written in URLs.
        whole_token_up_to: Spellings of up to so many letters must be a whole token, or a part of one between
            ``-`` and ``_``; longer ones may stand anywhere in a token. With 0 all may, as in the paper.
    """

    def __init__(self, paths: Iterable[Sequence[Labels]], table: TokenTable, *, whole_token_up_to: int = 3) -> None:
        self._paths = [_Path(path, table) for path in paths]
        self._spellings = tuple(sorted({spelling for path in self._paths for spelling in path.spellings()}))
        short = (s for s in self._spellings if s.isascii() and len(s) <= whole_token_up_to)
        self._short = {s: re.compile(rf"(?<![^\W_]){s}(?![^\W_])").search for s in short}
        # Links share hosts, pages share links, and all of them spell few different things.
        self._in_host = lru_cache(maxsize=1 << 12)(lambda host: self._spelled(host, _host_tokens))
        self._in_path = lru_cache(maxsize=1 << 13)(lambda path: self._spelled(path, _path_tokens))
        self._R_url = lru_cache(maxsize=1 << 12)(self._best_score)

    def score(self, url: str) -> float:
        """Give R_url, from 0 to 1; over several nodes the best one counts."""
        text = url.lower()
        if "%" not in text and not self._likely(text):
            return 0.0
        host, path = split_host(url)
        return self._R_url(self._in_host(host) + self._in_path(path))

    def _best_score(self, spelled: tuple[str, ...]) -> float:
        return max((path.score(spelled) for path in self._paths), default=0.0)

    def matches(self, url: str) -> list[UrlMatch]:
        """Say which labels of the best node the URL spells, and how; their parts add up to the score."""
        tokens = url_tokens(url)
        found = {spelling: token for spelling in self._spellings if (token := self._holder(spelling, tokens))}
        best = max(self._paths, key=lambda path: path.score(found), default=None)
        return list(best.matches(found)) if best else []

    def _spelled(self, text: str, cut: Callable[[str], list[str]]) -> tuple[str, ...]:
        """Give the spellings that a part of a URL holds; most hold none, and need not be cut into tokens."""
        likely = self._spellings if "%" in text else self._likely(text)  # escapes can hide a spelling
        if not likely:
            return ()
        tokens = cut(text)
        return tuple([spelling for spelling in likely if self._holder(spelling, tokens)])

    def _likely(self, text: str) -> Sequence[str]:
        """Give the spellings that the text may hold, and all that it does: joints may stand inside or around them."""
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

    def __init__(self, path: Sequence[Labels], table: TokenTable) -> None:
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

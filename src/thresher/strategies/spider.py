"""One agent of InfoSpiders: what it eats, what it expects of links, and how it multiplies.

An agent lives on the URL that it has chosen: it rides there as that URL's carry, with the links that it passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import exp
from typing import Any, Self

from thresher.records import Carry, Link
from thresher.text.tokens import tokenize

MOST_KEYWORDS = 20
MOST_PASSED = 5
"""Links that an agent remembers to have passed over."""
REMEMBERED_TEXTS = 1 << 14
_LARGEST_WEIGHT = 10.0
_DIGITS = 4
"""What rides on a URL is kept short; and ten times a tenth is one."""

Clues = Mapping[str, float]
"""Per keyword: the sum over its occurrences of one over the distance to a link."""


@dataclass(frozen=True, slots=True)
class Prospect:
    """A link as an agent sees it."""

    url: str
    estimate: float
    clues: Clues


@dataclass(frozen=True, slots=True, kw_only=True)
class Spider:
    """An agent.

    Args:
        energy: What it lives on.
        genotype: The keywords it goes by, and their weights.
        round: How many links it and its forebears have followed.
        estimate: What it expected of the page it came to.
        clues: What that rested on.
        passed: The best links that it passed over.
    """

    energy: float
    genotype: Mapping[str, float]
    round: int = 0
    estimate: float = 0.5
    clues: Clues = field(default_factory=dict)
    passed: tuple[Prospect, ...] = ()

    @classmethod
    def from_carry(cls, carry: Mapping[str, Any]) -> Self:
        """Wake the agent that rode on a URL."""
        passed = tuple(Prospect(url, estimate, clues) for url, estimate, clues in carry["passed"])
        return cls(
            energy=carry["energy"],
            genotype=carry["genotype"],
            round=carry["round"],
            estimate=carry["estimate"],
            clues=carry["clues"],
            passed=passed,
        )

    def carry(self) -> Carry:
        """Give what must ride on the URL that the agent goes to."""
        return {
            "energy": self.energy,
            "genotype": self.genotype,
            "round": self.round,
            "estimate": self.estimate,
            "clues": self.clues,
            "passed": [[one.url, one.estimate, one.clues] for one in self.passed],
        }

    def look_at(self, links: Iterable[Link]) -> list[Prospect]:
        """Estimate the links of a page, each address once, by its best link."""
        found: dict[str, Prospect] = {}
        for link in links:
            clues = clues_of(link, self.genotype)
            estimate = self._expect(clues) if clues else 0.5
            if link.url not in found or found[link.url].estimate < estimate:
                found[link.url] = Prospect(link.url, estimate, clues)
        return list(found.values())

    def eat(self, benefit: float, cost: float) -> Spider:
        """Gain what the page is worth, and pay for it."""
        return replace(self, energy=round(self.energy + benefit - cost, _DIGITS))

    def learn(self, benefit: float, rate: float) -> Spider:
        """Take one step of gradient descent from what was expected of this page towards what it is worth."""
        genotype = dict(self.genotype)
        for keyword, clue in self.clues.items():
            if keyword in genotype:
                weight = genotype[keyword] + rate * (benefit - self.estimate) * clue
                genotype[keyword] = round(max(-_LARGEST_WEIGHT, min(_LARGEST_WEIGHT, weight)), _DIGITS)
        return replace(self, genotype=genotype)

    def split(self, terms: Mapping[str, int]) -> tuple[Spider, Spider]:
        """Share the energy with a child that goes by the page's most frequent new term too.

        Args:
            terms: How often each term stands on the page.
        """
        half = replace(self, energy=round(self.energy / 2, _DIGITS))
        new = max(terms.keys() - self.genotype.keys(), key=lambda term: (terms[term], term), default=None)
        if new is None:
            return half, half
        genotype = dict(self.genotype)
        weight = sum(genotype.values()) / max(len(genotype), 1)
        if len(genotype) >= MOST_KEYWORDS:
            del genotype[min(genotype, key=lambda keyword: abs(genotype[keyword]))]
        return half, replace(half, genotype={**genotype, new: round(weight, _DIGITS)})

    def go_to(self, chosen: Prospect, others: Iterable[Prospect]) -> Spider:
        """Follow a link, and remember the best of those passed over."""
        known = {one.url: one for one in (*self.passed, *others) if one.url != chosen.url}
        passed = sorted(known.values(), key=lambda one: -one.estimate)[:MOST_PASSED]
        return replace(self, round=self.round + 1, estimate=chosen.estimate, clues=chosen.clues, passed=tuple(passed))

    def _expect(self, clues: Clues) -> float:
        signal = sum(self.genotype[keyword] * clue for keyword, clue in clues.items())
        return round(1.0 / (1.0 + exp(-max(-30.0, min(30.0, signal)))), _DIGITS)


def clues_of(link: Link, keywords: Mapping[str, float]) -> dict[str, float]:
    """Add up one over the distance from each keyword around a link: 1 inside its anchor, 2 for the next word, ….

    The words around a link are taken to stand half before and half behind it.
    """
    clues: dict[str, float] = {}
    for term in _terms(link.anchor):
        if term in keywords:
            clues[term] = clues.get(term, 0.0) + 1.0
    around = _terms(link.context)
    if not clues and keywords.keys().isdisjoint(around):
        return clues
    middle = (len(around) - 1) / 2
    for place, term in enumerate(around):
        if term in keywords:
            clues[term] = clues.get(term, 0.0) + 1 / (1.5 + abs(place - middle))
    return {term: round(clue, _DIGITS) for term, clue in clues.items()}


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _terms(text: str) -> tuple[str, ...]:
    """Cut a text into terms; menus come again and again."""
    return tuple(tokenize(text))

"""The four sections of a page, and term counts by section: LPE, section 3.2, equation 3.

A word in the headline is more informative than one in the body. Sections are disjoint: each occurrence of a term
counts once, in the strongest section that contains it.
"""

from __future__ import annotations

from collections.abc import Mapping

from thresher.records import ParsedPage
from thresher.text.tokens import count

SECTIONS = ("headline", "keywords", "anchor", "body")
"""The sections, strongest first."""

WEIGHTS: Mapping[str, float] = {"headline": 4.0, "keywords": 3.0, "anchor": 2.0, "body": 1.0}
"""The weight of one occurrence; the paper only requires falling weights of at least 1."""

PLAIN_WEIGHTS: Mapping[str, float] = {"headline": 1.0, "keywords": 0.0, "anchor": 1.0, "body": 1.0}
"""Every word of the visible text counts once: a page counts as its plain text does."""

Sectioned = ParsedPage | Mapping[str, str] | str
"""A page, a mapping from section to text, or a text that is all body."""

Counts = Mapping[str, float]


def section_counts(source: Sectioned) -> dict[str, dict[str, int]]:
    """Count the terms of each section; a mapping's texts are used as they are.

    Raises:
        ValueError: A mapping has an unknown section.
    """
    if isinstance(source, ParsedPage):
        return _counts_of_page(source)
    if isinstance(source, str):
        source = {"body": source}
    if unknown := set(source) - set(SECTIONS):
        raise ValueError(f"no section is called {sorted(unknown)[0]!r}; known: {', '.join(SECTIONS)}")
    return {section: count(source.get(section, "")) for section in SECTIONS}


def weighted_counts(source: Sectioned, weights: Mapping[str, float] = WEIGHTS) -> dict[str, float]:
    """Count the terms of all sections together, each occurrence with the weight of its section."""
    tf: dict[str, float] = {}
    for section, counts in section_counts(source).items():
        if not (weight := weights[section]):
            continue
        for term, times in counts.items():
            tf[term] = tf.get(term, 0.0) + weight * times
    return tf


def _counts_of_page(page: ParsedPage) -> dict[str, dict[str, int]]:
    """Split the page's text into sections; keywords are not part of the text."""
    rest = count(page.text)
    headline = count(" \n ".join([page.title, *page.headings[:1]]))
    _take(rest, headline)
    anchor = _shared(count(" \n ".join(link.anchor for link in page.links)), rest)
    _take(rest, anchor)
    return {"headline": headline, "keywords": count(page.keywords), "anchor": anchor, "body": rest}


def _shared(counts: Mapping[str, int], rest: Mapping[str, int]) -> dict[str, int]:
    """Keep what the text still contains: not the alternative text of images, nor links inside the headline."""
    return {term: min(times, rest[term]) for term, times in counts.items() if term in rest}


def _take(rest: dict[str, int], counts: Mapping[str, int]) -> None:
    for term, times in counts.items():
        left = rest.pop(term, 0) - times
        if left > 0:
            rest[term] = left

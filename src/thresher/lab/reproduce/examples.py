"""What example pages say about a topic: the terms that several of them share, and other pages do not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log

from thresher.text.tokens import count
from thresher.text.vectors import unit

TERMS = 8
"""As many as LPE keeps: with more, no anchor of a word or two could come near its threshold."""
BACKGROUND = 300
"""Pages that say which terms are common; they stand for any corpus of general text."""
MOST_SHARE = 0.3
"""Of a topic's pages may be examples."""
SHARED_BY = 0.2
"""Of the examples must hold a term, or it tells of one page and not of the topic."""


def telling_terms(examples: Sequence[str], common: Mapping[str, int], documents: int) -> dict[str, float]:
    """Weigh terms by their mean share of an example times ``ln((N + 1) / (n_t + 1))``, and keep the heaviest.

    Args:
        examples: Texts of example pages.
        common: In how many texts of the background each term stands, n_t.
        documents: How many texts the background has, N.

    Returns:
        Terms and weights, of which the highest is 1.
    """
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for text in examples:
        for term, share in unit(count(text)).items():
            shares[term].append(share)
    weights = {
        term: sum(own) * log((documents + 1) / (common.get(term, 0) + 1))
        for term, own in shares.items()
        if len(own) >= SHARED_BY * len(examples)
    }
    heaviest = sorted((term for term in weights if weights[term] > 0), key=lambda term: (-weights[term], term))[:TERMS]
    return {term: weights[term] / weights[heaviest[0]] for term in heaviest}


def document_counts(texts: Iterable[str]) -> dict[str, int]:
    """Count for each term the texts that it stands in."""
    return dict(Counter(term for text in texts for term in set(count(text))))

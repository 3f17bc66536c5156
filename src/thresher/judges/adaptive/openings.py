"""Similarity of meaning: the openings of pages as word vectors (`text/word_vectors.py`), compared with the topic's.

An opening is the first terms of a page: its title, then its lead. Its vector finds pages about the topic that use other
words than seeds and phrase do. The vectors of any two texts are alike, so what they have in common is subtracted first:

    centre  = (Σ w v + 100 · common) / (Σ w + 100)      w: the background weight of each page (`topic_model.py`)
    topic   = unit(unit(mean_S v − centre) + unit(phrase − centre))
    meaning = unit(v − centre) · topic

`common` is what English texts have in common. An opening is unknown when the table lacks most of its words, as in other
languages; its meaning is 0, and the page is judged by its terms alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thresher.judges.adaptive.terms import TermVector, Weights
from thresher.text.word_vectors import Floats, WordVectors, unit_length

OPENING_TERMS = 60
"""The number of different terms of a page that are its opening: about 600 characters."""
MIN_KNOWN = 0.5
"""The share of an opening's terms that must be in the table."""
COMMON_LENGTH, COMMON_PAGES = 0.73, 100.0
"""The mean length of the common part of an opening, and the background pages after which it counts half."""
UNKNOWN: Floats = np.zeros(0, dtype=np.float32)
"""The vector of every opening where there is no table."""


def embed_opening(terms: TermVector, word_vectors: WordVectors | None) -> Floats:
    """Return the vector of a page's opening, of length 1; zeros when it is unknown."""
    if word_vectors is None:
        return UNKNOWN
    rows = np.array(word_vectors.rows(terms.names[:OPENING_TERMS]), dtype=np.int32)
    if np.count_nonzero(rows) < max(MIN_KNOWN * len(rows), 1):
        return np.zeros(word_vectors.width, dtype=np.float32)
    return word_vectors.embed_weighted(rows, terms.weights[:OPENING_TERMS])


@dataclass(frozen=True, slots=True)
class Openings:
    """The vectors of openings.

    Args:
        pages: Those of all pages of a sample, a row for each.
        phrase: That of the phrase.
        common: What texts have in common, of length 1.
    """

    pages: Floats
    phrase: Floats
    common: Floats


@dataclass(frozen=True, kw_only=True)
class OpeningModel:
    """The topic by the vectors of openings.

    Args:
        centre: What is subtracted from every vector.
        topic: The topic's vector; zeros where neither examples nor phrase are known.
    """

    centre: Floats
    topic: Floats

    def meaning(self, openings: Floats) -> Weights:
        """Return the meaning of one opening, or of each row of several."""
        cosines = np.asarray(unit_length(openings - self.centre) @ self.topic, dtype=np.float64)
        return np.where(openings.any(axis=-1), cosines, 0.0)


def fit_openings(openings: Openings, background: Weights, examples: Sequence[int]) -> OpeningModel:
    """Fit the model to a sample.

    Args:
        background: The background weight of each page.
        examples: Rows of the examples.
    """
    w = np.where(openings.pages.any(axis=1), background, 0.0)
    common = COMMON_PAGES * COMMON_LENGTH * openings.common
    centre = ((w @ openings.pages + common) / (w.sum() + COMMON_PAGES)).astype(np.float32)
    known = [openings.pages[place] for place in examples if openings.pages[place].any()]
    topic = _direction(np.mean(known, axis=0), centre) if known else np.zeros_like(centre)
    return OpeningModel(centre=centre, topic=unit_length(topic + _direction(openings.phrase, centre)))


def _direction(vector: Floats, centre: Floats) -> Floats:
    return unit_length(vector - centre) if vector.any() else np.zeros_like(centre)

"""Pretrained word vectors: a table of 64 numbers for each of the 57,000 most frequent English stems.

They are GloVe's (Pennington et al. 2014), made by ``bench.effectiveness.word_vector_table``; `word_vectors.txt` states
source and licence. The vector of a text is the mean of its words' vectors, weighted by how rare each word is (Arora et
al. 2017), scaled to length 1.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thresher.native import compiled

UNIT = 4.0 / 127
"""What one step of the 8-bit numbers stands for."""
FREQUENT = 2_000
"""Words whose mean vector is that of an ordinary text."""
UNKNOWN = 0
"""The row of words that are not in the table: zeros."""

Floats = NDArray[np.float32]
Rows = NDArray[np.int32]


class WordVectors:
    """A table of word vectors.

    Args:
        words: The stems, as `tokenize` returns them, the most frequent first.
        vectors: A row of 8-bit numbers for each.
        weights: How rare each is, from 0 to 255.
    """

    def __init__(self, words: Sequence[str], vectors: NDArray[np.int8], weights: NDArray[np.uint8]) -> None:
        self._rows = dict(zip(words, range(1, len(words) + 1), strict=True))
        self._vectors = np.concatenate([np.zeros((1, vectors.shape[1]), dtype=np.int8), vectors])
        self._scales: Floats = np.concatenate([[0.0], weights * (UNIT / 255)]).astype(np.float32)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the stems, the most frequent first."""
        return iter(self._rows)

    @property
    def width(self) -> int:
        """Numbers per vector."""
        return int(self._vectors.shape[1])

    def rows(self, terms: Iterable[str]) -> list[int]:
        """Return the row of each term; 0 for a term that is not in the table."""
        known = self._rows.get
        return [known(term, UNKNOWN) for term in terms]

    def embed(self, rows: Rows) -> Floats:
        """Return a vector of length 1 for each line of rows; zeros where all are unknown."""
        if compiled and rows.ndim == 2:
            return unit_length(compiled.embed(self._vectors, self._scales, rows))
        weighted = self._vectors.take(rows, axis=0) * self._scales.take(rows)[..., None]
        return unit_length(weighted.sum(axis=-2))

    def embed_terms(self, terms: Iterable[str]) -> Floats:
        """Return the vector of a text's terms."""
        return self.embed(np.array(self.rows(terms), dtype=np.int32))

    def embed_weighted(self, rows: Rows, weights: NDArray[np.float64]) -> Floats:
        """Return the vector of one text whose terms have weights besides how rare they are."""
        scales = (self._scales.take(rows) * weights).astype(np.float32)
        return unit_length(scales @ self._vectors.take(rows, axis=0))

    def common(self) -> Floats:
        """Return the vector that texts have in common: that of the most frequent words."""
        return self.embed(np.arange(1, min(FREQUENT, len(self._rows)) + 1, dtype=np.int32))


def unit_length(vectors: Floats) -> Floats:
    """Scale vectors to length 1; zeros stay zeros."""
    squares = np.einsum("...i,...i->...", vectors, vectors)
    scaled: Floats = vectors / np.sqrt(np.maximum(squares, 1e-12))[..., None]
    return scaled


def read_word_vectors(path: Path) -> WordVectors:
    """Read a table that ``bench.effectiveness.word_vector_table`` wrote."""
    with np.load(path, allow_pickle=False) as table:
        words = zlib.decompress(table["words"].tobytes()).decode().split("\n")
        return WordVectors(words, table["vectors"], table["weights"])


@cache
def load_word_vectors() -> WordVectors | None:
    """Return the table of the package; None when the package was installed without it."""
    path = Path(str(files("thresher.text") / "word_vectors.npz"))
    return read_word_vectors(path) if path.exists() else None

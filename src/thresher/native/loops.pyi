"""Types of the compiled module; its arrays have the types that their owners declare."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.records import Link

class WordCounter:
    def __init__(self, term_of: Callable[[bytes], str], most: int) -> None: ...
    def count(self, text: bytes) -> tuple[dict[str, int], bytes]: ...
    def adjacent(self, text: bytes, words: dict[str, str]) -> list[tuple[str, str]]: ...

def number_words(
    text: bytes,
    hashes: NDArray[np.uint64],
    remembered: NDArray[np.int64],
    slot_shift: int,
    number_word: Callable[[bytes], int],
) -> tuple[NDArray[np.int64], list[bytes]]: ...
def split_by_text(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def rows_of(words: NDArray[np.int64], at: NDArray[np.int64], widths: NDArray[np.int64]) -> NDArray[np.int32]: ...
def similarities(
    numbers: NDArray[np.intp],
    at: NDArray[np.intp],
    texts: int,
    is_topic: NDArray[np.bool_],
    topics: NDArray[np.float64],
) -> NDArray[np.float64]: ...
def term_features(table: NDArray[np.float32], ids: NDArray[np.int32]) -> NDArray[np.float32]: ...
def embed(vectors: NDArray[np.int8], scales: NDArray[np.float32], rows: NDArray[np.int32]) -> NDArray[np.float32]: ...
def places_of(
    urls: list[str],
    directory_of: Callable[[str], Any],
    numbers: dict[str, int],
    number: Callable[[str, int], int],
    slow: Callable[[str], tuple[int, int, int, int]],
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]]: ...
def connect(
    urls: dict[str, NDArray[Any]],
    links: dict[str, NDArray[Any]],
    first: int,
    children: NDArray[np.intp],
    most_parents: int,
    kernel: NDArray[np.float64],
) -> tuple[float, float]: ...
def link_texts(
    links: Sequence[Link],
    anchor_characters: int,
    context_characters: int,
    most_ending: int,
    end_of: Callable[[str], str],
) -> list[str]: ...
def links_to(
    to: NDArray[np.int32], known: NDArray[np.int32], numbers: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]: ...
def link_sums(
    rows: NDArray[np.intp],
    at: NDArray[np.intp],
    size: int,
    links: dict[str, NDArray[Any]],
    urls: dict[str, NDArray[Any]],
    focus: NDArray[np.float32],
    path: NDArray[np.float64],
    rate: float,
    trust: float,
) -> NDArray[np.float64]: ...
def place_rates(
    places: NDArray[np.integer],
    tries: NDArray[np.float64],
    successes: NDArray[np.float64],
    rate: float,
    kappa: float,
) -> NDArray[np.float64]: ...
def nearest(
    products: NDArray[np.float32], lengths: NDArray[np.float32], start: int, end: int
) -> NDArray[np.float32]: ...
def folded(pieces: list[str], start: int, end: int) -> str: ...
def ascii_context(block: list[str], start: int, end: int, pieces: int, characters: int, tokens: int) -> str | None: ...
def find_pairs(
    text: str, unspaced: NDArray[np.uint8], function: NDArray[np.uint8]
) -> tuple[NDArray[np.intp], NDArray[np.uint64]]: ...

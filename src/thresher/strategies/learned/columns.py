"""Columns of numbers that grow together, a row at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

FIRST_ROWS = 1024


class Columns:
    """A table of arrays with the same number of rows.

    Args:
        kinds: Of each column its kind of number and how many of them make a row.
    """

    def __init__(self, kinds: Mapping[str, tuple[str, int]]) -> None:
        self.size = 0
        self._room = FIRST_ROWS
        self._arrays: dict[str, NDArray[Any]] = {
            name: np.zeros((FIRST_ROWS, width) if width > 1 else FIRST_ROWS, dtype=kind)
            for name, (kind, width) in kinds.items()
        }
        self._filled = self._arrays
        self._fill()

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Give a column, as far as it is filled."""
        return self._filled[name]

    def grow(self, rows: int) -> range:
        """Add rows of zeros; return their numbers."""
        first, self.size = self.size, self.size + rows
        while self._room < self.size:
            self._room *= 2
            for name, array in self._arrays.items():
                wider = np.zeros((self._room, *array.shape[1:]), dtype=array.dtype)
                wider[:first] = array[:first]
                self._arrays[name] = wider
        self._fill()
        return range(first, self.size)

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Keep these rows, in this order, and forget all others."""
        for array in self._arrays.values():
            kept = array[rows]
            array[: len(rows)] = kept
            array[len(rows) : self.size] = 0
        self.size = len(rows)
        self._fill()

    def _fill(self) -> None:
        self._filled = {name: array[: self.size] for name, array in self._arrays.items()}

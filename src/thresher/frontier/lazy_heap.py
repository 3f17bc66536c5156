"""A heap from which things can be taken out of the middle."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class LazyHeap(Generic[T]):
    """Items by key, the least key first; an item that is pushed again moves to its new place.

    Nothing is searched for: an item that moves or goes leaves its old entry behind, and the entry is thrown away when
    it comes to the top, or with all its kind once they are the majority. So a step costs O(log n) on average.
    """

    __slots__ = ("_entries", "_numbers", "_tickets")

    def __init__(self) -> None:
        self._entries: list[tuple[Any, ...]] = []  # (*key, ticket, item)
        self._tickets: dict[T, int] = {}  # the ticket of the one entry of each item that counts
        self._numbers = count()  # tickets also keep the heap from comparing items

    def __len__(self) -> int:
        return len(self._tickets)

    def __iter__(self) -> Iterator[T]:
        return iter(self._tickets)

    def push(self, item: T, *key: float) -> None:
        """Put an item in its place; wherever it was before, it is no more."""
        ticket = next(self._numbers)
        self._tickets[item] = ticket
        heappush(self._entries, (*key, ticket, item))
        if len(self._entries) > 2 * len(self._tickets) + 8:
            self._entries = [entry for entry in self._entries if self._counts(entry)]
            heapify(self._entries)

    def remove(self, item: T) -> None:
        """Take an item out, if it is in."""
        self._tickets.pop(item, None)

    def first(self) -> T | None:
        """Return the item with the least key; None when there is none."""
        while self._entries and not self._counts(self._entries[0]):
            heappop(self._entries)
        return self._entries[0][-1] if self._entries else None

    def _counts(self, entry: tuple[Any, ...]) -> bool:
        return bool(self._tickets.get(entry[-1]) == entry[-2])

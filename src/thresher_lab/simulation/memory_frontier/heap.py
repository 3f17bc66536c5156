"""A heap with removal and key updates by lazy deletion."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class LazyHeap(Generic[T]):
    """Items by key, smallest key first; pushing an item again updates its key.

    A removed or updated item leaves a stale entry in the heap. Stale entries are discarded when they reach the top, or
    all at once when they are the majority. So a step costs O(log n) on average.
    """

    __slots__ = ("_entries", "_numbers", "_tickets")

    def __init__(self) -> None:
        self._entries: list[tuple[Any, ...]] = []  # (*key, ticket, item)
        self._tickets: dict[T, int] = {}  # of each item, the ticket of its valid entry
        self._numbers = count()  # tickets also keep the heap from comparing items

    def __len__(self) -> int:
        return len(self._tickets)

    def __iter__(self) -> Iterator[T]:
        return iter(self._tickets)

    def push(self, item: T, *key: float) -> None:
        """Insert an item, or update its key."""
        ticket = next(self._numbers)
        self._tickets[item] = ticket
        heappush(self._entries, (*key, ticket, item))
        if len(self._entries) > 2 * len(self._tickets) + 8:
            self._entries = [entry for entry in self._entries if self._is_valid(entry)]
            heapify(self._entries)

    def remove(self, item: T) -> None:
        """Remove an item, if present."""
        self._tickets.pop(item, None)

    def first(self) -> T | None:
        """Return the item with the smallest key; None when the heap is empty."""
        while self._entries and not self._is_valid(self._entries[0]):
            heappop(self._entries)
        return self._entries[0][-1] if self._entries else None

    def _is_valid(self, entry: tuple[Any, ...]) -> bool:
        return bool(self._tickets.get(entry[-1]) == entry[-2])

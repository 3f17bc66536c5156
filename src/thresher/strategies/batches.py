"""When links that were found may be followed: at once, in generations, or so many at a time.

SURVEY, figures 3, 4 and 6, let links wait until the ready queue is empty, and then move all of them into it. By the
letter that is a generation at a time; a number of links at a time is nearer to what a crawl wants.
"""

from __future__ import annotations

from collections.abc import Mapping

from thresher.records import Lease
from thresher.strategies.generations import fold, generation_of, next_generation

BATCHES = ("none", "all")
WAITING = 1
"""Links that wait for a batch are placed as one generation: below 0."""


class Batches:
    """The parameter `batch` of a strategy, and the places in the queue that follow from it.

    Args:
        batch: ``none`` follows the best link of all that wait. ``all`` reads the figures by their letter: links wait
            until all that were found before them are fetched, and then go best first. With a number, links wait until
            the ready queue is empty, and then so many of the best move into it.

    Raises:
        ValueError: It is something else.
    """

    def __init__(self, batch: str | int) -> None:
        is_number = type(batch) is int and batch > 0
        if batch not in BATCHES and not is_number:
            raise ValueError(f"batch must be {' or '.join(BATCHES)} or a number above 0, got {batch!r}")
        self.size = batch if isinstance(batch, int) else 0
        self.in_generations = batch == "all"

    def born(self, lease: Lease) -> dict[str, int]:
        """Give what the links of a page must carry: their generation, if there are any."""
        return next_generation(lease) if self.in_generations else {}

    def place(self, score: float, born: Mapping[str, int]) -> float:
        """Put links that wait for a batch below 0, a generation behind the one before, and others where they score."""
        generation = generation_of(born) or (WAITING if self.size else 0)
        return fold(generation, score) if generation else score

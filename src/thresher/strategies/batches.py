"""Batches of links: whether links may be followed at once, a generation at a time, or a number at a time.

SURVEY, figures 3, 4 and 6, lets links wait until the ready queue is empty, and then moves all of them into it. Taken
literally that is a generation at a time: the links found by one generation of pages wait until that generation is
fetched. A fixed number of links at a time is closer to what a crawl needs.

The frontier orders by one number per URL, so the generation is folded into the score.
"""

from __future__ import annotations

from collections.abc import Mapping

from thresher.records import Lease, StrategyData

BELOW_ONE = 0.999_999
"""Keeps a score of 1 from reaching the previous generation."""


def generation_of(strategy_data: StrategyData) -> int:
    """Return the generation of a URL from its strategy data; seeds have none and are generation 0."""
    generation = strategy_data.get("generation", 0)
    return generation if isinstance(generation, int) else 0


def next_generation(lease: Lease) -> dict[str, int]:
    """Return the strategy data of the links of a page: the generation after the page's."""
    return {"generation": generation_of(lease.strategy_data) + 1}


def fold(generation: int, score: float) -> float:
    """Combine a generation and a score from 0 to 1, so that earlier generations always come first."""
    return min(score, BELOW_ONE) - generation


BATCHES = ("none", "all")
WAITING = 1
"""The generation of links that wait for a batch: their scores are below 0."""


class Batches:
    """The parameter `batch` of a strategy, and its effect on scores.

    Args:
        batch: ``none`` follows the best waiting link. ``all`` takes the figures literally: links wait until all links
            found before them are fetched, and then go best first. With a number, links wait until the ready queue is
            empty, and then this many of the best move into it.

    Raises:
        ValueError: The value is not allowed.
    """

    def __init__(self, batch: str | int) -> None:
        is_number = type(batch) is int and batch > 0
        if batch not in BATCHES and not is_number:
            raise ValueError(f"batch must be {' or '.join(BATCHES)} or a number above 0, got {batch!r}")
        self.size = batch if isinstance(batch, int) else 0
        self.in_generations = batch == "all"

    def generation_data(self, lease: Lease) -> dict[str, int]:
        """Return the strategy data of the links of a page: their generation, if there are generations."""
        return next_generation(lease) if self.in_generations else {}

    def place(self, score: float, strategy_data: Mapping[str, int]) -> float:
        """Return the final score: below 0 for links that wait for a batch, each generation below the one before."""
        generation = generation_of(strategy_data) or (WAITING if self.size else 0)
        return fold(generation, score) if generation else score

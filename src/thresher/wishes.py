"""What a person wishes of a crawl while it runs: a pause, other limits.

It is told through the frontier to all who work for the crawl, and holds until something else is wished, or the next
run begins.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from thresher.frontier.base import EVERYBODY, Frontier

KIND, BEGUN = "wishes", "begun with"
KEPT_SECONDS = 365 * 86_400.0
LOOK_SECONDS = 1.0
LIMITS = ("pages", "relevant", "minutes", "harvest_below")


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What is wished; None where everything stays as the run began.

    Args:
        paused: Nothing new is fetched.
        pages: The run ends with so many pages.
        relevant: With so many relevant ones.
        minutes: After so many minutes.
        harvest_below: When less than this share of the last pages was relevant.
    """

    paused: bool = False
    pages: int | None = None
    relevant: int | None = None
    minutes: float | None = None
    harvest_below: float | None = None

    def limits(self) -> dict[str, Any]:
        """Give the limits that are wished, by name."""
        return {name: value for name in LIMITS if (value := getattr(self, name)) is not None}


async def wish(frontier: Frontier, wishes: Wishes) -> None:
    """Tell all who work for a crawl what is wished from now on."""
    await frontier.remember(EVERYBODY, KIND, json.dumps(asdict(wishes)), seconds=KEPT_SECONDS)


async def begin(frontier: Frontier, limits: Wishes) -> None:
    """Tell with which limits a run begins; what was wished of the one before holds no longer."""
    await wish(frontier, Wishes())
    await frontier.remember(EVERYBODY, BEGUN, json.dumps(asdict(limits)), seconds=KEPT_SECONDS)


async def read_wishes(frontier: Frontier) -> Wishes:
    """Return what is wished now; what cannot be read is no wish."""
    return await _told(frontier, KIND)


async def begun_with(frontier: Frontier) -> Wishes:
    """Return the limits with which the last run began."""
    return await _told(frontier, BEGUN)


async def _told(frontier: Frontier, kind: str) -> Wishes:
    told = await frontier.recall(EVERYBODY, kind)
    try:
        return _read(json.loads(told)) if told else Wishes()
    except (ValueError, TypeError, AttributeError):
        return Wishes()


def _read(said: Mapping[str, Any]) -> Wishes:
    pages, relevant, minutes, harvest_below = (said.get(name) for name in LIMITS)
    return Wishes(
        paused=said.get("paused") is True,
        pages=None if pages is None else int(pages),
        relevant=None if relevant is None else int(relevant),
        minutes=None if minutes is None else float(minutes),
        harvest_below=None if harvest_below is None else float(harvest_below),
    )


class Ear:
    """Asks now and then what is wished."""

    def __init__(self, frontier: Frontier, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._frontier = frontier
        self._clock = clock
        self._next = 0.0
        self._wishes = Wishes()

    async def listen(self) -> Wishes:
        """Return what is wished, as of a moment ago."""
        if self._clock() >= self._next:
            self._wishes = await read_wishes(self._frontier)
            self._next = self._clock() + LOOK_SECONDS
        return self._wishes

"""How a fleet of virtual workers is made up, and what it brought home."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from thresher.lab.simulate import Fetch


@dataclass(frozen=True, kw_only=True)
class FleetPlan:
    """How many work, and how.

    Args:
        workers: How many.
        slots: Pages that one fetches at a time.
        fetch_seconds: What a page takes in the mean; drawn from half of it to one and a half.
        delay_seconds: Between two requests to a host.
        lease_seconds: After which a URL is handed out again.
        life_seconds: How long a worker lives in the mean; the others are not told of its death.
        rest_seconds: Until a dead one is born again.
        stalls: Share of fetches that take longer than their lease.
        notebook_seconds: Until others can read what one wrote.
        shared: Whether they can at all.
        seed: Different seeds give different times.
    """

    workers: int = 4
    slots: int = 1
    fetch_seconds: float = 1.0
    delay_seconds: float = 0.0
    lease_seconds: float = 60.0
    life_seconds: float = math.inf
    rest_seconds: float = 5.0
    stalls: float = 0.0
    notebook_seconds: float = 1.0
    shared: bool = True
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class FleetCrawl:
    """What was fetched, in the order of arrival, and by which worker.

    Args:
        deaths: How often a worker died.
        virtual_seconds: How long it took.
        ran_dry: Whether nothing was left to fetch.
    """

    fetches: Sequence[Fetch]
    workers: Sequence[int]
    deaths: int
    virtual_seconds: float
    ran_dry: bool

"""A frontier that takes in only what a spider asked for, whatever else a strategy would like to see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from thresher.engine.addon_requests import KEY
from thresher.frontier.base import Frontier
from thresher.records import Settlement


class _OnlyRequested:
    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier

    def __getattr__(self, name: str) -> Any:
        return getattr(self._frontier, name)

    async def commit(self, settlements: Sequence[Settlement]) -> list[bool]:
        """Settle leases; links that carry no request are left out."""
        return await self._frontier.commit(
            [replace(each, links=[link for link in each.links if KEY in link.carry]) for each in settlements]
        )


def only_requested(frontier: Frontier) -> Frontier:
    """Put a frontier behind a spider."""
    return cast(Frontier, _OnlyRequested(frontier))

"""Forecasts of a crawl, published through the frontier for the live line, ``status``, the dashboard and Python.

A forecast is computed from figures of the whole crawl: the relevance of the latest fetches of all workers, which is
kept in the frontier beside the forecast, and the frontier's counts. So it does not matter how many workers there are,
and a later run continues where the last one stopped.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace

from thresher.frontier.base import EVERYBODY, Counts, Frontier
from thresher.frontier.look import Look
from thresher.records import Forecast
from thresher.strategies.base import HARVEST_FETCHES, Forecaster, Strategy

PUBLISH_FETCHES = 20
"""Fetches of a worker between two forecasts."""
STALE_PAGES = 100
"""A forecast is not shown any more when the crawl has this many more pages."""
KIND = "forecast"
KEPT_SECONDS = 30 * 86_400.0


class Outlook:
    """Publishes a forecast every few fetches, if the strategy can make one."""

    def __init__(self, strategy: Strategy, frontier: Frontier) -> None:
        self._forecaster = strategy if isinstance(strategy, Forecaster) else None
        self._frontier = frontier
        self._fetches: list[float] = []

    async def fetched(self, relevance: float) -> None:
        """Count a fetch; 0 is the relevance of one that brought no page."""
        if self._forecaster is None:
            return
        self._fetches.append(relevance)
        if len(self._fetches) >= PUBLISH_FETCHES:
            await self._publish(self._forecaster)

    async def _publish(self, forecaster: Forecaster) -> None:
        new, self._fetches = self._fetches, []
        latest = [*_latest(await self._frontier.recall(EVERYBODY, KIND)), *new][-HARVEST_FETCHES:]
        counts = await self._frontier.counts()
        ahead = None
        if len(latest) == HARVEST_FETCHES:
            ahead = forecaster.forecast(pages=counts.pages, harvest=sum(latest), waiting=counts.waiting)
        content = {"latest": [round(each, 3) for each in latest], "forecast": asdict(ahead) if ahead else None}
        await self._frontier.remember(EVERYBODY, KIND, json.dumps(content), seconds=KEPT_SECONDS)


async def look_ahead(frontier: Frontier | Look, counts: Counts) -> Forecast | None:
    """Return the last forecast; None when there is none, it is out of date, or nothing waits."""
    content = await frontier.recall(EVERYBODY, KIND)
    try:
        ends = json.loads(content)["forecast"] if content else None
        last = Forecast(**{name: int(value) for name, value in ends.items()}) if ends else None
    except (ValueError, TypeError, AttributeError, KeyError):
        return None
    if last is None or not counts.waiting or counts.pages - last.pages >= STALE_PAGES:
        return None
    return replace(last, least=min(last.least, counts.waiting), most=min(last.most, counts.waiting))


def _latest(content: str | None) -> list[float]:
    """Read the relevance of the latest fetches; none when it cannot be read."""
    try:
        return [float(each) for each in json.loads(content)["latest"]] if content else []
    except (ValueError, TypeError, KeyError):
        return []

"""What a strategy expects of the rest of its crawl, passed on through the frontier to whoever watches."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

from thresher.frontier.base import EVERYBODY, Frontier
from thresher.records import Forecast
from thresher.strategies.base import Forecaster, Strategy

TELL_PAGES = 20
"""Pages of a worker between two forecasts."""
KIND = "forecast"
KEPT_SECONDS = 30 * 86_400.0


class Outlook:
    """Tells what the strategy of a worker expects, if it can tell. Of several workers the last one is believed."""

    def __init__(self, strategy: Strategy, frontier: Frontier) -> None:
        self._forecaster = strategy if isinstance(strategy, Forecaster) else None
        self._frontier = frontier
        self._pages_left = 1

    async def page_done(self) -> None:
        """Count a page; every now and then tell."""
        if self._forecaster is None:
            return
        self._pages_left -= 1
        if self._pages_left <= 0 and (ahead := self._forecaster.forecast()):
            self._pages_left = TELL_PAGES
            counted = (await self._frontier.counts()).relevant  # earlier runs and other workers found some too
            ahead = replace(ahead, found=max(ahead.found, counted))
            await self._frontier.remember(EVERYBODY, KIND, json.dumps(asdict(ahead)), seconds=KEPT_SECONDS)


async def look_ahead(frontier: Frontier) -> Forecast | None:
    """Return what was told last; None when nothing was, or nothing that can be read."""
    told = await frontier.recall(EVERYBODY, KIND)
    try:
        return Forecast(**{name: float(value) for name, value in json.loads(told).items()}) if told else None
    except (ValueError, TypeError, AttributeError):
        return None

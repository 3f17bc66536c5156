"""Forecasts of a crawl, published through the frontier for the progress line, ``status``, the dashboard and Python.

A forecast is computed from figures of the whole crawl: the relevance of the latest fetches of all workers, which is
stored in the frontier with the forecast, and the frontier's counts. So it does not depend on the number of workers, and
a later run continues where the last one stopped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from thresher.frontier.base import CRAWL_WIDE, Counts, CrawlStore, StateReader
from thresher.records import ONE_TOPIC, Forecast, Judgement
from thresher.strategies.base import HARVEST_FETCHES, Forecaster, Strategy
from thresher.strategies.topics import MultiTopicStrategy

PUBLISH_FETCHES = 20
"""Fetches of a worker between two forecasts."""
STALE_PAGES = 100
"""A forecast is out of date when the crawl has this many more pages."""
KIND = "forecast"
KEPT_SECONDS = 30 * 86_400.0


class ForecastPublisher:
    """Publishes a forecast every `PUBLISH_FETCHES` fetches, if the strategy is a `Forecaster`.

    Args:
        topic: The topic that it is for, of several.
    """

    def __init__(self, strategy: Strategy, frontier: CrawlStore, topic: str = ONE_TOPIC) -> None:
        self._kind = _kind(topic)
        self._forecaster = strategy if isinstance(strategy, Forecaster) else None
        self._frontier = frontier
        self._fetches: list[float] = []

    async def fetched(self, relevance: float) -> None:
        """Count a fetch with the relevance of its page; 0 for a fetch without a page."""
        if self._forecaster is None:
            return
        self._fetches.append(relevance)
        if len(self._fetches) >= PUBLISH_FETCHES:
            await self._publish(self._forecaster)

    async def withdraw(self) -> None:
        """Withdraw the last forecast, since the judge has changed; the next one is published as usual."""
        if self._forecaster is not None and (latest := _latest(await self._frontier.get_state(CRAWL_WIDE, self._kind))):
            await self._write(latest, None)

    async def _publish(self, forecaster: Forecaster) -> None:
        new, self._fetches = self._fetches, []
        latest = [*_latest(await self._frontier.get_state(CRAWL_WIDE, self._kind)), *new][-HARVEST_FETCHES:]
        counts = await self._frontier.counts()
        ahead = None
        if len(latest) == HARVEST_FETCHES:
            ahead = forecaster.forecast(pages=counts.pages, harvest=sum(latest), waiting=counts.waiting)
        await self._write(latest, ahead)

    async def _write(self, latest: Sequence[float], ahead: Forecast | None) -> None:
        content = {"latest": [round(each, 3) for each in latest], "forecast": asdict(ahead) if ahead else None}
        await self._frontier.put_state(CRAWL_WIDE, self._kind, json.dumps(content), seconds=KEPT_SECONDS)


class ForecastPublishers:
    """Publishes the forecast of the crawl, and in a crawl of several topics one for each of them."""

    def __init__(self, strategy: Strategy, frontier: CrawlStore) -> None:
        names = [ONE_TOPIC, *(strategy.strategies if isinstance(strategy, MultiTopicStrategy) else ())]
        self._by_topic = {name: ForecastPublisher(strategy, frontier, name) for name in names}

    async def fetched(self, relevance: float, topics: Mapping[str, Judgement]) -> None:
        """Count a fetch with the relevance of its page, and with its judgement for each topic."""
        relevances = {ONE_TOPIC: relevance} | {name: judgement.relevance for name, judgement in topics.items()}
        for name, publisher in self._by_topic.items():
            await publisher.fetched(relevances.get(name, 0.0))

    async def withdraw(self) -> None:
        """Withdraw the last forecasts."""
        for publisher in self._by_topic.values():
            await publisher.withdraw()


def _kind(topic: str) -> str:
    return f"{KIND} {topic}" if topic else KIND


async def read_forecast(frontier: StateReader, counts: Counts, topic: str = ONE_TOPIC) -> Forecast | None:
    """Return the last forecast, or that for one topic of several; None when there is no recent one, or no URL waits."""
    content = await frontier.get_state(CRAWL_WIDE, _kind(topic))
    try:
        ends = json.loads(content)["forecast"] if content else None
        last = Forecast(**{name: int(value) for name, value in ends.items()}) if ends else None
    except (ValueError, TypeError, AttributeError, KeyError):
        return None
    if last is None or not counts.waiting or counts.pages - last.pages >= STALE_PAGES:
        return None
    return replace(last, least=min(last.least, counts.waiting), most=min(last.most, counts.waiting))


def _latest(content: str | None) -> list[float]:
    """Read the relevance of the latest fetches; empty when it cannot be read."""
    try:
        return [float(each) for each in json.loads(content)["latest"]] if content else []
    except (ValueError, TypeError, KeyError):
        return []

import json

import pytest

from thresher.feedback.forecast import (
    KIND,
    PUBLISH_FETCHES,
    STALE_PAGES,
    ForecastPublisher,
    ForecastPublishers,
    read_forecast,
)
from thresher.frontier.base import CRAWL_WIDE, Counts
from thresher.records import Forecast, Judgement
from thresher.strategies.base import HARVEST_FETCHES
from thresher.strategies.best_first import BestFirst
from thresher.strategies.topics import MultiTopicStrategy
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

AHEAD = Forecast(pages=300, least=2, most=40)
COUNTS = Counts(pages=310, waiting=1000)


class Forecasting(BestFirst):
    def __init__(self):
        super().__init__()
        self.asked = []

    def forecast(self, *, pages, harvest, waiting):
        self.asked.append(round(harvest, 3))
        return AHEAD


async def fetch(outlook, number, relevance=0.5):
    for _ in range(number):
        await outlook.fetched(relevance)


async def test_a_forecast_is_published_every_few_fetches_once_there_are_enough():
    strategy, frontier = Forecasting(), MemoryFrontier()
    outlook = ForecastPublisher(strategy, frontier)
    await fetch(outlook, HARVEST_FETCHES - 1)
    assert strategy.asked == []
    assert await read_forecast(frontier, COUNTS) is None
    await fetch(outlook, 1)
    assert await read_forecast(frontier, COUNTS) == AHEAD
    await fetch(outlook, 2 * PUBLISH_FETCHES, relevance=0.0)
    assert strategy.asked == [
        0.5 * (HARVEST_FETCHES - fetches) for fetches in (0, PUBLISH_FETCHES, 2 * PUBLISH_FETCHES)
    ]


async def test_fetches_of_other_workers_and_earlier_runs_count():
    frontier, strategy = MemoryFrontier(), Forecasting()
    for _ in range(HARVEST_FETCHES // PUBLISH_FETCHES - 1):
        await fetch(ForecastPublisher(Forecasting(), frontier), PUBLISH_FETCHES)
    await fetch(ForecastPublisher(strategy, frontier), PUBLISH_FETCHES)
    assert strategy.asked == [0.5 * HARVEST_FETCHES]


async def test_a_strategy_without_forecasts_is_not_asked():
    frontier = MemoryFrontier()
    await fetch(ForecastPublisher(BestFirst(), frontier), 2 * HARVEST_FETCHES)
    assert await read_forecast(frontier, COUNTS) is None


@pytest.mark.parametrize(
    ("counts", "shown"),
    [
        (Counts(pages=300 + STALE_PAGES - 1, waiting=1000), AHEAD),
        (Counts(pages=300 + STALE_PAGES, waiting=1000), None),
        (Counts(pages=310, waiting=0), None),
        (Counts(pages=310, waiting=7), Forecast(pages=300, least=2, most=7)),
        (Counts(pages=310, waiting=1), Forecast(pages=300, least=1, most=1)),
    ],
)
async def test_a_forecast_is_shown_while_it_is_up_to_date_and_never_exceeds_what_waits(counts, shown):
    frontier = MemoryFrontier()
    await fetch(ForecastPublisher(Forecasting(), frontier), HARVEST_FETCHES)
    assert await read_forecast(frontier, counts) == shown


@pytest.mark.parametrize(
    "content", ["{", "[]", "3", '{"found": 1, "left": 2.0}', '{"latest": [], "forecast": {"least": "x"}}']
)
async def test_what_cannot_be_read_is_no_forecast(content):
    frontier, strategy = MemoryFrontier(), Forecasting()
    await frontier.put_state(CRAWL_WIDE, KIND, content, seconds=60.0)
    assert await read_forecast(frontier, COUNTS) is None
    await fetch(ForecastPublisher(strategy, frontier), PUBLISH_FETCHES)
    assert len(json.loads(await frontier.get_state(CRAWL_WIDE, KIND))["latest"]) == PUBLISH_FETCHES


async def test_each_of_several_topics_has_a_forecast_of_its_own():
    frontier, strategies = MemoryFrontier(), {"tea": Forecasting(), "solar": Forecasting()}
    outlook = ForecastPublishers(MultiTopicStrategy(strategies, seeds={}), frontier)
    for _ in range(HARVEST_FETCHES):
        await outlook.fetched(0.5, {"tea": Judgement(relevance=0.5, relevant=True)})
    assert strategies["tea"].asked == [50.0, 50.0, 0.0]  # of the crawl, of tea, of solar: one formula for all
    assert await read_forecast(frontier, COUNTS) == AHEAD
    assert await read_forecast(frontier, COUNTS, "tea") == AHEAD
    assert await read_forecast(frontier, COUNTS, "coffee") is None

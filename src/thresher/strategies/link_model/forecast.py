"""A forecast of how many waiting URLs lead to relevant pages: a 90 % interval, fitted on crawls of the lab.

    log(1 + end) = a + b log(1 + harvest)        for each end of the interval

The coefficients are quantile regressions (Koenker and Bassett 1978) over dev topics, moved outwards until every web and
every size of crawl is covered (conformalized quantile regression, Romano et al. 2019). ``python -m
bench.effectiveness.forecast_coverage`` fits them and measures the coverage. They are valid for the strategy
`thresher`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from math import ceil, expm1, floor, log1p

from thresher.records import Forecast

MIN_PAGES = 200
"""Before this many pages there is no forecast."""


def forecast(*, pages: int, harvest: float, waiting: int) -> Forecast | None:
    """Return the interval; None where the coefficients are not valid, or nothing waits.

    Args:
        pages: Pages of the crawl so far.
        harvest: Sum of the relevance of the latest 100 fetches.
        waiting: Number of waiting URLs.
    """
    if pages < MIN_PAGES or waiting <= 0:
        return None
    ends = {end: expm1(max(0.0, a + b * log1p(max(0.0, harvest)))) for end, (a, b) in coefficients().items()}
    most = min(waiting, max(1, ceil(ends["most"])))
    return Forecast(pages=pages, least=min(most, floor(ends["least"])), most=most)


@cache
def coefficients() -> Mapping[str, Sequence[float]]:
    """Return a and b of each end."""
    text = (resources.files("thresher.strategies.link_model") / "forecast.json").read_text(encoding="utf-8")
    content: dict[str, list[float]] = json.loads(text)
    return content

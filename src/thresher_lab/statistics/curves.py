"""Mean curves over topics, with a bootstrap band over topics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from thresher_lab.reports.comparisons import Section
from thresher_lab.simulation.tasks import ORACLE
from thresher_lab.statistics.result_rows import Row
from thresher_lab.statistics.significance import CONFIDENCE, RESAMPLES

Kind = Literal["harvest", "recall"]
KINDS: tuple[Kind, ...] = ("harvest", "recall")

Values = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Band:
    """A strategy's curve: its mean over topics by number of fetches, and the bounds of the mean.

    Args:
        strategy: Its name.
        fetches: The points of the curve.
        mean: One value per point.
        low: The lower bound there.
        high: The upper bound there.
    """

    strategy: str
    fetches: Sequence[int]
    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def bands(section: Section, kind: Kind) -> list[Band]:
    """Return the curve of every strategy; the oracle's comes last, and is always there.

    Seed sets are averaged within their topic first; the bounds are those of a bootstrap over topics that samples
    the same topics for every strategy and every point.
    """
    contenders = [name for name in section.strategies if name != ORACLE]
    curves = {name: [row for row in section.rows if row["strategy"] == name] for name in contenders}
    found = [_band(name, rows, kind, "curve") for name, rows in curves.items()]
    known_by = [row for row in section.rows if row["strategy"] == section.baseline]
    return [*found, _band(ORACLE, known_by, kind, "oracle_curve")]


def _band(strategy: str, rows: Sequence[Row], kind: Kind, column: str) -> Band:
    topics: defaultdict[str, list[Values]] = defaultdict(list)
    for row in rows:
        topics[row["topic"]].append(_values(row, kind, column))
    sample = np.array([np.mean(topics[topic], axis=0) for topic in sorted(topics)])
    low, high = _bounds(sample)
    fetches = [int(place) for place, _ in rows[0][column]]
    return Band(strategy=strategy, fetches=fetches, mean=sample.mean(axis=0).tolist(), low=low, high=high)


def _values(row: Row, kind: Kind, column: str) -> Values:
    fetches, hits = np.asarray(row[column], dtype=np.float64).T
    values: Values = hits / (fetches if kind == "harvest" else row["targets"])
    return values


def _bounds(sample: Values) -> tuple[list[float], list[float]]:
    """Sample topics with replacement; a sample is the count of each topic, so the means are one matrix product."""
    topics = len(sample)
    draws = np.random.default_rng(0).integers(topics, size=(RESAMPLES, topics))
    weights = np.zeros((RESAMPLES, topics))
    np.add.at(weights, (np.arange(RESAMPLES)[:, None], draws), 1 / topics)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(weights @ sample, [tail, 1 - tail], axis=0)
    return low.tolist(), high.tolist()

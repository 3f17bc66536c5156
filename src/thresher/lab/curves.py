"""Mean curves over topics, with a band that says how much they depend on the choice of topics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from thresher.lab.rows import Row
from thresher.lab.sections import Section
from thresher.lab.statistics import CONFIDENCE, RESAMPLES
from thresher.lab.tasks import ORACLE

Kind = Literal["harvest", "recall"]
KINDS: tuple[Kind, ...] = ("harvest", "recall")

Values = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Band:
    """A strategy's curve: its mean over topics after so many fetches, and the bounds of the mean.

    Args:
        strategy: Its name.
        fetches: The places of the curve.
        mean: One value per place.
        low: The lower bound there.
        high: The upper bound there.
    """

    strategy: str
    fetches: Sequence[int]
    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def bands(section: Section, kind: Kind) -> list[Band]:
    """Give the curve of every strategy; the oracle's comes last, and is always there.

    Seed sets are averaged within their topic first; the bounds are those of a bootstrap over topics that draws the
    same topics for every strategy and every place.
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
    """Draw topics with replacement; a draw is how often each topic was taken, so the means are one product."""
    topics = len(sample)
    draws = np.random.default_rng(0).integers(topics, size=(RESAMPLES, topics))
    weights = np.zeros((RESAMPLES, topics))
    np.add.at(weights, (np.arange(RESAMPLES)[:, None], draws), 1 / topics)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(weights @ sample, [tail, 1 - tail], axis=0)
    return low.tolist(), high.tolist()

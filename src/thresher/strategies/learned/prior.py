"""What was learned on other topics, and every crawl starts from: ``prior.json``, made by ``bench.flagship_prior``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Prior:
    """Where a model starts.

    Args:
        weights: Of the features, then of the combinations.
        hold: How strongly each weight is held, in examples.
        mixing: What each feature adds to each combination, a row per feature.
    """

    weights: Floats
    hold: Floats
    mixing: Floats

    def with_combinations(self, x: Floats) -> Floats:
        """Give features, and behind them their combinations: sums that were squashed into -1 to 1."""
        return np.concatenate([x, np.tanh(x @ self.mixing)], axis=-1)


def read_prior(path: str, names: Sequence[str], *, hold: float = 1.0) -> Prior:
    """Read a prior; features that it does not know weigh nothing.

    Args:
        path: A file; empty for the one that comes with Thresher.
        names: The features.
        hold: By how much more than the prior asks for weights are held.
    """
    file = Path(path) if path else files("thresher.strategies.learned") / "prior.json"
    read: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    features: dict[str, Any] = read["features"]
    combined = read["combinations"]
    nothing = {"weight": 0.0, "hold": 1.0, "mixing": [0.0] * len(combined)}
    known = [features.get(name, nothing) for name in names]
    return Prior(
        weights=np.array([each["weight"] for each in [*known, *combined]], dtype=np.float64),
        hold=hold * np.array([each["hold"] for each in [*known, *combined]], dtype=np.float64),
        mixing=np.array([each["mixing"] for each in known], dtype=np.float64).reshape(len(names), len(combined)),
    )

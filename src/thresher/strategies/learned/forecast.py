"""How much of the topic is found, and how much the rest of the crawl may still bring.

    left = sum of p over all that waits        found / (found + left) = share found

The probabilities are those of the links that this worker knows. What no known page links to is in nobody's sum, so the
share is a bound from above: "of what can be seen from here".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from thresher.records import Forecast

NEXT = 100
"""How many of the best URLs the next yield is taken over."""


def forecast(found: float, waiting: NDArray[np.float64]) -> Forecast:
    """Look ahead, from the probabilities of all that waits."""
    best = np.sort(waiting)[-NEXT:]
    next_yield = float(best.mean()) if len(best) else 0.0
    return Forecast(found=found, left=float(waiting.sum()), next_yield=next_yield)

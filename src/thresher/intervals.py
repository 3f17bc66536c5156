"""Confidence intervals of shares.

Edwin B. Wilson, Probable inference, the law of succession, and statistical inference. Journal of the American
Statistical Association 22(158), 1927.
"""

from __future__ import annotations

from math import sqrt

Z = 1.96
"""Quantile of the normal distribution for an interval of 95 %."""


def wilson_interval(hits: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share that was `hits` of `n`; from 0 to 1 when nothing was counted."""
    if not n:
        return 0.0, 1.0
    p = hits / n
    middle, half = p + Z**2 / (2 * n), Z * sqrt(p * (1 - p) / n + Z**2 / (4 * n * n))
    scale = 1 + Z**2 / n
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)

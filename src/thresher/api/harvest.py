"""A plot of the harvest rate over the fetched pages."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.errors import ConfigError
from thresher.storage.reader import PageStoreReader

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INCHES = (7.2, 3.6)
WINDOW_PAGES = 50
"""Window of the second curve, the current harvest rate."""
_VERDICTS = "SELECT fetched_at, relevant FROM page WHERE page = 1 AND duplicate_of = 0"


def verdicts(folder: Path) -> list[bool]:
    """Return whether each page is relevant, in the order of the fetches, without duplicates."""
    with PageStoreReader(folder) as collection:
        rows = [tuple(row) for segment in collection.segments for row in segment.execute(_VERDICTS)]
    return [bool(relevant) for _, relevant in sorted(rows)]


def plot_harvest(folder: Path, *, title: str) -> Figure:
    """Plot the harvest rate of all pages so far, and that of the last `WINDOW_PAGES`.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ConfigError('plot_harvest needs matplotlib: pip install "thresher-crawler[notebook]"') from error

    class Picture(Figure):
        """A figure that a notebook can show by itself."""

        def _repr_png_(self) -> bytes:
            packed = io.BytesIO()
            self.savefig(packed, format="png", dpi=110)
            return packed.getvalue()

    figure = Picture(figsize=INCHES, layout="constrained")
    _plot(figure.add_subplot(), verdicts(folder), title)
    return figure


def _plot(axes: Axes, found: list[bool], title: str) -> None:
    numbers = range(1, len(found) + 1)
    recent = [sum(found[max(0, n - WINDOW_PAGES) : n]) / min(n, WINDOW_PAGES) for n in numbers]
    axes.plot(numbers, _running(found), label="all pages so far", color="#1f5fbf")
    axes.plot(numbers, recent, label=f"the last {WINDOW_PAGES}", color="#b35200", linewidth=0.8)
    axes.set(xlabel="pages", ylabel="harvest rate", ylim=(0, 1.02), title=title)
    axes.legend(loc="lower right", frameon=False)
    axes.grid(visible=True, linewidth=0.3)


def _running(found: list[bool]) -> list[float]:
    rates, relevant = [], 0
    for number, yes in enumerate(found, start=1):
        relevant += yes
        rates.append(relevant / number)
    return rates

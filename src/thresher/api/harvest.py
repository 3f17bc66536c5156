"""The harvest of a crawl as a picture: how many of the pages were relevant, as they came."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.archive.collection import Collection
from thresher.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INCHES = (7.2, 3.6)
WINDOW_PAGES = 50
"""Over so many pages the second curve is taken: what the crawl brings at the moment."""
_VERDICTS = "SELECT fetched_at, relevant FROM page WHERE page = 1 AND duplicate_of = 0"


def verdicts(folder: Path) -> list[bool]:
    """Return of each page whether it is relevant, in the order in which they came; copies are left out."""
    with Collection(folder) as collection:
        rows = [tuple(row) for segment in collection.segments for row in segment.execute(_VERDICTS)]
    return [bool(relevant) for _, relevant in sorted(rows)]


def plot_harvest(folder: Path, *, title: str) -> Figure:
    """Draw the harvest rate of all pages so far, and that of the last few.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ConfigError('plot_harvest needs matplotlib: pip install "thresher[notebook]"') from error

    class Picture(Figure):
        """A figure that a notebook can show by itself."""

        def _repr_png_(self) -> bytes:
            packed = io.BytesIO()
            self.savefig(packed, format="png", dpi=110)
            return packed.getvalue()

    figure = Picture(figsize=INCHES, layout="constrained")
    _draw(figure.add_subplot(), verdicts(folder), title)
    return figure


def _draw(axes: Axes, found: list[bool], title: str) -> None:
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

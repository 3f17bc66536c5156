"""All comparisons in one table: a line per strategy, a column per web, for pages of Markdown.

The curves as PNG files, for documents that cannot hold SVG; needs matplotlib.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from thresher_lab.reports.comparisons import EARLY_METRICS, Section, Setting
from thresher_lab.reports.html_report import CURVE_TITLES, title_of
from thresher_lab.reports.tables import early_cells
from thresher_lab.simulation.tasks import ORACLE
from thresher_lab.statistics.curves import KINDS, Band, Kind, bands
from thresher_lab.statistics.significance import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes


COLOURS = ("#1f5fbf", "#b35200", "#177a46", "#7a35d1", "#c2293d", "#0b7385", "#7a5230", "#a82a88", "#6a6a00", "#40527a")
INCHES = (8.2, 4.2)
DOTS_PER_INCH = 160


def write_pictures(sections: Sequence[Section], folder: Path) -> list[Path]:
    """Write one chart per section and curve; return their paths.

    Raises:
        ModuleNotFoundError: matplotlib is not installed.
    """
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    names = file_names(sections)
    written = []
    for section, name in zip(sections, names, strict=True):
        for kind in KINDS:
            path = folder / f"{name}-{kind}.png"
            figure = Figure(figsize=INCHES, layout="constrained")
            _plot(figure.add_subplot(), section, kind)
            figure.savefig(path, dpi=DOTS_PER_INCH)
            written.append(path)
    return written


def file_names(sections: Sequence[Section]) -> list[str]:
    """Name sections by web and judge; by their budget and seeds too, where those names are not distinct."""
    settings = [section.setting for section in sections]
    alike = Counter((setting.web, setting.judge) for setting in settings)
    return [
        _safe(f"{setting.web}-{setting.judge}") + (_numbers(setting) if alike[setting.web, setting.judge] > 1 else "")
        for setting in settings
    ]


def _numbers(setting: Setting) -> str:
    newer = f"-{setting.training:g}-{setting.distance}" if setting.training or setting.distance else ""
    capped = f"-{setting.host_pages}-per-host" if setting.host_pages else ""
    return f"-{setting.pages}-{setting.seeds}{newer}{capped}"


def _safe(name: str) -> str:
    return re.sub(r"[^\w+-]", "_", name)


def _plot(axes: Axes, section: Section, kind: Kind) -> None:
    title, y_title = CURVE_TITLES[kind]
    contenders = [name for name in section.strategies if name not in (ORACLE, section.baseline)]
    for band in bands(section, kind):
        _draw_band(axes, band, _look(band.strategy, section.baseline, contenders))
    axes.set_title(_plain(f"{title}\n{title_of(section)}"), fontsize=10)
    axes.set_xlabel("fetches")
    axes.set_ylabel(y_title)
    axes.set_ylim(bottom=0)
    axes.set_xlim(0, section.setting.pages)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _plain(text: str) -> str:
    """Escape text that matplotlib would read as a formula."""
    return text.replace("$", r"\$")


def _draw_band(axes: Axes, band: Band, look: dict[str, str]) -> None:
    axes.plot(
        band.fetches,
        band.mean,
        label=_plain(band.strategy),
        linewidth=1.6,
        color=look["color"],
        linestyle=look["linestyle"],
    )
    if band.strategy != ORACLE:
        axes.fill_between(band.fetches, band.low, band.high, color=look["color"], alpha=0.13, linewidth=0)


def _look(strategy: str, baseline: str, contenders: Sequence[str]) -> dict[str, str]:
    if strategy == ORACLE:
        return {"color": "#1c2330", "linestyle": "--"}
    if strategy == baseline:
        return {"color": "#6b7280", "linestyle": "-"}
    number = contenders.index(strategy)
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": "-" if number < len(COLOURS) else ":"}


NOTHING = "–"
CERTAIN = 0.05
"""A difference to the baseline below this p, corrected by Holm's method, is significant."""


def overview(sections: Sequence[Section]) -> Iterator[str]:
    """Write the lines of one table per judge and conditions.

    The best contender of a column is in bold; ▲ and ▼ mark those significantly above or below the baseline.
    Upper bounds stand below the others; the oracle, which has 100 everywhere, is left out.
    """
    for judge, conditions in dict.fromkeys((each.setting.judge, each.setting.conditions) for each in sections):
        alike = [each for each in sections if (each.setting.judge, each.setting.conditions) == (judge, conditions)]
        yield f"**Judge: {judge}{conditions}**"
        yield ""
        yield from _table(alike)
        yield ""


def _table(sections: Sequence[Section]) -> Iterator[str]:
    webs = [_Columns(section) for section in sections]
    yield _line(["strategy", *(title for web in webs for title in web.titles)])
    yield _line(["---"] * (1 + sum(len(web.titles) for web in webs)))
    yield _line(["topics × seed sets", *(cell for web in webs for cell in web.padded(web.crawls))])
    yield _line(["fetches", *(cell for web in webs for cell in web.padded(f"{web.section.setting.pages:,}"))])
    yield from _lines([each for web in webs for each in web.section.contenders], webs)
    bounds = [each for web in webs for each in web.section.bounds if each.strategy != ORACLE]
    if bounds:
        yield _line(["*upper bounds*", *(cell for web in webs for cell in web.padded(""))])
        yield from _lines(bounds, webs)


def _lines(compared: Sequence[Comparison], webs: Sequence[_Columns]) -> Iterator[str]:
    """Write a line per strategy, the one with the highest mean over webs first."""
    means: defaultdict[str, list[float]] = defaultdict(list)
    for each in compared:
        means[each.strategy].append(each.mean.mean)
    for name in sorted(means, key=lambda name: (-fmean(means[name]), name)):
        yield _line([name, *(cell for web in webs for cell in web.cells(name))])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


class _Columns:
    """The columns of one web: % of the oracle and, where some rows have them, the figures of the first 60 fetches."""

    def __init__(self, section: Section) -> None:
        self.section = section
        self.crawls = f"{len(section.targets)} × {len(section.seed_sets)}"
        early = [section.means(metric) for metric in EARLY_METRICS]
        self._early = early if any(early) else []
        web = section.setting.web
        self.titles = [web, *(f"{web}, {title}" for title in EARLY_METRICS.values() if self._early)]
        self._found = {each.strategy: each for each in section.comparisons}
        self._best = max((each.mean.mean for each in section.contenders), default=0.0)

    def padded(self, cell: str) -> list[str]:
        """Return a cell and empty ones for the other columns."""
        return [cell, *[""] * (len(self.titles) - 1)]

    def cells(self, name: str) -> list[str]:
        """Return the figures of a strategy."""
        if name not in self._found:
            return [NOTHING] * len(self.titles)
        early = early_cells([means.get(name) for means in self._early]) if self._early else []
        return [self._figure(self._found[name]), *early]

    def _figure(self, each: Comparison) -> str:
        mean, span = f"{each.mean.mean:.1f}", f"[{each.mean.low:.1f}, {each.mean.high:.1f}]"
        if each in self.section.bounds:
            return f"{mean} {span}"
        figure = f"**{mean}**" if mean == f"{self._best:.1f}" else mean
        is_same = each.strategy == self.section.baseline or each.p >= CERTAIN
        mark = "" if is_same else " ▲" if each.difference.mean > 0 else " ▼"
        return f"{figure}{mark} {span}"

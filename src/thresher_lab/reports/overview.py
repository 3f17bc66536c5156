"""All comparisons in one table: a line per strategy, a column per web, for pages of Markdown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean

from thresher_lab.reports.comparisons import EARLY_METRICS, Section
from thresher_lab.reports.tables import early_cells
from thresher_lab.simulation.tasks import ORACLE
from thresher_lab.statistics.significance import Comparison

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

"""All comparisons in one table: a line per strategy, a column per web, for pages of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from thresher_lab.reports.comparisons import Section
from thresher_lab.simulation.tasks import ORACLE
from thresher_lab.statistics.significance import Comparison

NOTHING = "–"
CERTAIN = 0.05
"""A difference to the baseline below this p, corrected by Holm's method, is significant."""


def overview(sections: Sequence[Section]) -> Iterator[str]:
    """Write the lines of one table per judge and conditions.

    The best of a column is in bold; ▲ and ▼ mark strategies significantly above or below the baseline.
    """
    for judge, conditions in dict.fromkeys((each.setting.judge, each.setting.conditions) for each in sections):
        alike = [each for each in sections if (each.setting.judge, each.setting.conditions) == (judge, conditions)]
        yield f"**Judge: {judge}{conditions}**"
        yield ""
        yield from _table(alike)
        yield ""


def _table(sections: Sequence[Section]) -> Iterator[str]:
    by_web = [{each.strategy: each for each in section.comparisons} for section in sections]
    names = dict.fromkeys(name for found in by_web for name in found if name != ORACLE)
    yield _line(["strategy", *(section.setting.web for section in sections)])
    yield _line(["---"] * (1 + len(sections)))
    yield _line(["topics × seed sets", *(f"{len(each.targets)} × {len(each.seed_sets)}" for each in sections)])
    yield _line(["fetches", *(f"{each.setting.pages:,}" for each in sections)])
    for name in sorted(names, key=lambda name: (-_mean_over_webs(name, by_web), name)):
        figures = [_figure(found, name, each.baseline) for found, each in zip(by_web, sections, strict=True)]
        yield _line([name, *figures])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _mean_over_webs(name: str, by_web: Sequence[Mapping[str, Comparison]]) -> float:
    values = [found[name].mean.mean for found in by_web if name in found]
    return sum(values) / len(values)


def _figure(found: Mapping[str, Comparison], name: str, baseline: str) -> str:
    if name not in found:
        return NOTHING
    each, best = found[name], max(one.mean.mean for other, one in found.items() if other != ORACLE)
    mean = f"{each.mean.mean:.1f}"
    figure = f"**{mean}**" if mean == f"{best:.1f}" else mean
    mark = "" if name == baseline or each.p >= CERTAIN else " ▲" if each.difference.mean > 0 else " ▼"
    return f"{figure}{mark} [{each.mean.low:.1f}, {each.mean.high:.1f}]"

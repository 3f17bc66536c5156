"""The tables of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from thresher.charts.html import Child, Html, element, joined, table
from thresher_lab.reports.charts import interval_bar
from thresher_lab.reports.comparisons import EARLY_METRICS, Section, is_bound
from thresher_lab.simulation.compare import HEADLINE
from thresher_lab.statistics.significance import Comparison, TopicValue

WORST = 3
"""Number of worst topics per strategy."""

NOTHING = "–"

MEAN_COLUMNS = ("strategy", "0 … 100", "% of oracle", *EARLY_METRICS.values())

FIGURES = {
    "harvest rate": ("harvest_rate", 3),
    "recall": ("recall", 3),
    "recall at 5 %": ("recall_at_5pc", 3),
    "area": ("area", 3),
    "HR@R": ("hr_at_r", 3),
    "information": ("sum_of_information", 1),
    "hosts": ("relevant_hosts", 1),
    "ms per page": ("ms_per_page", 2),
    "of it scoring": ("scoring_ms_per_page", 2),
}
"""Column, its name in the rows, and its decimals."""


def with_range(mean: float, low: float, high: float, *, sign: str = "") -> Html:
    """Return a mean and, in lighter type, its interval."""
    bounds = element("span", f" [{low:{sign}.1f}, {high:{sign}.1f}]", class_="range")
    return joined(f"{mean:{sign}.1f}", bounds)


def p_words(p: float) -> str:
    """Format a p value."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def summary_table(section: Section, classes: Mapping[str, str]) -> Html:
    """Return every contender with its interval, and its comparison with the baseline."""
    tested = ["difference", "p (Holm)", "wins / losses", "lowest topic"]
    rows = [
        [*cells, *_test_cells(each, section.baseline)]
        for each, cells in zip(section.contenders, _mean_cells(section, section.contenders, classes), strict=True)
    ]
    return table([*MEAN_COLUMNS, *tested], rows, words=["0 … 100", "lowest topic"])


def bounds_table(section: Section, classes: Mapping[str, str]) -> Html:
    """Return the upper bounds with their intervals and their distance from the baseline, which is not tested."""
    rows = [
        [*cells, _difference(each)]
        for each, cells in zip(section.bounds, _mean_cells(section, section.bounds, classes), strict=True)
    ]
    return table(["upper bound", *MEAN_COLUMNS[1:], "difference"], rows, words=["0 … 100"])


def _mean_cells(section: Section, shown: Sequence[Comparison], classes: Mapping[str, str]) -> Iterator[list[Child]]:
    early = [section.means(metric) for metric in EARLY_METRICS]
    for each in shown:
        mean = each.mean
        yield [
            each.strategy,
            interval_bar(mean.low, mean.mean, mean.high, class_=classes[each.strategy]),
            with_range(mean.mean, mean.low, mean.high),
            *early_cells([means.get(each.strategy) for means in early]),
        ]


def early_cells(values: Sequence[float | None]) -> list[str]:
    """Format the figures of the first 60 fetches, in the order of `EARLY_METRICS`; a dash where a row lacks them."""
    formats = (".1f", ".3f")
    return [NOTHING if value is None else f"{value:{form}}" for value, form in zip(values, formats, strict=True)]


def _test_cells(each: Comparison, baseline: str) -> list[Child]:
    is_tested = each.strategy != baseline
    return [
        _difference(each) if is_tested else "baseline",
        p_words(each.p) if is_tested else NOTHING,
        f"{each.wins} / {each.losses}" if is_tested else NOTHING,
        _topic_words(each.worst, ""),
    ]


def _difference(each: Comparison) -> Html:
    return with_range(each.difference.mean, each.difference.low, each.difference.high, sign="+")


def _topic_words(worst: TopicValue, sign: str) -> str:
    return f"{worst.topic} ({worst.value:{sign}.1f})"


def topics_table(section: Section) -> Html:
    """Return every topic with every strategy's % of oracle, the best contender of a topic in bold."""
    values = section.by_topic(HEADLINE)
    contenders = {each.strategy for each in section.contenders}
    rows = []
    for topic, targets in sorted(section.targets.items()):
        best = max((values[name][topic] for name in contenders), default=0.0)
        figures = (_figure(values[name][topic], name in contenders and values[name][topic] == best) for name in values)
        rows.append([topic, f"{targets:,}", *figures])
    return table(["topic", "targets", *values], rows)


def _figure(value: float, is_best: bool) -> Html:
    return element("span", f"{value:.1f}", class_="best" if is_best else None)


def worst_table(section: Section) -> Html:
    """Return, for every contender, the topics of its lowest values and those where it is furthest behind."""
    values = section.by_topic(HEADLINE)
    base = values[section.baseline]
    rows = []
    for name, own in values.items():
        if is_bound(name, section.baseline):
            continue
        behind = {topic: own[topic] - base[topic] for topic in own}
        rows.append([name, _lowest(own, ""), _lowest(behind, "+") if name != section.baseline else NOTHING])
    lowest, behind_most = "lowest % of oracle", "most lost, or least gained, against the baseline"
    return table(["strategy", lowest, behind_most], rows, words=[lowest, behind_most])


def _lowest(values: Mapping[str, float], sign: str) -> Html:
    lowest: Sequence[str] = sorted(values, key=lambda topic: (values[topic], topic))[:WORST]
    return joined(*(element("div", _topic_words(TopicValue(topic, values[topic]), sign)) for topic in lowest))


def figures_table(section: Section) -> Html:
    """Return the means of further metrics over topics."""
    columns = {column: section.by_topic(metric) for column, (metric, _) in FIGURES.items()}
    rows = [
        [name, *(_mean(columns[column].get(name), decimals) for column, (_, decimals) in FIGURES.items())]
        for name in section.strategies
    ]
    return table(["strategy", *FIGURES], rows)


def _mean(values: Mapping[str, float] | None, decimals: int) -> str:
    return f"{sum(values.values()) / len(values):,.{decimals}f}" if values else NOTHING

"""The tables of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thresher.charts.html import Child, Html, element, joined, table
from thresher_lab.reports.charts import interval_bar
from thresher_lab.reports.comparisons import Section
from thresher_lab.simulation.compare import HEADLINE
from thresher_lab.simulation.tasks import ORACLE
from thresher_lab.statistics.significance import Comparison, TopicValue

WORST = 3
"""Number of worst topics per strategy."""

NOTHING = "–"

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
    """Return every strategy with its interval, and its comparison with the baseline."""
    columns = ["strategy", "0 … 100", "% of oracle", "difference", "p (Holm)", "wins / losses", "lowest topic"]
    rows = [_summary_row(each, section.baseline, classes[each.strategy]) for each in section.comparisons]
    return table(columns, rows, words=["0 … 100", "lowest topic"])


def _summary_row(each: Comparison, baseline: str, class_: str) -> list[Child]:
    mean, difference = each.mean, each.difference
    against = with_range(difference.mean, difference.low, difference.high, sign="+")
    is_tested = each.strategy not in (baseline, ORACLE)
    return [
        each.strategy,
        interval_bar(mean.low, mean.mean, mean.high, class_=class_),
        with_range(mean.mean, mean.low, mean.high),
        "baseline" if each.strategy == baseline else against,
        p_words(each.p) if is_tested else NOTHING,
        f"{each.wins} / {each.losses}" if is_tested else NOTHING,
        _topic_words(each.worst, "") if each.strategy != ORACLE else NOTHING,
    ]


def _topic_words(worst: TopicValue, sign: str) -> str:
    return f"{worst.topic} ({worst.value:{sign}.1f})"


def topics_table(section: Section) -> Html:
    """Return every topic with every strategy's % of oracle, the best contender of a topic in bold."""
    values = section.by_topic(HEADLINE)
    rows = []
    for topic, targets in sorted(section.targets.items()):
        best = max((values[name][topic] for name in values if name != ORACLE), default=0.0)
        figures = (_figure(values[name][topic], name != ORACLE and values[name][topic] == best) for name in values)
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
        if name == ORACLE:
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

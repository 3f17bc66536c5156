"""E1: four crawlers by precision and sum of information; FCMRPS, section 5.3.1."""

from __future__ import annotations

from collections.abc import Sequence

from thresher_lab.reproduce.claims import Curves, Row, end, judge_order, labels_in
from thresher_lab.reproduce.fcmrps_crawlers import (
    BEST,
    BREADTH,
    FCMRPS,
    FOUR,
    LARGE_WEBS,
    NAMES,
    SHARK,
    SINGLE_WEBS,
    TAXONOMY_WEBS,
    TERMS,
    groups,
    strength_table,
)
from thresher_lab.reproduce.plans import ExperimentOverrides, plan
from thresher_lab.reproduce.tables import Cell, ExperimentReport, Table, curve_table, with_interval
from thresher_lab.reproduce.trials import Trial

E1_GROUNDS = [*SINGLE_WEBS, *TAXONOMY_WEBS, *LARGE_WEBS]
PRECISION = dict(zip(NAMES, (2.72, 7.02, 6.05, 29.67), strict=True))
CLAIM = "FCMRPS > best-first > Shark > breadth-first at each portion, by {}"
INFORMATION = dict(zip(NAMES, (27.44, 81.59, 71.36, 750.58), strict=True))


def e1_trials(choice: ExperimentOverrides) -> list[Trial]:
    """Four crawlers on all webs; on the largest ones with the paper's 10,000 pages."""
    return plan(E1_GROUNDS, FOUR, TERMS, choice)


def e1_report(rows: Sequence[Row]) -> ExperimentReport:
    """Precision and sum of information, and the order of their curves; crawlers without rows are left out."""
    tables, findings = [], []
    for group in groups(rows, circular=True):
        names = labels_in(group.rows, NAMES)
        precision, information = group.precision(names), group.information(names)
        tables += [
            _e1_table(group.title, precision, information),
            curve_table("Precision % after parts of the budget", precision),
        ]
        if not group.circular:
            order = (FCMRPS, BEST, SHARK, BREADTH)
            best = group.with_oracle(precision)
            findings += [
                judge_order(CLAIM.format("precision"), group.place, best, order, scale=100, unit="points"),
                judge_order(CLAIM.format("sum of information"), group.place, information, order, scale=1000,
                            unit="per 1,000 fetches"),
            ]  # fmt: skip
    tables += strength_table(rows, FCMRPS, BEST)
    return ExperimentReport(name="E1", title="precision and sum of information of four crawlers", tables=tables,
                  findings=findings, notes=_E1_NOTES)  # fmt: skip


_E1_NOTES = (
    "Crawls know the labels of the topic's path and three seeds; they judge pages by the cosine with the labels.",
    "By text: a page is relevant when it is more like the topic's description than half of ten pages of the topic are.",
    "The paper has 30 topics and 10,000 pages. By default archipelago, generated-en and generated-zh are fetched to "
    "10,000 pages, with 3, 2 and 2 topics. The other webs, which are smaller, are fetched to 600 pages, by the same "
    "crawls as in E3 to E5. Portions are twentieths of the budget.",
    "Cut for time: 20 topics of wikispeedia, 8 of each Chinese web, 3 topics and 300 fetches on generated webs of "
    "10,000 pages; one seed set.",
    "generated-…-taxonomy50 and -taxonomy100 are the same web with half or all of its URLs below labels of the topic's "
    "path. Half or all of the links between groups of pages lead to the same or a sibling topic.",
)


def _e1_table(title: str, precision: Curves, information: Curves) -> Table:
    rows: list[list[Cell]] = []
    for name, topics in precision.items():
        if topics:
            ours, own = end(precision, name), end(information, name)
            rows.append([
                name, with_interval(ours, scale=100), _times_breadth_first(precision, ours.mean), PRECISION[name],
                PRECISION[name] / PRECISION[BREADTH], own.mean * 1000, _times_breadth_first(information, own.mean),
                INFORMATION[name] / 10, INFORMATION[name] / INFORMATION[BREADTH],
            ])  # fmt: skip
    columns = ["strategy", "precision %", "× breadth-first", "paper %", "paper ×",
               "information per 1,000", "× breadth-first", "paper per 1,000", "paper ×"]  # fmt: skip
    return Table(title=f"{title}, {max(map(len, precision.values()), default=0)} topics", columns=columns, rows=rows)


def _times_breadth_first(curves: Curves, value: float) -> float | None:
    base = end(curves, BREADTH).mean if curves.get(BREADTH) else 0.0
    return value / base if base else None

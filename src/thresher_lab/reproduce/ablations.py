"""E3 to E5: FCMRPS with some of its signs, sections 5.3.2 and 5.3.3: page content 1, anchor 2, URL 3, link type 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from thresher_lab.reproduce.claims import ClaimResult, Curves, Row, Verdict, compare, end, judge_order, untestable
from thresher_lab.reproduce.fcmrps_crawlers import (
    BEST,
    FCMRPS,
    FOUR,
    SINGLE_WEBS,
    TAXONOMY_WEBS,
    TERMS,
    LanguageGroup,
    groups,
    strength_table,
)
from thresher_lab.reproduce.plans import ExperimentOverrides, plan
from thresher_lab.reproduce.tables import Cell, ExperimentReport, Table, with_interval
from thresher_lab.reproduce.trials import Trial
from thresher_lab.reproduce.webs import language_of, taxonomy_strength
from thresher_lab.simulation.comparison_plan import Contender

ABLATION_GROUNDS = [*SINGLE_WEBS, *TAXONOMY_WEBS]
ALL_WEBS = "webs that were not generated"


def use(signs: str) -> Contender:
    """Return FCMRPS with some of its four signs."""
    return Contender(strategy="fcmrps", parameters={"use": signs})


def name_of(signs: str) -> str:
    """Return the name of an ablation in tables."""
    return f"fcmrps (use={signs})"


def ablation_trials(*signs: str, baseline: bool = True, full: bool = False) -> list[Contender]:
    """List the contenders of an ablation."""
    return [*([FOUR[1]] if baseline else []), *([FOUR[3]] if full else []), *map(use, signs)]


def e3_trials(choice: ExperimentOverrides) -> list[Trial]:
    """FCMRPS 13 against best-first."""
    return plan(ABLATION_GROUNDS, ablation_trials("13"), TERMS, choice)


def e4_trials(choice: ExperimentOverrides) -> list[Trial]:
    """FCMRPS against 124 and best-first."""
    return plan(ABLATION_GROUNDS, ablation_trials("124", full=True), TERMS, choice)


def e5_trials(choice: ExperimentOverrides) -> list[Trial]:
    """FCMRPS 1, 2 and 3 alone."""
    return plan(ABLATION_GROUNDS, ablation_trials("1", "2", "3", baseline=False), TERMS, choice)


def e3_report(rows: Sequence[Row]) -> ExperimentReport:
    """What URLs add to page content."""
    names = (BEST, name_of("13"))
    report = _ablation("E3", "page content and URL against page content alone", rows, names, [names[::-1]])
    tables = [*report.tables, *strength_table(rows, *names[::-1])]
    return replace(report, tables=tables, findings=[*report.findings, _more_in_chinese(rows, names)])


def _more_in_chinese(rows: Sequence[Row], names: Sequence[str]) -> ClaimResult:
    claim = "URLs add more in Chinese than in English"
    gains = {}
    for language in ("en", "zh"):
        own = [row for row in rows if language_of(row["web"]) == language and taxonomy_strength(row["web"]) is None]
        found = [group for group in groups(own) if group.spells_topics]  # in generated webs languages are spelled alike
        pairs = [compare(curves, names[1], names[0]) for group in found if (curves := group.precision(names))[names[0]]]
        if not pairs:
            return untestable(claim, ALL_WEBS, f"no rows of {language} topics whose URLs spell labels")
        gains[language] = sum(pair.gain.mean for pair in pairs) / len(pairs)
    verdict = Verdict.HOLDS if gains["zh"] > gains["en"] and gains["zh"] > 0 else Verdict.FAILS
    points = {language: f"{100 * gain:+.2f} points" for language, gain in gains.items()}
    reason = f"precision {points['zh']} in Chinese, {points['en']} in English; groups of webs weigh alike"
    return ClaimResult(claim=claim, place=ALL_WEBS, verdict=verdict, reason=reason)


def e4_report(rows: Sequence[Row]) -> ExperimentReport:
    """What URLs add to all other signs."""
    names = (FCMRPS, name_of("124"), BEST)
    report = _ablation("E4", "all four signs, all but the URL, page content alone", rows, names, [names])
    return replace(report, tables=[*report.tables, *strength_table(rows, *names[:2])])


def e5_report(rows: Sequence[Row]) -> ExperimentReport:
    """Each sign alone."""
    names = (name_of("1"), name_of("3"), name_of("2"))
    return _ablation("E5", "page content, URL and anchor text, each alone", rows, names, [names])


def _ablation(
    name: str, title: str, rows: Sequence[Row], names: Sequence[str], orders: Sequence[Sequence[str]]
) -> ExperimentReport:
    tables, findings = [], []
    for group in groups(rows, circular=True):
        precision, information = group.precision(names), group.information(names)
        listed: list[list[Cell]] = [
            [one, with_interval(end(precision, one), scale=100), 1000 * end(information, one).mean]
            for one in names
            if precision[one]
        ]
        tables.append(Table(title=f"{group.title}, {len(precision[names[0]])} topics",
                            columns=["strategy", "precision %", "information per 1,000"], rows=listed))  # fmt: skip
        if not group.circular:
            findings += [_order_finding(group, precision, order) for order in orders]
    notes = ("The paper gives curves only; their order is the claim.",)
    return ExperimentReport(name=name, title=title, tables=tables, findings=findings, notes=notes)


def _order_finding(group: LanguageGroup, precision: Curves, order: Sequence[str]) -> ClaimResult:
    claim = " > ".join(order)
    if not group.spells_topics:
        return untestable(claim, group.place, f"{100 * group.spelled_share:.1f} % of the URLs spell a label")
    return judge_order(claim, group.place, group.with_oracle(precision), order, scale=100, unit="points")

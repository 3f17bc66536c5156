"""E2: do the URLs of relevant pages spell the topic? FCMRPS, section 5.3.2, on the crawls of E1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thresher_lab.reports.comparisons import strategy_label
from thresher_lab.reproduce.claims import ClaimResult, Row, Verdict, untested
from thresher_lab.reproduce.fcmrps_crawlers import FCMRPS, NAMES, LanguageGroup, groups
from thresher_lab.reproduce.tables import Cell, ExperimentReport, Table

URL_SHARES = dict(
    zip(NAMES, ((4.16, 75.48, 79.64), (6.58, 73.66, 80.24), (5.78, 69.84, 75.62), (9.92, 86.39, 96.31)), strict=True)
)
"""Rat, Ract and Ra of the paper."""

MOST_SPELL = "most URLs of relevant pages spell the topic or what is above it"


def e2_report(rows: Sequence[Row]) -> ExperimentReport:
    """How many URLs of relevant pages spell the topic."""
    tables, findings = [], []
    for group in groups(rows, circular=True):
        shares = {name: _url_shares(group, name) for name in NAMES}
        tables.append(Table(
            title=group.title, columns=["strategy", "relevant", "Rat %", "Ract %", "Ra %", "Ract % inclusive",
                                        "paper Rat", "paper Ract", "paper Ra"],
            rows=[[name, *shares[name], *URL_SHARES[name]] for name in NAMES if shares[name]],
        ))  # fmt: skip
        if not group.circular:
            findings += _e2_findings(group.title, {name: own for name, own in shares.items() if own})
    notes = (
        "Rat: the URL spells the topic's own label; Ract: only labels above it; Ra: either.",
        "Only topics of wikispeedia and of generated webs have labels above them: elsewhere Ract is 0, and not judged.",
    )
    return ExperimentReport(
        name="E2", title="topic tokens in the URLs of relevant pages", tables=tables, findings=findings, notes=notes
    )


def _url_shares(group: LanguageGroup, name: str) -> list[Cell]:
    found = [row for row in group.rows if strategy_label(dict(row)) == name]
    counts = {field: sum(row["urls"][group.relevance][field] for row in found)
              for field in ("relevant", "own", "only_context", "context")}  # fmt: skip
    n = counts["relevant"]
    if not n:
        return []
    Rat, Ract, inclusive = (100 * counts[field] / n for field in ("own", "only_context", "context"))
    return [n, Rat, Ract, Rat + Ract, inclusive]


def _e2_findings(title: str, shares: Mapping[str, Sequence[Cell]]) -> list[ClaimResult]:
    claim = f"FCMRPS has the highest Rat, Ract and Ra: {title}"
    if FCMRPS not in shares or len(shares) < 2:
        return [untested(claim, "too few rows")]
    best = {}
    for place, measure in enumerate(("Rat", "Ract", "Ra"), start=1):
        values = {name: float(own[place] or 0) for name, own in shares.items()}
        if not any(values.values()):  # such as Ract where topics have no labels above them
            continue
        alike = len(set(values.values())) == 1
        best[measure] = "all alike" if alike else max(values, key=values.__getitem__)
    if not best:
        why = "no URL of a relevant page spells a label of the topic there"
        return [untested(claim, why), untested(f"{MOST_SPELL}: {title}", why)]
    wins = [name == FCMRPS for name in best.values()]
    verdict = Verdict.HOLDS if all(wins) else Verdict.IN_PART if any(wins) else Verdict.FAILS
    reason = "highest " + ", ".join(f"{measure}: {name}" for measure, name in best.items())
    Ra = float(shares[FCMRPS][3] or 0)
    most = Verdict.HOLDS if Ra >= 75 else Verdict.IN_PART if Ra >= 50 else Verdict.FAILS
    return [
        ClaimResult(claim=claim, verdict=verdict, reason=reason),
        ClaimResult(claim=f"{MOST_SPELL}: {title}", verdict=most,
                reason=f"Ra of FCMRPS is {Ra:.1f} %, in the paper 96.3 %"),
    ]  # fmt: skip

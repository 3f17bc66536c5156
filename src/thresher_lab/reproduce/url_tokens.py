"""E2: do URLs of relevant pages spell the topic? FCMRPS, section 5.3.2, on the crawls of E1 and on directories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thresher_lab.reports.comparisons import strategy_label
from thresher_lab.reproduce.claims import ClaimResult, Row, Verdict, untested
from thresher_lab.reproduce.directory_entries import DIRECTORY, shares
from thresher_lab.reproduce.fcmrps_crawlers import FCMRPS, NAMES, LanguageGroup, groups
from thresher_lab.reproduce.tables import Cell, ExperimentReport, Table

URL_SHARES = dict(
    zip(NAMES, ((4.16, 75.48, 79.64), (6.58, 73.66, 80.24), (5.78, 69.84, 75.62), (9.92, 86.39, 96.31)), strict=True)
)
"""Rat, Ract and Ra of the paper."""

MIN_FULL, MIN_HALF = 75.0, 50.0
"""Per cent of URLs from which most spell a label, and from which the claim holds in part."""
SPELLING_CLAIM = "most URLs of relevant pages spell the topic or what is above it"


def e2_report(rows: Sequence[Row]) -> ExperimentReport:
    """How many URLs of relevant pages spell the topic."""
    crawls = [row for row in rows if DIRECTORY not in row]
    tables, findings = _directories([row for row in rows if DIRECTORY in row])
    for group in groups(crawls, circular=True):
        found = {name: _url_shares(group, name) for name in NAMES}
        tables.append(Table(
            title=group.title, columns=["strategy", "relevant", "Rat %", "Ract %", "Ra %", "Ract % inclusive",
                                        "paper Rat", "paper Ract", "paper Ra"],
            rows=[[name, *found[name], *URL_SHARES[name]] for name in NAMES if found[name]],
        ))  # fmt: skip
        if not group.circular:
            findings += _e2_findings(group.title, {name: own for name, own in found.items() if own})
    notes = (
        "Rat: the URL spells the topic's own label; Ract: only labels above it; Ra: either.",
        "Only topics of wikispeedia, of generated webs and of directories have labels above them: elsewhere Ract is 0, "
        "and not judged.",
        "Directory entries are URLs that people filed; by chance: with the paths of other entries, drawn at random. "
        "The paper's shares are those of pages that crawls fetched, so they may be higher than those of a directory.",
    )
    return ExperimentReport(
        name="E2", title="topic tokens in the URLs of relevant pages", tables=tables, findings=findings, notes=notes
    )


def _directories(rows: Sequence[Row]) -> tuple[list[Table], list[ClaimResult]]:
    lines: list[list[Cell]] = []
    findings = []
    for row in rows:
        Rat, Ract, Ra = shares(row)
        above = Ract if row["levels"] > 1 else None
        lines.append([row[DIRECTORY], row["relevant"], Rat, above, Ra, shares(row["by_chance"])[2]])
        findings.append(_most_spell(row[DIRECTORY], Ra, f"Ra of its {row['relevant']:,} entries"))
    columns = ["directory", "entries", "Rat %", "Ract %", "Ra %", "Ra % by chance"]
    return [Table(title="Real directory entries", columns=columns, rows=lines)] if lines else [], findings


def _most_spell(place: str, Ra: float, what: str) -> ClaimResult:
    verdict = Verdict.HOLDS if Ra >= MIN_FULL else Verdict.IN_PART if Ra >= MIN_HALF else Verdict.FAILS
    return ClaimResult(claim=f"{SPELLING_CLAIM}: {place}", verdict=verdict,
                       reason=f"{what} is {Ra:.1f} %, that of FCMRPS in the paper 96.3 %")  # fmt: skip


def _url_shares(group: LanguageGroup, name: str) -> list[Cell]:
    own = [row for row in group.rows if strategy_label(dict(row)) == name]
    counts = {field: sum(row["urls"][group.relevance][field] for row in own)
              for field in ("relevant", "own", "only_context", "context")}  # fmt: skip
    n = counts["relevant"]
    if not n:
        return []
    Rat, Ract, inclusive = (100 * counts[field] / n for field in ("own", "only_context", "context"))
    return [n, Rat, Ract, Rat + Ract, inclusive]


def _e2_findings(title: str, found: Mapping[str, Sequence[Cell]]) -> list[ClaimResult]:
    claim = f"FCMRPS has the highest Rat, Ract and Ra: {title}"
    if missing := [name for name in NAMES if name not in found]:
        return [untested(claim, f"no rows of {', '.join(missing)}")]
    best = {}
    for place, measure in enumerate(("Rat", "Ract", "Ra"), start=1):
        values = {name: float(own[place] or 0) for name, own in found.items()}
        if not any(values.values()):  # such as Ract where topics have no labels above them
            continue
        alike = len(set(values.values())) == 1
        best[measure] = "all alike" if alike else max(values, key=values.__getitem__)
    if not best:
        why = "no URL of a relevant page spells a label of the topic there"
        return [untested(claim, why), untested(f"{SPELLING_CLAIM}: {title}", why)]
    wins = [name == FCMRPS for name in best.values()]
    verdict = Verdict.HOLDS if all(wins) else Verdict.IN_PART if any(wins) else Verdict.FAILS
    reason = "highest " + ", ".join(f"{measure}: {name}" for measure, name in best.items())
    Ra = float(found[FCMRPS][3] or 0)
    return [ClaimResult(claim=claim, verdict=verdict, reason=reason), _most_spell(title, Ra, "Ra of FCMRPS")]

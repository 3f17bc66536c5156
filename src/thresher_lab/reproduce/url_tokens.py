"""E2: do URLs of relevant pages spell the topic? FCMRPS, section 5.3.2, on the crawls of E1 and on directories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thresher_lab.reports.comparisons import strategy_label
from thresher_lab.reproduce.claims import HALF, NEARLY, ClaimResult, Row, Verdict, untestable
from thresher_lab.reproduce.directory_entries import DIRECTORY, shares
from thresher_lab.reproduce.fcmrps_crawlers import BREADTH, FCMRPS, MIN_SPELLED, NAMES, LanguageGroup, groups
from thresher_lab.reproduce.tables import Cell, ExperimentReport, Table
from thresher_lab.reproduce.webs import taxonomy_strength

URL_SHARES = dict(
    zip(NAMES, ((4.16, 75.48, 79.64), (6.58, 73.66, 80.24), (5.78, 69.84, 75.62), (9.92, 86.39, 96.31)), strict=True)
)
"""Rat, Ract and Ra of the paper."""

SPELLING_CLAIM = f"URLs of relevant pages spell the topic or what is above it (FCMRPS: {URL_SHARES[FCMRPS][2]:.0f} %)"
DIRECTORY_CLAIM = (
    f"URLs that people filed spell the labels of their path (breadth-first: {URL_SHARES[BREADTH][2]:.0f} %)"
)
HIGHEST_CLAIM = "FCMRPS has the highest Rat, Ract and Ra"


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
            findings += _e2_findings(group, {name: own for name, own in found.items() if own})
    notes = (
        "Rat: the URL spells the topic's own label; Ract: only labels above it; Ra: either.",
        "Only topics of wikispeedia, of generated webs and of directories have labels above them: elsewhere Ract is 0, "
        "and not judged.",
        "Directory entries are URLs that people filed; by chance: with the paths of other entries, drawn at random. "
        "The paper's shares are those of pages that crawls fetched; breadth-first's is the one to compare with.",
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
        chance, reason = shares(row["by_chance"])[2], f"{Ra:.1f} % of its {row['relevant']:,} entries"
        if Ra < max(100 * MIN_SPELLED, 2 * chance):
            findings.append(untestable(DIRECTORY_CLAIM, row[DIRECTORY], f"{reason}, {chance:.1f} % by chance"))
        else:
            findings.append(_spelled(DIRECTORY_CLAIM, row[DIRECTORY], Ra, BREADTH, reason))
    columns = ["directory", "entries", "Rat %", "Ract %", "Ra %", "Ra % by chance"]
    return [Table(title="Real directory entries", columns=columns, rows=lines)] if lines else [], findings


def _spelled(claim: str, place: str, Ra: float, reference: str, reason: str) -> ClaimResult:
    """Compare a share of URLs with that of the paper's crawler that chose its pages in the same way."""
    share = Ra / URL_SHARES[reference][2]
    verdict = Verdict.HOLDS if share >= NEARLY else Verdict.IN_PART if share >= HALF else Verdict.FAILS
    return ClaimResult(claim=claim, place=place, verdict=verdict, reason=reason)


def _url_shares(group: LanguageGroup, name: str) -> list[Cell]:
    own = [row for row in group.rows if strategy_label(dict(row)) == name]
    counts = {field: sum(row["urls"][group.relevance][field] for row in own)
              for field in ("relevant", "own", "only_context", "context")}  # fmt: skip
    n = counts["relevant"]
    if not n:
        return []
    Rat, Ract, inclusive = (100 * counts[field] / n for field in ("own", "only_context", "context"))
    return [n, Rat, Ract, Rat + Ract, inclusive]


def _e2_findings(group: LanguageGroup, found: Mapping[str, Sequence[Cell]]) -> list[ClaimResult]:
    if missing := [name for name in NAMES if name not in found]:
        return [untestable(HIGHEST_CLAIM, group.place, f"no rows of {', '.join(missing)}")]
    if not group.spells_topics:
        why = f"{100 * group.spelled_share:.1f} % of the URLs spell a label"
        return [untestable(claim, group.place, why) for claim in (HIGHEST_CLAIM, SPELLING_CLAIM)]
    best = {}
    for place, measure in enumerate(("Rat", "Ract", "Ra"), start=1):
        values = {name: float(own[place] or 0) for name, own in found.items()}
        if not any(values.values()):  # such as Ract where topics have no labels above them
            continue
        alike = len(set(values.values())) == 1
        best[measure] = "all alike" if alike else max(values, key=values.__getitem__)
    wins = [name == FCMRPS for name in best.values()]
    verdict = Verdict.HOLDS if all(wins) else Verdict.IN_PART if any(wins) else Verdict.FAILS
    reason = "highest " + ", ".join(f"{measure}: {name}" for measure, name in best.items())
    Ra = float(found[FCMRPS][3] or 0)
    spelled = (
        untestable(SPELLING_CLAIM, group.place, f"{Ra:.1f} %, as the web was generated")
        if taxonomy_strength(group.rows[0]["web"]) is not None
        else _spelled(SPELLING_CLAIM, group.place, Ra, FCMRPS, f"{Ra:.1f} % of what FCMRPS fetched")
    )
    return [ClaimResult(claim=HIGHEST_CLAIM, place=group.place, verdict=verdict, reason=reason), spelled]

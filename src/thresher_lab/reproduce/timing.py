"""E6: what a page costs; FCMRPS, section 5.3.4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thresher_lab.reproduce.claims import ClaimResult, Curve, Row, Verdict, end, labels_in, paired, untestable
from thresher_lab.reproduce.fcmrps_crawlers import BREADTH, FCMRPS, FOUR, NAMES, TERMS
from thresher_lab.reproduce.plans import ExperimentOverrides, Ground, TrialSettings, plan
from thresher_lab.reproduce.tables import Cell, ExperimentReport, Table, with_interval
from thresher_lab.reproduce.trials import TIME, Trial
from thresher_lab.statistics.significance import bootstrap_mean

MINUTES = dict(zip(NAMES, (2.26, 2.34, 2.51, 2.60), strict=True))
"""Of processing 10,000 pages, in the paper."""
DOWNLOADING_MINUTES = 35.65
"""Of breadth-first, for 10,000 pages."""
MS_PER_MINUTE = 6
"""Per page, of a minute per 10,000 pages."""

PROCESSING_CLAIM = "FCMRPS costs little more processing than breadth-first (1.15 ×)"
PLACE = "wikispeedia, w3school_zh"
GROUNDS = [Ground(web=web, topics=3, pages=200) for web in ("wikispeedia", "w3school_zh")]


def e6_trials(choice: ExperimentOverrides) -> list[Trial]:
    """What a page costs, everything parsed again."""
    terms = TrialSettings(seeds=TERMS.seeds, judge=TERMS.judge, measure=TIME)
    return plan(GROUNDS, FOUR, terms, choice)


def e6_report(rows: Sequence[Row]) -> ExperimentReport:
    """What each crawler costs per page, against breadth-first in the same run."""
    times = paired(rows, labels_in(rows, NAMES), lambda row: [row["ms_per_page"]])
    if not (times.get(BREADTH) and times.get(FCMRPS)):
        return ExperimentReport(
            name="E6", title="processing time", findings=[untestable(PROCESSING_CLAIM, PLACE, "no rows")]
        )
    base = times[BREADTH]
    listed: list[list[Cell]] = []
    for name in times:
        ratio = bootstrap_mean([own[0] / base[topic][0] for topic, own in times[name].items()])
        listed.append([name, end(times, name).mean, with_interval(ratio, digits=2), MINUTES[name] * MS_PER_MINUTE,
                       MINUTES[name] / MINUTES[BREADTH]])  # fmt: skip
    columns = ["strategy", "ms per page", "× breadth-first", "paper ms per page", "paper ×"]
    table = Table(title=f"Processing time, {len(base)} topics, pages parsed anew", columns=columns, rows=listed)
    notes = ("The downloading time of a frozen web is no measure; for the total, the paper's own is added.",)
    return ExperimentReport(
        name="E6", title="processing time", tables=[table], findings=_e6_findings(times), notes=notes
    )


def _e6_findings(times: Mapping[str, Mapping[str, Curve]]) -> list[ClaimResult]:
    ratio = bootstrap_mean([own[0] / times[BREADTH][topic][0] for topic, own in times[FCMRPS].items()])
    ms = {name: end(times, name).mean for name in (BREADTH, FCMRPS)}
    downloading = DOWNLOADING_MINUTES * MS_PER_MINUTE
    total = (downloading + ms[FCMRPS]) / (downloading + ms[BREADTH])
    verdicts = [
        Verdict.HOLDS if ratio.mean <= 1.3 else Verdict.IN_PART if ratio.mean <= 2 else Verdict.FAILS,
        Verdict.HOLDS if total <= 1.05 else Verdict.FAILS,
    ]
    return [
        ClaimResult(claim=PROCESSING_CLAIM, place=PLACE, verdict=verdicts[0],
                reason=f"{with_interval(ratio, digits=2)} ×; up to 1.3 × is taken as little"),
        ClaimResult(claim="with downloading the difference vanishes (1.02 ×)", place=PLACE, verdict=verdicts[1],
                reason=f"{total:.3f} × with the paper's {downloading:.0f} ms of downloading per page"),
    ]  # fmt: skip

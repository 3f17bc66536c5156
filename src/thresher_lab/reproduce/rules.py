"""E10: the experiment of RULES: interclass rules against soft focus."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from statistics import median

from thresher_lab.reproduce.claims import ClaimResult, Row, Verdict, untestable
from thresher_lab.reproduce.measures import PORTIONS
from thresher_lab.reproduce.plans import ExperimentOverrides, Ground, TrialSettings, plan
from thresher_lab.reproduce.tables import Cell, ExperimentReport, Table
from thresher_lab.reproduce.trials import CLASSES, Trial
from thresher_lab.reproduce.webs import open_named, taxonomy_strength, topics_of
from thresher_lab.simulation.comparison_plan import Contender
from thresher_lab.statistics import metrics

BASELINE, RULES = "soft-focus", "rules"
SEEDS, MANY_SEEDS = 10, 50
TOPICS = 3
MIN_TARGETS, MIN_TARGETS_OF_MANY_SEEDS = 60, 180
"""A topic has examples to learn from, two sets of seeds that have nothing in common, and something left to find."""
SHARE = 0.05
"""Of a web that is fetched. The paper fetches a few thousand pages of the whole web; two crawls that fetch a large
share of a closed web cannot differ."""
GENERATED = "generated-en-10000"
GROUNDS = [
    Ground(web=name, seed_sets=2, share=SHARE)
    for name in ("wikispeedia", "webkb", GENERATED, f"{GENERATED}-taxonomy50", f"{GENERATED}-taxonomy100")
]
GAIN = "rules raise the harvest ratio by 3 to 38 %, in every case"
EXCLUSIVE = "pages that only the rules fetched are better than those that only soft focus fetched"
OVERLAP = "the two crawlers fetch different pages: 8 to 27 % in common"
PAPER = (
    ("quantum mechanics 1", 0.28, 0.30, 10, 0.27, 0.29),
    ("quantum mechanics 2", 0.25, 0.29, 16, 0.23, 0.28),
    ("computer history 1", 0.29, 0.40, 27, 0.26, 0.39),
    ("computer history 2", 0.36, 0.37, 22, 0.35, 0.37),
    ("open source 1", 0.52, 0.56, 10, 0.51, 0.54),
    ("open source 2", 0.48, 0.61, 8, 0.47, 0.61),
)


def e10_trials(choice: ExperimentOverrides) -> list[Trial]:
    """Part a: three topics from two sets of 10 seeds; part b: one topic from 50 seeds."""
    contenders = [Contender(strategy=BASELINE), Contender(strategy=RULES)]
    trials = plan(GROUNDS, contenders, TrialSettings(seeds=SEEDS, measure=CLASSES), choice)
    many = plan(GROUNDS, contenders, TrialSettings(seeds=MANY_SEEDS, measure=CLASSES), choice)
    part_a = _of_large_topics(trials, choice, MIN_TARGETS, TOPICS)
    part_b = _of_large_topics(many, choice, MIN_TARGETS_OF_MANY_SEEDS, 1)
    return [*part_a, *(trial for trial in part_b if trial.seed_set == 0)]


def _of_large_topics(trials: Sequence[Trial], choice: ExperimentOverrides, fewest: int, most: int) -> list[Trial]:
    """Keep the first topics of each web that are large enough."""
    kept: list[Trial] = []
    for name in dict.fromkeys(trial.web for trial in trials):
        web = open_named(name)
        topics = [topic for topic in topics_of(name, choice.topics) if len(web.targets(topic)) >= fewest][:most]
        web.close()
        kept += [trial for trial in trials if trial.web == name and trial.topic in topics]
    return kept


def e10_report(rows: Sequence[Row]) -> ExperimentReport:
    """Harvest ratio and rate, overlap and exclusive harvest of every pair of crawls."""
    pairs = _pairs(rows)
    columns = ["topic, seed set", "seeds", "ratio soft", "ratio rules", "gain %", "rate soft", "rate rules",
               "overlap %", "exclusive soft", "exclusive rules"]  # fmt: skip
    ours = Table(title="Ours", columns=columns, rows=[_line(*pair) for pair in pairs])
    paper = Table(title="The paper's", columns=["topic, seed set", "ratio soft", "ratio rules", "gain %", "overlap %",
                                                "exclusive soft", "exclusive rules"],
                  rows=[[name, a, b, 100 * (b / a - 1), *others] for name, a, b, *others in PAPER])  # fmt: skip
    curves = Table(title="Harvest ratio over the crawl from 50 seeds", rows=list(_curve_lines(pairs)),
                   columns=["topic", "strategy", "5 %", "10 %", "25 %", "50 %", "75 %", "100 %"])  # fmt: skip
    notes = (
        "Harvest ratio: mean probability of the wanted class over all fetched pages, by the classifier that the crawl "
        "uses, as in the paper; harvest rate: by labels.",
        "Classes are the web's topics, trained on 30 % of their pages (150 at most); those of the wanted topic are "
        "neither hits nor fetches. Overlap is over the first N pages of both crawls, seeds left out.",
        "The ratios of the first table are those at the end of the crawl; verdicts go by the mean of the curve.",
        "Each crawl fetches 5 % of its web; the paper fetches a few thousand pages of the whole web. On "
        "generated-en-10000-taxonomy50 and -taxonomy100 half or all of the links between groups of pages lead to the "
        "same or a sibling topic.",
    )
    tables = [ours, paper, *([curves] if curves.rows else [])]
    findings = [finding for web in dict.fromkeys(soft["web"] for soft, _ in pairs) for finding in _findings(web, pairs)]
    return ExperimentReport(name="E10", title="interclass rules against soft focus", tables=tables,
                  findings=findings or [untestable(GAIN, "", "no pairs of crawls")], notes=notes)  # fmt: skip


def _findings(web: str, pairs: Sequence[tuple[Row, Row]]) -> list[ClaimResult]:
    """Judge the three claims on one web; where links follow no taxonomy, there is no rule between classes to learn."""
    own = [pair for pair in pairs if pair[0]["web"] == web]
    if taxonomy_strength(web) == 0:
        why = "its links between groups of pages lead anywhere, so there are no rules between classes"
        return [untestable(claim, web, why) for claim in (GAIN, EXCLUSIVE, OVERLAP)]
    return [_gain(web, own), _exclusive(web, own), _overlap(web, own)]


Scores = dict[Hashable, float]


def _pairs(rows: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Join the crawls from the same seeds."""
    by_place: dict[tuple[str, str, int, int, int], dict[str, Row]] = {}
    for row in rows:
        place = row["web"], row["topic"], row["seeds"], row["seed_set"], row["pages"]
        by_place.setdefault(place, {})[row["strategy"]] = row
    found = [by_place[place] for place in sorted(by_place)]
    return [(both[BASELINE], both[RULES]) for both in found if BASELINE in both and RULES in both]


def _scores(row: Row) -> Scores:
    """Return the score of every fetched page; each dead link is a page of its own."""
    return {(page if page >= 0 else f"dead {place}"): score for place, (page, score) in enumerate(row["scores"])}


def harvest_ratio(row: Row) -> float:
    """Return the mean score of all fetches."""
    return metrics.harvest_ratio([score for _, score in row["scores"]])


def mean_of_curve(row: Row) -> float:
    """Return the mean of the harvest ratio over the portions of the budget."""
    scores = [score for _, score in row["scores"]]
    ends = [max(len(scores) * part // PORTIONS, 1) for part in range(1, PORTIONS + 1)]
    return sum(metrics.harvest_ratio(scores[:end]) for end in ends) / len(ends)


def overlap(soft: Row, rules: Row) -> float:
    """Return the share of pages that both crawls fetched."""
    return metrics.url_overlap(_scores(soft), _scores(rules), seeds=soft["seed_pages"])


def exclusive(soft: Row, rules: Row) -> tuple[float | None, float | None]:
    """Return the harvest ratio over the pages that only one of the crawls fetched."""
    return metrics.exclusive_harvest(_scores(soft), _scores(rules), seeds=soft["seed_pages"])


def _line(soft: Row, rules: Row) -> list[Cell]:
    a, b = harvest_ratio(soft), harvest_ratio(rules)
    return [
        f"{soft['web']} {soft['topic']} {soft['seed_set'] + 1}", soft["seeds"], a, b, 100 * (b / a - 1) if a else None,
        soft["harvest_rate"], rules["harvest_rate"], 100 * overlap(soft, rules), *exclusive(soft, rules),
    ]  # fmt: skip


def _curve_lines(pairs: Sequence[tuple[Row, Row]]) -> list[list[Cell]]:
    lines: list[list[Cell]] = []
    for pair in pairs:
        for row in pair if pair[0]["seeds"] == MANY_SEEDS else ():
            scores = [score for _, score in row["scores"]]
            ends = [max(len(scores) * part // PORTIONS, 1) for part in (1, 2, 5, 10, 15, 20)]
            lines.append([row["topic"], row["strategy"], *(metrics.harvest_ratio(scores[:end]) for end in ends)])
    return lines


def _gain(web: str, pairs: Sequence[tuple[Row, Row]]) -> ClaimResult:
    gains = [100 * (mean_of_curve(rules) / ratio - 1) for soft, rules in pairs if (ratio := mean_of_curve(soft))]
    if not gains:
        return untestable(GAIN, web, "no page of the class was fetched")
    reason = (
        f"from {min(gains):+.1f} % to {max(gains):+.1f} %, median {median(gains):+.1f} %, by the mean of the curves"
    )
    return _counted(GAIN, web, [gain > 0 for gain in gains], reason)


def _exclusive(web: str, pairs: Sequence[tuple[Row, Row]]) -> ClaimResult:
    both = [(a, b) for soft, rules in pairs for a, b in [exclusive(soft, rules)] if a is not None and b is not None]
    if not both:
        return untestable(EXCLUSIVE, web, "no such pages")
    return _counted(EXCLUSIVE, web, [b > a for a, b in both], "exclusive harvest")


def _overlap(web: str, pairs: Sequence[tuple[Row, Row]]) -> ClaimResult:
    shares = [100 * overlap(soft, rules) for soft, rules in pairs]
    reason = f"{min(shares):.0f} to {max(shares):.0f} % in common; below 50 % is taken as different"
    return _counted(OVERLAP, web, [share < 50 for share in shares], reason)


def _counted(claim: str, web: str, cases: Sequence[bool], reason: str) -> ClaimResult:
    verdict = Verdict.HOLDS if all(cases) else Verdict.IN_PART if 2 * sum(cases) > len(cases) else Verdict.FAILS
    reason = f"in {sum(cases)} of {len(cases)} cases; {reason}"
    return ClaimResult(claim=claim, place=web, verdict=verdict, reason=reason)

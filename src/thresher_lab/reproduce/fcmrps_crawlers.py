"""The four crawlers of FCMRPS, the webs they are compared on, and their crawls sorted by language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import mean

from thresher_lab.reproduce.claims import Curve, Curves, Row, compare, paired, with_oracle
from thresher_lab.reproduce.plans import Ground, TrialSettings
from thresher_lab.reproduce.tables import Cell, Table, with_interval
from thresher_lab.reproduce.webs import CIRCULAR, SECTIONS_WEB, language_of, taxonomy_strength
from thresher_lab.simulation.comparison_plan import Contender

BREADTH, BEST, SHARK, FCMRPS = "breadth-first", "best-first (D=3)", "shark (form=fcmrps)", "fcmrps"
NAMES = (BREADTH, BEST, SHARK, FCMRPS)
FOUR = [
    Contender(strategy="breadth-first"),
    Contender(strategy="best-first", parameters={"D": 3}),
    Contender(strategy="shark", parameters={"form": "fcmrps"}),
    Contender(strategy="fcmrps"),
]
MIN_SPELLED = 0.01
"""Share of relevant pages whose URLs must spell a label of the topic where URLs are tested: twice what random syllables
do by chance."""
TERMS = TrialSettings(seeds=3, judge="cosine")
"""As in the paper, crawls judge pages by the cosine with the topic's labels; the measures use another judge."""
PAGES = 600
"""Fetches on all but the largest webs; the same in E1 to E5, so that they share crawls."""
SINGLE_WEBS = [
    Ground(web="wikispeedia", topics=20, pages=PAGES),
    Ground(web="w3school_zh", topics=8, pages=PAGES),
    Ground(web="mdn_zh", topics=8, pages=PAGES),
    Ground(web=SECTIONS_WEB, topics=8, pages=PAGES),
]
TAXONOMY_WEBS = [
    Ground(web=f"generated-{language}-10000{strength}", topics=3, pages=300)
    for language in ("en", "zh")
    for strength in ("", "-taxonomy50", "-taxonomy100")
]
"""Webs whose URLs and links follow a taxonomy not at all, by half, and altogether."""
LARGE_WEBS = [
    Ground(web="archipelago", topics=3, pages=10_000),
    Ground(web="generated-en", topics=2, pages=10_000),
    Ground(web="generated-zh", topics=2, pages=10_000),
]
"""Webs of 35,000 pages and more, fetched as far as in the paper; the topics of the archipelago are wikispeedia's."""


class LanguageGroup:
    """Crawls of one language, and how relevance is defined there.

    Args:
        place: The webs, and how relevance is defined there.
        relevance: ``labels``; or ``text`` where labels are derived from URLs, which would be circular.
        circular: Whether relevance is derived from URLs nevertheless; such figures are shown, but prove nothing.
    """

    def __init__(self, title: str, place: str, rows: Sequence[Row], relevance: str, *, circular: bool = False) -> None:
        self.title = title
        self.place = place
        self.rows = rows
        self.relevance = relevance
        self.circular = circular

    def precision(self, names: Sequence[str]) -> dict[str, dict[str, Curve]]:
        """Return relevant pages per fetch after each portion."""
        return paired(self.rows, names, lambda row: _per_fetch(row, self.relevance))

    def with_oracle(self, precision: Curves) -> Curves:
        """Add what an oracle would reach; where relevance goes by text, nobody knows how many pages there are."""
        return with_oracle(precision, self.rows) if self.relevance == "labels" else precision

    def information(self, names: Sequence[str]) -> dict[str, dict[str, Curve]]:
        """Return the sum of information per fetch after each portion."""
        return paired(self.rows, names, lambda row: _per_fetch(row, "information"))

    @property
    def spells_topics(self) -> bool:
        """Whether URLs of relevant pages spell labels at all; otherwise nothing can be learned about URL evidence."""
        return self.spelled_share > MIN_SPELLED

    @property
    def spelled_share(self) -> float:
        """Share of the relevant pages that were fetched whose URLs spell a label of the topic's path."""
        counts = [row["urls"][self.relevance] for row in self.rows]
        spelled = sum(own["own"] + own["only_context"] for own in counts)
        return float(spelled / max(sum(own["relevant"] for own in counts), 1))


def _per_fetch(row: Row, kind: str) -> Curve:
    sums = row["portions"][kind]
    return [value / (row["pages"] * part / len(sums)) for part, value in enumerate(sums, start=1)]


def groups(rows: Sequence[Row], *, circular: bool = False) -> Iterator[LanguageGroup]:
    """Group rows by language and by the definition of relevance; circular figures are separate, if requested.

    Generated webs and the archipelago, which have shapes and budgets of their own, are groups by themselves.
    """

    def place(row: Row) -> tuple[str, bool, float, str]:
        web, strength = row["web"], taxonomy_strength(row["web"])
        alone = web if strength is not None or web == "archipelago" else ""
        return language_of(web), web in CIRCULAR, strength or 0.0, alone

    for (language, is_circular, *_), found in groupby(sorted(rows, key=place), key=place):
        own = list(found)
        webs = ", ".join(sorted({row["web"] for row in own}))
        title = f"{'English' if language == 'en' else 'Chinese'} topics ({webs})"
        relevance = "text" if is_circular else "labels"
        where = f"{webs} by text" if is_circular else webs
        yield LanguageGroup(f"{title}, relevance by {relevance}", where, own, relevance)
        if is_circular and circular:
            yield LanguageGroup(f"{title}, circular: the labels are the URLs", webs, own, "labels", circular=True)


def strength_table(rows: Sequence[Row], better: str, worse: str) -> list[Table]:
    """Compare two crawlers on generated webs as their URLs and links follow the taxonomy more; none without rows."""
    lines: list[list[Cell]] = []
    for group in groups(rows):
        web = group.rows[0]["web"]
        strength, curves = taxonomy_strength(web), group.precision((better, worse))
        if strength is None or not curves[better]:
            continue
        pair = compare(curves, better, worse)
        means = (100 * mean(value for curve in curves[name].values() for value in curve) for name in (better, worse))
        lines.append([web, f"{strength:.0%}", len(curves[better]), 100 * group.spelled_share, *means,
                      with_interval(pair.gain, scale=100, sign="+"), f"{pair.above} of {pair.portions}"])  # fmt: skip
    columns = ["web", "strength", "topics", "URLs that spell labels %", f"{better}: mean precision %",
               f"{worse}: mean precision %", "difference", "portions ahead"]  # fmt: skip
    title = "As URLs and links follow the taxonomy more (precision is the mean over the curve)"
    return [Table(title=title, columns=columns, rows=lines)] if lines else []

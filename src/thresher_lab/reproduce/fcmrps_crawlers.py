"""The four crawlers of FCMRPS, the webs they are compared on, and their crawls sorted by language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from thresher_lab.reproduce.claims import Curve, Row, paired
from thresher_lab.reproduce.plans import Ground, TrialSettings
from thresher_lab.reproduce.webs import CIRCULAR, SECTIONS_WEB, language_of
from thresher_lab.simulation.comparison_plan import Contender

BREADTH, BEST, SHARK, FCMRPS = "breadth-first", "best-first (D=3)", "shark (form=fcmrps)", "fcmrps"
NAMES = (BREADTH, BEST, SHARK, FCMRPS)
FOUR = [
    Contender(strategy="breadth-first"),
    Contender(strategy="best-first", parameters={"D": 3}),
    Contender(strategy="shark", parameters={"form": "fcmrps"}),
    Contender(strategy="fcmrps"),
]
LEAST_SPELLED = 0.01
"""Share of relevant pages whose URLs must spell a label of the topic where URLs are tested."""
TERMS = TrialSettings(seeds=3, judge="cosine")
"""As in the paper, crawls judge pages by the cosine with the topic's labels; the measures use another judge."""
SINGLE_WEBS = [
    Ground(web="wikispeedia", topics=20),
    Ground(web="w3school_zh", topics=8),
    Ground(web="mdn_zh", topics=8),
    Ground(web=SECTIONS_WEB, topics=8),
]
LARGE_WEBS = [Ground(web="generated-en", topics=3, pages=10_000), Ground(web="generated-zh", topics=3, pages=10_000)]
SMALLER_WEBS = [Ground(web="generated-en-10000", topics=5), Ground(web="generated-zh-10000", topics=5)]


class LanguageGroup:
    """Crawls of one language, and how relevance is defined there.

    Args:
        relevance: ``labels``; or ``text`` where labels are derived from URLs, which would be circular.
        circular: Whether relevance is derived from URLs nevertheless; such figures are shown, but prove nothing.
    """

    def __init__(self, title: str, rows: Sequence[Row], relevance: str, *, circular: bool = False) -> None:
        self.title = title
        self.rows = rows
        self.relevance = relevance
        self.circular = circular

    def precision(self, names: Sequence[str]) -> dict[str, dict[str, Curve]]:
        """Return relevant pages per fetch after each portion."""
        return paired(self.rows, names, lambda row: _per_fetch(row, self.relevance))

    def information(self, names: Sequence[str]) -> dict[str, dict[str, Curve]]:
        """Return the sum of information per fetch after each portion."""
        return paired(self.rows, names, lambda row: _per_fetch(row, "information"))

    @property
    def spells_topics(self) -> bool:
        """Whether URLs of relevant pages spell labels at all; otherwise nothing can be learned about URL evidence."""
        counts = [row["urls"][self.relevance] for row in self.rows]
        spelled = sum(own["own"] + own["only_context"] for own in counts)
        return bool(spelled > LEAST_SPELLED * sum(own["relevant"] for own in counts))


def _per_fetch(row: Row, kind: str) -> Curve:
    sums = row["portions"][kind]
    return [value / (row["pages"] * part / len(sums)) for part, value in enumerate(sums, start=1)]


def groups(rows: Sequence[Row], *, circular: bool = False) -> Iterator[LanguageGroup]:
    """Group rows by language and by the definition of relevance; circular figures are separate, if requested."""

    def place(row: Row) -> tuple[str, bool, bool]:
        return language_of(row["web"]), row["web"] in CIRCULAR, row["web"].startswith("generated")

    for (language, is_circular, _), found in groupby(sorted(rows, key=place), key=place):
        own = list(found)
        webs = ", ".join(sorted({row["web"] for row in own}))
        title = f"{'English' if language == 'en' else 'Chinese'} topics ({webs})"
        relevance = "text" if is_circular else "labels"
        yield LanguageGroup(f"{title}, relevance by {relevance}", own, relevance)
        if is_circular and circular:
            yield LanguageGroup(f"{title}, circular: the labels are the URLs", own, "labels", circular=True)

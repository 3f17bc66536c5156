"""The page of all experiments for the documentation, made from their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from thresher.lab.reproduce.claims import Verdict
from thresher.lab.reproduce.tables import Report, markdown

_INTRODUCTION = """\
# The papers' experiments, here

Written by `thresher lab reproduce --report --page` from the rows of the runs. The papers ran on the live web of their
year; these are frozen and generated webs, where a crawl can be repeated and what it missed is known. So what can be
reproduced is the order of crawlers and how far they are apart, not the figures themselves.

A claim *a > b* **holds** when the mean over topics of a is higher at every portion of the crawls and the mean of its
curve is surely higher (95 % interval of the difference, topics drawn with replacement). It **holds in part** when a is
ahead on average but not everywhere or not surely, or when only a part of a longer order holds; otherwise it **does not
hold here**. On averages, not ends, because on a frozen web all crawls may find everything in the end.
"""


def reproduction_page(reports: Sequence[Report]) -> str:
    """Write the page: what became of all claims, then every experiment."""
    lines = [_INTRODUCTION, *_summary(reports)]
    for report in reports:
        lines += markdown(report)
    return "\n".join(lines).rstrip() + "\n"


def _summary(reports: Sequence[Report]) -> Iterator[str]:
    yield from (f"| experiment | {' | '.join(Verdict)} |", f"|---|{'---|' * len(Verdict)}")
    for report in reports:
        counts = Counter(finding.verdict for finding in report.findings)
        yield f"| {report.name}: {report.title} | {' | '.join(str(counts[verdict] or '') for verdict in Verdict)} |"
    yield ""

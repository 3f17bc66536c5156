"""How sure is the number of relevant pages? An interval around it, which labels narrow.

Verdicts may all be too generous or too strict for a topic. The log-odds of the share of relevant pages are then off by
a number that is about the same for few and for many of them. `DEVIATION` covers 86 % of the crawls of dev topics, with
any share on topic (``python -m bench.effectiveness.cut_constants``); labels of people make it smaller.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

from thresher.frontier.base import Counts
from thresher.locale.translation import _

DEVIATION = 1.7
ANSWERS = 4.0
"""Labels after which the deviation is smaller by the root of two."""
CERTAIN = 3.0
"""An interval whose end is at most this multiple of its beginning needs no more labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountInterval:
    """An interval for the number of pages on topic.

    Args:
        relevant: Relevant pages by the current verdicts.
    """

    relevant: int
    least: int
    most: int

    @property
    def is_certain(self) -> bool:
        return self.most <= CERTAIN * max(self.least, 1)

    def words(self, name: object) -> str:
        """Return the interval, and when it is wide, the command that narrows it."""
        if self.is_certain:
            return str(self)
        return _("{interval}; 10 answers would make this surer: thresher label {name}", interval=str(self), name=name)

    def __str__(self) -> str:
        return _(
            "about {relevant:,} relevant ({least:,} to {most:,})",
            relevant=self.relevant,
            least=self.least,
            most=self.most,
        )


def share_log_odds(relevant: float, pages: int) -> float:
    """Return the log-odds of a share; with half a page more on each side, so that it is always finite."""
    return log((relevant + 0.5) / (pages - relevant + 0.5))


def count_interval(counts: Counts, labels: int) -> CountInterval:
    """Return the interval of a crawl.

    Args:
        labels: How many of its pages have labels of people.
    """
    pages = counts.pages - counts.duplicates
    middle, deviation = share_log_odds(counts.relevant, pages), DEVIATION / (1.0 + labels / ANSWERS) ** 0.5
    least, most = ((pages + 1) / (1.0 + exp(-(middle + side))) - 0.5 for side in (-deviation, deviation))
    return CountInterval(
        relevant=counts.relevant,
        least=min(max(round(least), 0), counts.relevant),
        most=max(min(round(most), pages), counts.relevant),
    )

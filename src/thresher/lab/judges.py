"""Judges that only a lab can have."""

from __future__ import annotations

from collections.abc import Sequence

from thresher.lab.virtualweb import Web
from thresher.records import Judgement, ParsedPage, Word


class PerfectJudge:
    """Knows the labels: what a crawl is worth when judging costs nothing and never errs.

    It replaces the verdict alone; what strategies compute from words they still compute from words.
    """

    def __init__(self, web: Web, topic: str) -> None:
        self._web = web
        self._topic = topic

    def judge(self, page: ParsedPage) -> Judgement:
        """Reveal the label of a fetched page."""
        relevant = self._web.is_topic(page.url, self._topic)
        return Judgement(relevance=float(relevant), relevant=relevant, parts={"label": float(relevant)})

    def words(self, page: ParsedPage) -> Sequence[Word]:
        """Give none: it does not read."""
        return ()

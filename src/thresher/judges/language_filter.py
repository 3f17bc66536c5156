"""Judges that accept pages in the wanted languages only.

A page in another language is not relevant, whatever its words. Pages of unknown language (too little text) and pages
that a person labelled are left to the judge. A learner is not trained on rejected pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from thresher.judges.base import Judge, Learner, StateStore
from thresher.records import LABEL_PART, LANGUAGE_PART, Judgement, ParsedPage, Revision, TermWeight
from thresher.text.languages import RECOGNISED

_REJECTED = Judgement(relevance=0.0, relevant=False, parts={LANGUAGE_PART: 1.0})


def wanted_codes(languages: Iterable[str]) -> frozenset[str]:
    """Return the languages to filter by; none when one of them cannot be identified in a text."""
    codes = frozenset(language.partition("-")[0].lower() for language in languages)
    return codes if codes <= RECOGNISED else frozenset()


def only_languages(judge: Judge, languages: Iterable[str]) -> Judge:
    """Return a judge that rejects pages in other languages; the judge itself when there is nothing to filter by."""
    codes = wanted_codes(languages)
    if not codes:
        return judge
    return LearningLanguageFilter(judge, codes) if isinstance(judge, Learner) else LanguageFilter(judge, codes)


class LanguageFilter:
    """A judge that rejects pages in other languages.

    Args:
        judge: Judges the other pages.
        languages: Codes of the wanted languages.
    """

    def __init__(self, judge: Judge, languages: frozenset[str]) -> None:
        self._judge = judge
        self._languages = languages

    def judge(self, page: ParsedPage) -> Judgement:
        return self._filtered(self._judge.judge(page), page.language)

    def words(self, page: ParsedPage) -> Sequence[TermWeight]:
        return self._judge.words(page)

    def _filtered(self, judgement: Judgement, language: str) -> Judgement:
        accepted = not language or language in self._languages or judgement.parts.get(LABEL_PART) in (0.0, 1.0)
        return judgement if accepted else _REJECTED


class LearningLanguageFilter(LanguageFilter):
    """A learner that rejects pages in other languages, and does not learn from them."""

    _judge: Learner

    def __init__(self, judge: Learner, languages: frozenset[str]) -> None:
        super().__init__(judge, languages)

    @property
    def pages_seen(self) -> int:
        return int(getattr(self._judge, "pages_seen", 0))

    def learn(self, page: ParsedPage, *, seed: bool = False) -> Sequence[Revision]:
        if page.language and page.language not in self._languages and self.judge(page) is _REJECTED:
            return ()
        return self._judge.learn(page, seed=seed)

    def teach(self, labelled: Mapping[str, float | None]) -> Sequence[Revision]:
        return self._judge.teach(labelled)

    def vector(self, page: ParsedPage) -> bytes:
        return self._judge.vector(page)

    def judge_vector(self, url: str, language: str, vector: bytes) -> Judgement | None:
        judgement = self._judge.judge_vector(url, language, vector)
        return self._filtered(judgement, language) if judgement else None

    def remembers(self, url: str) -> bool:
        return self._judge.remembers(url)

    def load_state(self, state_store: StateStore) -> None:
        self._judge.load_state(state_store)

    def save_state(self) -> None:
        self._judge.save_state()

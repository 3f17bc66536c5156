"""Judges that accept pages in the wanted languages only.

A page in another language is not relevant, whatever its words. Pages of unknown language (too little text) and pages
that a person labelled are left to the judge. A learner is not trained on rejected pages. The wanted languages are those
that the user chose, or those of the topic's phrases and of the seeds.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence

from thresher.judges.base import Judge, Learner, Reasons, StateStore, reasons_of
from thresher.records import LABEL_PART, LANGUAGE_PART, Judgement, ParsedPage, Revision, TermWeight
from thresher.text.languages import RECOGNISED
from thresher.topics.profile import TopicProfile
from thresher.topics.topic import TopicDefinition

CHECK_REJECTED = 25
"""Rejected pages after which the languages that other workers found are read again."""
_STATE = "languages"
_REJECTED = Judgement(relevance=0.0, relevant=False, breakdown={LANGUAGE_PART: 1.0})


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


def seed_languages(
    judge: Judge, topic: TopicDefinition, profile: TopicProfile, more_seeds: Collection[str] = ()
) -> Judge:
    """Return a judge that rejects pages in languages that neither the topic's phrases nor the seeds are in.

    Only a learner sees the seeds: any other judge is returned as it is, and accepts all languages.
    """
    seeds = {*profile.seeds, *profile.yes, *more_seeds} - profile.no
    return SeedLanguageFilter(judge, topic, seeds) if isinstance(judge, Learner) else judge


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
        accepted = not language or self._accepts(language) or judgement.breakdown.get(LABEL_PART) in (0.0, 1.0)
        return judgement if accepted else _REJECTED

    def _accepts(self, language: str) -> bool:
        return language in self._languages


class LearningLanguageFilter(LanguageFilter):
    """A learner that rejects pages in other languages, and does not learn from them."""

    _judge: Learner

    def __init__(self, judge: Learner, languages: frozenset[str]) -> None:
        super().__init__(judge, languages)

    @property
    def pages_seen(self) -> int:
        return int(getattr(self._judge, "pages_seen", 0))

    def learn(self, page: ParsedPage, *, seed: bool = False) -> Sequence[Revision]:
        if page.language and not self._accepts(page.language) and self.judge(page) is _REJECTED:
            return ()
        return self._judge.learn(page, seed=seed)

    def teach(self, labelled: Mapping[str, float | None]) -> Sequence[Revision]:
        return self._judge.teach(labelled)

    def vector(self, page: ParsedPage) -> bytes:
        return self._judge.vector(page)

    def judge_vector(self, url: str, language: str, vector: bytes) -> Judgement | None:
        judgement = self._judge.judge_vector(url, language, vector)
        return self._filtered(judgement, language) if judgement else None

    def reasons(self, page: ParsedPage, vector: bytes) -> Reasons:
        return reasons_of(self._judge, page, vector)

    def remembers(self, url: str) -> bool:
        return self._judge.remembers(url)

    def load_state(self, state_store: StateStore) -> None:
        self._judge.load_state(state_store)

    def save_state(self) -> None:
        self._judge.save_state()


class SeedLanguageFilter(LearningLanguageFilter):
    """A learner that rejects pages in languages that neither the topic's phrases nor the seeds are in.

    The languages of the seeds are saved with the judge's state, and shared with other workers. Nothing is rejected when
    one of the languages cannot be identified in a text, nor before the first seed when the phrases are not enough.

    Args:
        judge: Judges the other pages.
        topic: Its phrases have languages, or are open.
        seeds: The URLs of the seeds; a seed at another URL is one by the argument of `learn`.
    """

    def __init__(self, judge: Learner, topic: TopicDefinition, seeds: Collection[str]) -> None:
        super().__init__(judge, frozenset(topic.languages))
        self._needs_seeds = topic.is_open or not topic.languages
        self._seeds = seeds
        self._of_seeds: set[str] = set()
        self._rejected = 0
        self._state_store: StateStore | None = None

    def learn(self, page: ParsedPage, *, seed: bool = False) -> Sequence[Revision]:
        if page.language and (seed or page.url in self._seeds) and page.language not in self._of_seeds:
            self._of_seeds.add(page.language)
            self._write()
        if page.language and not self._accepts(page.language):
            if self._rejected % CHECK_REJECTED == 0:
                self._read_others()
            self._rejected += 1
        return super().learn(page, seed=seed)

    def load_state(self, state_store: StateStore) -> None:
        self._state_store = state_store
        self._of_seeds.update(_codes(state_store.read(_STATE) or b"[]"))
        self._read_others()
        super().load_state(state_store)

    def _write(self) -> None:
        if self._state_store is not None:
            self._state_store.write(_STATE, json.dumps(sorted(self._of_seeds)).encode())

    def _accepts(self, language: str) -> bool:
        wanted = self._languages | self._of_seeds
        return language in wanted or not wanted <= RECOGNISED or (self._needs_seeds and not self._of_seeds)

    def _read_others(self) -> None:
        if self._state_store is not None:
            from thresher.modelstate.codec import readable  # needs numpy, which commands that judge nothing do not load

            entries = self._state_store.read_others(_STATE)
            self._of_seeds.update(*readable(entries, _codes, "the languages of another worker's seeds"))


def _codes(entry: bytes) -> list[str]:
    """Read language codes.

    Raises:
        ValueError: They cannot be read.
    """
    codes = json.loads(entry)
    if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        raise ValueError("languages are no list of codes")
    return codes

"""The adaptive judge: knows a topic by a phrase and some seeds, and learns from the crawl what is ordinary.

It needs no labels. Pages are compared with the seeds in the words that set them apart from what else was crawled
(`topic_model.py` has the arithmetic). After every few pages it fits anew and judges all pages of its sample again:
early verdicts rest on little, and what a crawl does next rests on them. What the topic is it never learns from its own
verdicts, only from seeds and from people. Chinese pages and others are judged by models of their own, since a page is
ordinary or not among those it shares a language with.

Workers of one crawl learn together: each writes down its examples and a draw of its sample, and puts what the others
wrote beside its own. Seeds and what people said are written down at once, the rest as `rhythm.py` has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import uuid4

from thresher.classify.base import Brief, Notebook, TermWeights
from thresher.classify.calibration import CHINESE, EARLY, LATE, OTHER, THRESHOLD
from thresher.classify.entries import readable
from thresher.classify.fields import PhraseWords, term_weights
from thresher.classify.one_language import OneLanguage, combined
from thresher.classify.rows import Terms
from thresher.classify.sample_notes import SampleNotes
from thresher.classify.topic_model import Constants
from thresher.records import Judgement, ParsedPage, Revision, Word


class AdaptiveJudge:
    """Judge pages by what sets the seeds apart from everything else that was crawled.

    Args:
        brief: The topic.
        refit_pages: Pages after which it thinks again; later after a tenth of the pages seen.
        sample_pages: Pages that are remembered, in each of the two models.
        kappa: Off-topic pages after which what the crawl says of words weighs as much as saying nothing.
        agreement: How much it counts that seeds share a word: 0 not at all.
        phrase_weight: Of the phrase against the seeds.
        threshold: The relevance from which a page is relevant.
    """

    def __init__(
        self,
        brief: Brief,
        *,
        refit_pages: int = 25,
        sample_pages: int = 4000,
        kappa: float = 100.0,
        agreement: float = 0.75,
        phrase_weight: float = 0.5,
        threshold: float = THRESHOLD,
    ) -> None:
        constants = Constants(kappa=kappa, agreement=agreement, phrase_weight=phrase_weight)
        self.threshold = threshold
        self._phrase_words = PhraseWords(brief.phrases)
        self._seeds = brief.seeds | brief.yes
        self._told: dict[str, bool | None] = {**dict.fromkeys(brief.yes, True), **dict.fromkeys(brief.no, False)}
        self._languages = {
            name: OneLanguage(
                phrase,
                replace(constants, early=EARLY[name], late=LATE[name]),
                pairs=self._phrase_words.pairs,
                refit_pages=refit_pages,
                sample_pages=sample_pages,
                threshold=threshold,
            )
            for name, phrase in phrases_by_language(brief.vectors).items()
        }
        self._notebook: Notebook | None = None
        self._worker = uuid4().hex
        self._weighed: tuple[ParsedPage, Terms] | None = None
        self._judged: tuple[ParsedPage, Judgement] | None = None

    @property
    def pages_seen(self) -> int:
        """How many pages it has learned from."""
        return sum(side.sample.seen for side in self._languages.values())

    def judge(self, page: ParsedPage) -> Judgement:
        """Compare a page with the topic as it is known now."""
        if self._judged and self._judged[0] is page:  # learned a moment ago
            return self._judged[1]
        return self._languages[language_of(page)].judge(page.url, self._weights(page))

    def vector(self, page: ParsedPage) -> bytes:
        """Give the page's terms and their weights."""
        return self._weights(page).pack()

    def judge_vector(self, url: str, language: str, vector: bytes) -> Judgement:
        """Judge a page by the terms that `vector` gave."""
        return self._languages[CHINESE if language == CHINESE else OTHER].judge(url, Terms.unpack(vector))

    def words(self, page: ParsedPage) -> Sequence[Word]:
        """Give the terms that moved the page towards the topic or away from it, the weightiest first."""
        return self._languages[language_of(page)].words(self._weights(page))

    def learn(self, page: ParsedPage, *, seed: bool = False) -> Sequence[Revision]:
        """Take a fetched page into the background, or among the examples; think again when it is time to."""
        self._judged = None
        name, told = language_of(page), self._told.get(page.url)
        side = self._languages[name]
        is_seed = seed or page.url in self._seeds
        side.take_in(page.url, self._weights(page), seed=is_seed, verdict=told)
        is_example = self._read_others(name) or is_seed or told is not None
        revisions = side.think_again() if is_example or side.is_due() else []
        self._judged = (page, self.judge(page))
        side.note(page.url, self._judged[1])
        if is_seed or told is not None or side.rhythm.is_write_due(side.sample.seen):
            self._write(name)
        return revisions

    def teach(self, told: Mapping[str, bool | None]) -> Sequence[Revision]:
        """Take a person's word on pages; it counts at once for those that are remembered, for others when they come."""
        self._told.update(told)
        self._judged = None
        revisions: list[Revision] = []
        for name, side in self._languages.items():
            if known := {url: relevant for url, relevant in told.items() if url in side.sample}:
                side.tell(known)
                revisions += side.think_again()
                self._write(name)
        return revisions

    def effective_thresholds(self) -> Mapping[str, float]:
        """Return, by language (``zh`` and ``other``), the threshold that labels amount to.

        It is in terms of the probability before labels correct it; without labels it is the threshold itself.
        """
        return {name: side.correction.effective(self.threshold) for name, side in self._languages.items()}

    def remembers(self, url: str) -> bool:
        """Tell whether a page is in the sample."""
        return any(url in side.sample for side in self._languages.values())

    def keep_in(self, notebook: Notebook) -> None:
        """Take up what was learned before, and write down what is learned from now on."""
        self._notebook = notebook
        for name, side in self._languages.items():
            if entry := notebook.read(_kind(name)):
                self._worker = side.go_on_from(entry)
        for name, side in self._languages.items():
            self._read_others(name, at_once=True)
            side.fit_again()

    def write_down(self) -> None:
        """Write down what was learned since the last time."""
        for name, side in self._languages.items():
            if side.sample.seen:
                self._write(name)

    def _write(self, name: str) -> None:
        side = self._languages[name]
        if self._notebook is not None:
            self._notebook.write(_kind(name), side.entry(self._worker))
        side.rhythm.written(side.sample.seen)

    def _read_others(self, name: str, *, at_once: bool = False) -> bool:
        """Look now and then at what the other workers wrote; tell whether they have met an example."""
        side = self._languages[name]
        if self._notebook is None or not (at_once or side.rhythm.is_read_due(side.sample.seen)):
            return False
        side.rhythm.read(side.sample.seen)
        entries = readable(self._notebook.read_others(_kind(name)), SampleNotes.read, "a judge's sample")
        news = [side.take_over(other) for other in entries if other.worker != self._worker]
        return any(news)

    def _weights(self, page: ParsedPage) -> Terms:
        """Weigh a page's terms once for judge, learn and words."""
        if self._weighed is None or self._weighed[0] is not page:
            self._weighed = (page, self._phrase_words.mark(page, self._plain_weights(page)))
        return self._weighed[1]

    def _plain_weights(self, page: ParsedPage) -> Terms:
        """Weigh a page's terms, whatever the topic is."""
        return term_weights(page)


def _kind(name: str) -> str:
    return f"sample-{name}"


def language_of(page: ParsedPage) -> str:
    """Return which of the two models judges a page."""
    return CHINESE if page.language == CHINESE else OTHER


def phrases_by_language(vectors: Mapping[str, TermWeights]) -> dict[str, Mapping[str, float]]:
    """Give each side the topic's words in its language, and all of them when it has none of its own."""
    chinese = [vector for name, vector in vectors.items() if name.partition(" ")[0] == CHINESE]
    other = [vector for name, vector in vectors.items() if name.partition(" ")[0] != CHINESE]
    everything = list(vectors.values())
    return {CHINESE: combined(chinese or everything), OTHER: combined(other or everything)}

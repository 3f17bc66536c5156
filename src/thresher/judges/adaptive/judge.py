"""The adaptive judge: defines the topic by a phrase and seeds, and learns from the crawl what is ordinary.

It needs no labels. Pages are compared with the seeds by the terms that distinguish the seeds from the rest of the crawl
(`topic_model.py` has the arithmetic). Every few pages it refits and judges all pages of its sample again: early
verdicts are based on few pages, and the next steps of the crawl depend on them. It never learns the topic from its own
verdicts, only from seeds and labels. There are two models, for Chinese and for other pages, since a page is compared
with the background in its own language.

The workers of a crawl learn together: each saves its examples and a snapshot of its sample, and merges what the others
saved. Seeds and labels are saved at once, the rest by `modelstate/schedule.py`.

`LanguageModel` is the judge in one language: its sample of the crawl, its examples, and the model fitted to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from thresher.judges.adaptive.calibration import (
    CHINESE,
    EARLY,
    LATE,
    OTHER,
    THRESHOLD,
    Openings,
    chance_of,
    log_odds,
    logits_of,
)
from thresher.judges.adaptive.cut import CUT, MIN_PAGES, STEP, predicted_shift
from thresher.judges.adaptive.label_correction import LabelledRows
from thresher.judges.adaptive.label_learner import (
    MAX_LABELS,
    OFFSET_DEVIATION,
    LabelEffect,
    PageAxes,
    learn_labels,
    page_axes,
)
from thresher.judges.adaptive.reservoir import Reservoir
from thresher.judges.adaptive.snapshot import EntrySizer, LearnerState
from thresher.judges.adaptive.terms import TITLED, Matrix, Numbers, PhraseWords, TermVector, Weights, term_weights
from thresher.judges.adaptive.topic_model import TopicExamples, TopicModel, TopicModelConstants, TopicSimilarity, fit
from thresher.judges.base import (
    FINAL_PAGES,
    MAX_WORDS,
    MIN_CHANGE,
    NearestExample,
    Reasons,
    StateStore,
    is_certain,
    label_weight,
    with_label,
)
from thresher.modelstate.codec import readable
from thresher.modelstate.schedule import RefitSchedule
from thresher.records import LABEL_PART, UNLABELLED_PART, Judgement, ParsedPage, Revision, TermWeight
from thresher.text.vectors import Vector
from thresher.text.word_vectors import WordVectors, load_word_vectors
from thresher.topics.profile import TopicProfile

MAX_EXAMPLES = 100
"""Upper bound of permanent positive examples, and of permanent negative ones."""
NOT_JUDGED = -1.0
TOPIC_TERM_SHARE = 0.25
"""A term speaks for the topic from this share of the weight of the topic's weightiest term."""


class LanguageModel:
    """The topic model of one language with its sample and labels.

    Args:
        phrase: The topic's own terms and their weights.
        pairs: Terms for adjacent words of the phrase.
        titles: Terms for words that name a page, by phrase.
        refit_pages: Pages until the next refit; later a tenth of the pages seen.
        sample_pages: Sample size.
        threshold: The relevance from which a page is relevant.
        cut: The weights by which the shift of the probabilities follows the crawl (`cut.py`); None for no shift.
        offset_deviation: How far labels may move all pages at once, before any label (`label_learner.py`).
        word_vectors: The table that openings of pages are compared by, if any.
    """

    def __init__(
        self,
        phrase: Vector,
        constants: TopicModelConstants,
        *,
        pairs: Sequence[str] = (),
        titles: Sequence[Sequence[str]] = (),
        refit_pages: int = 25,
        sample_pages: int = 4000,
        threshold: float = THRESHOLD,
        cut: Sequence[float] | None = None,
        offset_deviation: float = OFFSET_DEVIATION[OTHER],
        word_vectors: WordVectors | None = None,
    ) -> None:
        self.sample = Reservoir(sample_pages, word_vectors=word_vectors)
        self._common = word_vectors.common() if word_vectors else None
        self._phrase, self._pairs, self._titles = phrase, pairs, titles
        self._constants = constants
        self._threshold = threshold
        self._cut = cut
        self._offset_deviation = offset_deviation
        self._shift, self._shift_pages = 0.0, 0
        self._axes: tuple[int, PageAxes] | None = None
        self._rows: dict[str, Weights] = {}
        self._effect: LabelEffect | None = None
        self.refit_schedule = RefitSchedule(refit_pages)
        self._fitting = EntrySizer()
        self._seeds: dict[str, None] = {}
        self._labelled: dict[str, float | None] = {}
        self._labelled_elsewhere: dict[str, float | None] = {}
        self._given: dict[str, float] = {}
        self._relevance: dict[str, float] = {}
        self._refit()

    def judge(self, url: str, terms: TermVector) -> Judgement:
        numbers, model = self.sample.numbers(terms), self._model
        known = (numbers >= 0) & (numbers < len(model.importance))
        new = terms.weights[~known]
        opening = self.sample.opening(terms)
        s = model.similarity(numbers[known], terms.weights[known], float(new @ new), opening)
        logit = log_odds(float(model.probabilities([s])[0])) + self._shift
        return self._judgement(url, s, logit + self._label_shift(numbers, terms.weights))

    def _label_shift(self, numbers: Numbers, weights: Weights) -> float:
        """Return what labels add to the logit of a page."""
        if self._effect is None or self._axes is None:
            return 0.0
        known = np.flatnonzero(numbers >= 0)
        starts, one = np.array([0, len(known)]), np.ones(1)
        page = Matrix(numbers=numbers[known].astype(np.intp), weights=weights[known], starts=starts, pages=one)
        return float(self._effect.of(self._axes[1].features(page))[0])

    def record_judgement(self, url: str, judgement: Judgement) -> None:
        """Store the last judgement of a page, so that changes can be reported."""
        if url in self.sample:
            self._given[url], self._relevance[url] = judgement.reward, judgement.relevance

    def reasons(self, url: str, terms: TermVector) -> Reasons:
        """Return the terms that speak for and against the page, and the nearest example.

        With z of length 1, the similarity is the sum of ``z topic``. A term that is important for the topic, and that
        not only a single example has, speaks for the page with that. Any other speaks against it as far as it adds less
        than its part of the similarity of a good page, ``level z²``; what it adds beyond that is no reason, since every
        page shares words with a seed that are not of the topic.
        """
        numbers, model = self.sample.numbers(terms), self._model
        known = (numbers >= 0) & (numbers < len(model.importance))
        z, topic = terms.weights.copy(), np.zeros(len(numbers))
        z[known] *= model.importance[numbers[known]]
        topic[known] = model.corrected[numbers[known]]
        z /= float(np.sqrt(z @ z)) or 1.0
        least = max(TOPIC_TERM_SHARE * float(model.corrected.max(initial=0.0)), 1e-9)
        of_topic = (topic >= least) & self._is_of_topic(terms.names, numbers)
        parts = np.where(of_topic, z * topic, np.minimum(z * (topic - model.level * z), 0.0))
        best = np.argsort(-np.abs(parts), kind="stable")
        named = [(terms.names[place], float(parts[place])) for place in best]
        words = [TermWeight(term=term, weight=weight) for term, weight in named if not term.startswith(TITLED)]
        return Reasons(words=_some_of_each(words), nearest=self._nearest(url, numbers[known], z[known]))

    def _is_of_topic(self, names: Sequence[str], numbers: Numbers) -> NDArray[np.bool_]:
        """Return for each term whether it is one of the phrase, or of two examples; all are, with an example alone."""
        rows = [row.numbers for row in self.sample.kept_rows if self._is_example(row.url)]
        if not self._phrase and len(rows) < 2:
            return np.ones(len(numbers), dtype=np.bool_)
        examples = np.bincount(np.concatenate([*rows, [0]]).astype(np.intp), minlength=len(self.sample.terms) + 1)
        named = np.fromiter((name in self._phrase or name in self._pairs for name in names), np.bool_, len(names))
        return named | ((numbers >= 0) & (examples[numbers] > 1))

    def _nearest(self, url: str, numbers: Numbers, z: Weights) -> NearestExample | None:
        importance, page = self._model.importance, np.zeros(len(self._model.importance))
        page[numbers] = z
        nearest = None
        for row in self.sample.kept_rows:
            known = row.numbers < len(importance)
            other = row.weights[known] * importance[row.numbers[known]]
            similarity = float(page[row.numbers[known]] @ other / (np.sqrt(other @ other) or 1.0))
            if row.url != url and (nearest is None or similarity > nearest.similarity):
                nearest = NearestExample(url=row.url, similarity=similarity, label=self.verdict(row.url))
        return nearest

    def add(self, url: str, terms: TermVector, *, seed: bool, verdict: float | None) -> None:
        """Add a page: permanently when it is an example, else by reservoir sampling."""
        if verdict is not None:
            self._labelled[url] = verdict
        if (seed or verdict is not None) and self._has_room(1.0 if verdict is None else verdict):
            if seed:
                self._seeds[url] = None
            self.sample.keep(url, terms)
        elif left := self.sample.add(url, terms):
            self._given.pop(left, None)
            self._relevance.pop(left, None)

    def set_labels(self, labelled: Mapping[str, float | None]) -> None:
        """Set labels of pages of the sample; None withdraws a label."""
        for url, relevant in labelled.items():
            self._labelled[url] = relevant
            if url in self._given:
                self._given[url] = NOT_JUDGED  # the next judgement is reported as a change
            if relevant is not None and self._has_room(relevant):
                self.sample.keep_known(url)

    def _has_room(self, label: float) -> bool:
        """Return whether one more positive (or negative) example may be kept permanently; of models, half as many."""
        refused = sum(_is_no(self.verdict(url)) for url in self.sample.kept_urls)
        most = MAX_EXAMPLES if is_certain(label) else MAX_EXAMPLES // 2
        return (refused if _is_no(label) else self.sample.kept - refused) < most

    def verdict(self, url: str) -> float | None:
        """Return the label of a page, by a model its probability: given to this worker, or else to another."""
        return self._labelled[url] if url in self._labelled else self._labelled_elsewhere.get(url)

    def _is_example(self, url: str) -> bool:
        verdict = self.verdict(url)
        return url in self._seeds if verdict is None else not _is_no(verdict)

    def is_due(self) -> bool:
        return self.refit_schedule.is_fit_due(self.sample.seen, self.sample.seen_by_all, len(self.sample))

    def refit(self) -> list[Revision]:
        """Refit, and judge all pages of the sample again; return the judgements that changed."""
        terms = len(self.sample.terms)
        self.sample.forget_unused_terms()
        if len(self.sample.terms) < terms:  # they have new indices
            self._axes = None
        similarities = self._refit()
        self.refit_schedule.fit(self.sample.seen, self.sample.seen_by_all)
        urls, logits = self._scored
        return [
            Revision(url=url, judgement=judgement)
            for url, s, logit in zip(urls, similarities, logits.tolist(), strict=True)
            if (judgement := self._changed(url, s, logit))
        ]

    def refit_silently(self) -> None:
        """Refit without reporting revisions: earlier judgements belong to a previous run."""
        self._refit()
        self.refit_schedule.fit(self.sample.seen, self.sample.seen_by_all)

    def _refit(self) -> list[TopicSimilarity]:
        """Fit model, shift and effect of labels; return the similarities of every page of the sample."""
        self._model, similarities = self._fit()
        chances = self._model.probabilities(similarities)
        self._follow_crawl(chances)
        self._scored = (self.sample.urls, self._learn_labels(logits_of(chances) + self._shift))
        return similarities

    def _learn_labels(self, logits: Weights) -> Weights:
        """Learn from the labels of pages of the sample; return the logits of all pages of the sample after that."""
        labels = {
            place: label
            for place, url in enumerate(self.sample.urls)
            if (label := self.verdict(url)) is not None and (label == 0.0 or url not in self._seeds)
        }
        places, self._effect = list(labels)[-MAX_LABELS:], None
        if not places:
            return logits
        features, given = self._features(), [labels[place] for place in places]
        self._effect = learn_labels(logits[places], features[places], given, self._offset_deviation)
        return logits + self._effect.of(features)

    def _features(self) -> Weights:
        """Return φ of all pages of the sample; they stay while no page comes, so that an answer takes less time."""
        seen = self.sample.seen_by_all
        if self._axes is None or self._axes[0] != seen or not self._rows.keys() >= set(self.sample.urls):
            matrix = self.sample.matrix()
            self._axes = (seen, page_axes(matrix, len(self.sample.terms)))
            self._rows = dict(zip(self.sample.urls, self._axes[1].features(matrix), strict=True))
        return np.array([self._rows[url] for url in self.sample.urls])

    def _follow_crawl(self, chances: Weights) -> None:
        """Move the shift when there are new pages that suggest quite another one, once for a number of pages."""
        seen = self.sample.seen_by_all
        if self._cut is None or seen <= self._shift_pages:
            return
        others = np.array([url not in self._seeds for url in self.sample.urls], dtype=bool)
        if np.count_nonzero(others) < MIN_PAGES:
            return
        self._shift_pages = seen
        shift = predicted_shift(chances[others], several=self._model.scale.examples > 1, weights=self._cut)
        if abs(shift - self._shift) > STEP:
            self._shift = shift

    def _fit(self) -> tuple[TopicModel, list[TopicSimilarity]]:
        phrase = self.sample.row("", TermVector.of(self._phrase))
        urls = list(self.sample.urls)
        places = {url: place for place, url in enumerate(urls)}
        seeds = [places[url] for url in self._seeds if url in places and self.verdict(url) != 0.0]
        labels = {place: label for url, place in places.items() if (label := self.verdict(url)) is not None}
        labels = {place: label for place, label in labels.items() if label == 0.0 or urls[place] not in self._seeds}
        no = [place for place, label in labels.items() if _is_no(label)]
        yes = [place for place, label in labels.items() if not _is_no(label)]
        examples = TopicExamples(
            places=seeds or [place for place in yes if is_certain(labels[place])] or yes,
            seeds=seeds,
            pairs=self._known_terms(self._pairs),
            titles=[(len(title), self._known_terms(title)) for title in self._titles],
            labelled=LabelledRows(yes=yes, no=no, weights=[label_weight(labels[place]) for place in (*yes, *no)]),
            phrase=dict(zip(phrase.numbers.tolist(), phrase.weights.tolist(), strict=True)),
        )
        openings = None
        if self._common is not None:
            openings = Openings(self.sample.openings(), phrase.opening, self._common)
        return fit(self.sample.matrix(), len(self.sample.terms), examples, self._constants, openings)

    def _known_terms(self, names: Sequence[str]) -> list[int]:
        return [self.sample.terms[name] for name in names if name in self.sample.terms]

    def _changed(self, url: str, s: TopicSimilarity, logit: float) -> Judgement | None:
        known = self._given.get(url)
        if known is None:  # never judged: there is no judgement to revise
            return None
        now = self._judgement(url, s, logit)
        same_relevance = abs(now.relevance - self._relevance.get(url, NOT_JUDGED)) <= MIN_CHANGE
        if same_relevance and abs(now.reward - known) <= MIN_CHANGE:
            return None
        self.record_judgement(url, now)
        return now

    def _reward(self, url: str, s: TopicSimilarity) -> float:
        """Return the reward: 1 with a positive label, half of the model's with a negative one, as links may be good.

        A label that counts less moves the reward less.
        """
        labelled, reward = self.verdict(url), self._model.reward(s)
        if labelled is None:
            return reward
        target, weight = reward / 2 if _is_no(labelled) else 1.0, label_weight(labelled)
        return target * weight + reward * (1.0 - weight)

    def _judgement(self, url: str, s: TopicSimilarity, logit: float) -> Judgement:
        """Make the judgement from the similarity, and from the logit after the shift of the crawl and labels."""
        labelled, model, relevance = self.verdict(url), self._model, chance_of(logit)
        breakdown = {"similarity": s.plain, "background level": model.middle, "topic level": model.level}
        if s.titled:
            breakdown["titled"] = s.titled
        if s.corrected != s.plain:
            breakdown["label correction"] = s.corrected - s.plain
        if labelled is not None:
            breakdown |= {LABEL_PART: float(labelled), UNLABELLED_PART: relevance}
            relevance = with_label(relevance, labelled)
        return Judgement(
            relevance=relevance,
            relevant=relevance >= self._threshold,
            reward=self._reward(url, s),
            breakdown=breakdown,
            final=self.sample.seen_by_all >= FINAL_PAGES,
        )

    def entry(self, worker: str) -> bytes:
        """Return the state to save for a restart and for other workers: examples, labels, a snapshot of the sample."""
        return self._fitting.entry(lambda most: self._state(worker, most).entry())

    def _state(self, worker: str, most: int) -> LearnerState:
        snapshot = self.sample.snapshot(most)
        return LearnerState(
            worker=worker,
            snapshot=snapshot,
            seeds=self._seeds,
            labelled=self._labelled,
            given=self._given,
            shift=self._shift,
            shift_pages=self._shift_pages,
        )

    def restore(self, entry: bytes) -> str:
        """Restore the `entry` of an earlier run; return the name of its worker."""
        state = LearnerState.read(entry)
        self.sample.restore(state.snapshot)
        self._seeds = dict.fromkeys(state.seeds)
        self._labelled.update(state.labelled)
        self._given = dict(state.given)
        self._shift, self._shift_pages = state.shift, state.shift_pages
        self.refit_schedule.written(self.sample.seen)
        return state.worker

    def merge(self, other: LearnerState) -> bool:
        """Replace the state of another worker; return whether it has a new example."""
        before = self._known()
        self._labelled_elsewhere.update(other.labelled)
        if other.shift_pages > self._shift_pages:  # the shift that follows most pages counts for all workers
            self._shift, self._shift_pages = other.shift, other.shift_pages
        for place in range(other.snapshot.kept):
            self._merge_example(other, place)
        self.sample.set_peer_snapshot(other.worker, other.snapshot)
        return self._known() != before

    def _merge_example(self, other: LearnerState, place: int) -> None:
        """Keep a permanent page of another worker, if it is still a seed or labelled."""
        url = other.snapshot.urls[place]
        is_seed, verdict = url in other.seeds, self.verdict(url)
        if url in self.sample:
            if verdict is not None and self._has_room(verdict):
                self.sample.keep_known(url)
        elif (is_seed or verdict is not None) and self._has_room(1.0 if verdict is None else verdict):
            if is_seed:
                self._seeds[url] = None
            self.sample.keep(url, TermVector.of(other.snapshot.terms_of(place)))

    def _known(self) -> dict[str, bool]:
        """Return the permanent pages, and whether they are positive examples."""
        return {url: self._is_example(url) for url in self.sample.kept_urls}


def combined(vectors: Sequence[Vector]) -> Mapping[str, float]:
    """Merge vectors by the maximum weight of each term."""
    weights: dict[str, float] = {}
    for vector in vectors:
        for term, weight in vector.items():
            weights[term] = max(weights.get(term, 0.0), weight)
    return weights


class AdaptiveJudge:
    """Judge pages by what sets the seeds apart from everything else that was crawled.

    Args:
        topic_profile: The topic.
        refit_pages: Pages until the next refit; later a tenth of the pages seen.
        sample_pages: Sample size of each of the two models.
        kappa: Off-topic pages after which term weights learned from the crawl count half.
        agreement: How much it counts that seeds share a word: 0 not at all.
        phrase_weight: Weight of the phrase relative to the seeds.
        threshold: The relevance from which a page is relevant. With ``auto`` it is 0.4, and the probabilities follow
            the crawl: where many pages are on topic, all of them rise.
    """

    auto_threshold = THRESHOLD

    def __init__(
        self,
        topic_profile: TopicProfile,
        *,
        refit_pages: int = 25,
        sample_pages: int = 4000,
        kappa: float = 100.0,
        agreement: float = 0.75,
        phrase_weight: float = 0.5,
        threshold: float | Literal["auto"] = "auto",
    ) -> None:
        constants = TopicModelConstants(kappa=kappa, agreement=agreement, phrase_weight=phrase_weight)
        self.threshold = _checked(THRESHOLD if threshold == "auto" else threshold)
        codes = {name: name.partition(" ")[0] for name in topic_profile.vectors}
        self._phrase_words = PhraseWords(topic_profile.phrases, codes.values())
        vectors = {
            name: self._phrase_words.unified(vector, codes[name]) for name, vector in topic_profile.vectors.items()
        }
        self._seeds = topic_profile.seeds | topic_profile.yes
        self._labelled: dict[str, float | None] = {**topic_profile.labelled}
        word_vectors = load_word_vectors()
        self._languages = {
            name: LanguageModel(
                phrase,
                replace(constants, early=EARLY[name], late=LATE[name]),
                pairs=self._phrase_words.pairs,
                titles=self._phrase_words.titles,
                refit_pages=refit_pages,
                sample_pages=sample_pages,
                threshold=self.threshold,
                cut=CUT[name] if threshold == "auto" else None,
                offset_deviation=OFFSET_DEVIATION[name],
                word_vectors=None if name == CHINESE else word_vectors,
            )
            for name, phrase in phrases_by_language(vectors).items()
        }
        self._state_store: StateStore | None = None
        self._worker = uuid4().hex
        self._weighed: tuple[ParsedPage, TermVector] | None = None
        self._judged: tuple[ParsedPage, Judgement] | None = None

    @property
    def pages_seen(self) -> int:
        return sum(side.sample.seen for side in self._languages.values())

    def judge(self, page: ParsedPage) -> Judgement:
        if self._judged and self._judged[0] is page:  # the page learned last
            return self._judged[1]
        return self._languages[language_of(page)].judge(page.url, self._weights(page))

    def vector(self, page: ParsedPage) -> bytes:
        return self._weights(page).pack()

    def judge_vector(self, url: str, language: str, vector: bytes) -> Judgement:
        return self._languages[CHINESE if language == CHINESE else OTHER].judge(url, TermVector.unpack(vector))

    def words(self, page: ParsedPage) -> Sequence[TermWeight]:
        return self._languages[language_of(page)].reasons(page.url, self._weights(page)).words

    def reasons(self, page: ParsedPage, vector: bytes) -> Reasons:
        return self._languages[language_of(page)].reasons(page.url, TermVector.unpack(vector))

    def learn(self, page: ParsedPage, *, seed: bool = False) -> Sequence[Revision]:
        self._judged = None
        name, labelled = language_of(page), self._labelled.get(page.url)
        side = self._languages[name]
        is_seed = seed or page.url in self._seeds
        side.add(page.url, self._weights(page), seed=is_seed, verdict=labelled)
        is_example = self._read_others(name) or is_seed or labelled is not None
        revisions = side.refit() if is_example or side.is_due() else []
        self._judged = (page, self.judge(page))
        side.record_judgement(page.url, self._judged[1])
        if is_seed or labelled is not None or side.refit_schedule.is_write_due(side.sample.seen):
            self._write(name)
        return revisions

    def teach(self, labelled: Mapping[str, float | None]) -> Sequence[Revision]:
        """Apply labels: at once for pages of the sample, for others when they are learned."""
        self._labelled.update(labelled)
        self._judged, revisions = None, list[Revision]()
        for name, side in self._languages.items():
            if known := {url: relevant for url, relevant in labelled.items() if url in side.sample}:
                side.set_labels(known)
                revisions += side.refit()
                self._write(name)
        return revisions

    def remembers(self, url: str) -> bool:
        return any(url in side.sample for side in self._languages.values())

    def load_state(self, state_store: StateStore) -> None:
        self._state_store = state_store
        for name, side in self._languages.items():
            side.refit_schedule.write_seconds = state_store.write_seconds
            if entry := state_store.read(_kind(name)):
                self._worker = side.restore(entry)
        for name, side in self._languages.items():
            self._read_others(name, at_once=True)
            side.refit_silently()

    def save_state(self) -> None:
        for name, side in self._languages.items():
            if side.sample.seen:
                self._write(name)

    def _write(self, name: str) -> None:
        side = self._languages[name]
        if self._state_store is not None:
            self._state_store.write(_kind(name), side.entry(self._worker))
        side.refit_schedule.written(side.sample.seen)

    def _read_others(self, name: str, *, at_once: bool = False) -> bool:
        """Merge the other workers' samples when that is due; return whether one has a new example."""
        side = self._languages[name]
        if self._state_store is None or not (at_once or side.refit_schedule.is_read_due(side.sample.seen)):
            return False
        side.refit_schedule.read(side.sample.seen)
        entries = readable(self._state_store.read_others(_kind(name)), LearnerState.read, "a judge's sample")
        has_new_example = [side.merge(other) for other in entries if other.worker != self._worker]
        return any(has_new_example)

    def _weights(self, page: ParsedPage) -> TermVector:
        """Return a page's term weights, cached for judge, learn and words."""
        if self._weighed is None or self._weighed[0] is not page:
            self._weighed = (page, self._phrase_words.mark(page, self._plain_weights(page)))
        return self._weighed[1]

    def _plain_weights(self, page: ParsedPage) -> TermVector:
        return term_weights(page)


def _some_of_each(words: Sequence[TermWeight]) -> list[TermWeight]:
    """Return at most half of `MAX_WORDS` for, and half against, so that many of one kind do not hide the other."""
    positive = [word for word in words if word.weight > 0][: MAX_WORDS // 2]
    negative = [word for word in words if word.weight < 0][: MAX_WORDS // 2]
    return sorted([*positive, *negative], key=lambda word: -abs(word.weight))


def _checked(threshold: object) -> float:
    if not (isinstance(threshold, int | float) and 0 <= threshold <= 1):
        raise ValueError(f"threshold must be auto or a number from 0 to 1, got {threshold!r}")
    return float(threshold)


def _is_no(label: float | None) -> bool:
    return label is not None and label < 0.5


def _kind(name: str) -> str:
    return f"sample-{name}"


def language_of(page: ParsedPage) -> str:
    """Return the name of the model that judges a page."""
    return CHINESE if page.language == CHINESE else OTHER


def phrases_by_language(vectors: Mapping[str, Vector]) -> dict[str, Mapping[str, float]]:
    """Return for each model the topic's terms in its language, or all terms when there are none."""
    chinese = [vector for name, vector in vectors.items() if name.partition(" ")[0] == CHINESE]
    other = [vector for name, vector in vectors.items() if name.partition(" ")[0] != CHINESE]
    everything = list(vectors.values())
    return {CHINESE: combined(chinese or everything), OTHER: combined(other or everything)}

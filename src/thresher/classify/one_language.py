"""The adaptive judge in one language: its sample of the crawl, its examples, and the model that was fitted to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from thresher.classify.base import TermWeights
from thresher.classify.calibration import THRESHOLD, recalibrate
from thresher.classify.rhythm import Rhythm
from thresher.classify.rows import Terms
from thresher.classify.sample import Sample
from thresher.classify.sample_notes import Fitting, SampleNotes
from thresher.classify.topic_model import Constants, Examples, Likeness, TopicModel, fit
from thresher.classify.words_of_people import Words
from thresher.records import TOLD, UNAIDED, Judgement, Revision, Word

LEAST_CHANGE = 0.01
"""A changed judgement is reported when its relevance or its reward changes by more."""
FINAL_PAGES = 500
"""Pages after which what is thought of a new page changes little."""
MOST_EXAMPLES = 100
"""Examples that the topic is told by, and pages that it is told from; whoever has more has enough."""
UNSAID = -1.0
MOST_WORDS = 50


class OneLanguage:
    """What is known of the topic in one language.

    Args:
        phrase: The topic's own words and their weights.
        pairs: Terms that stand for words of the phrase side by side.
        refit_pages: Pages after which it thinks again; later after a tenth of the pages seen.
        sample_pages: Pages that are remembered.
        threshold: The relevance from which a page is relevant.
    """

    def __init__(
        self,
        phrase: TermWeights,
        constants: Constants,
        *,
        pairs: Sequence[str] = (),
        refit_pages: int = 25,
        sample_pages: int = 4000,
        threshold: float = THRESHOLD,
    ) -> None:
        self.sample = Sample(sample_pages)
        self._phrase, self._pairs = phrase, pairs
        self._constants = constants
        self._threshold = threshold
        self.rhythm = Rhythm(refit_pages)
        self._fitting = Fitting()
        self._seeds: dict[str, None] = {}
        self._told: dict[str, bool | None] = {}
        self._heard: dict[str, bool | None] = {}
        self._given: dict[str, float] = {}
        self._relevance: dict[str, float] = {}
        self._refit()

    def judge(self, url: str, terms: Terms) -> Judgement:
        """Judge a page by its terms."""
        numbers, model = self.sample.numbers(terms), self._model
        known = (numbers >= 0) & (numbers < len(model.importance))
        new = terms.weights[~known]
        s = model.likeness(numbers[known], terms.weights[known], float(new @ new))
        return self._judgement(url, s, float(model.probabilities([s])[0]))

    def note(self, url: str, judgement: Judgement) -> None:
        """Remember the last judgement of a page, so that a change of it can be reported."""
        if url in self.sample:
            self._given[url], self._relevance[url] = judgement.reward, judgement.relevance

    def words(self, terms: Terms) -> list[Word]:
        """Give what each term adds to the page's likeness, the weightiest first."""
        numbers, model = self.sample.numbers(terms), self._model
        known = np.flatnonzero((numbers >= 0) & (numbers < len(model.importance)))  # newer terms weigh nothing yet
        z = terms.weights[known] * model.importance[numbers[known]]
        length = float(np.sqrt(z @ z)) or 1.0
        parts = z * model.bent[numbers[known]] / length
        best = np.argsort(-np.abs(parts), kind="stable")[:MOST_WORDS]
        return [Word(term=terms.names[known[place]], weight=float(parts[place])) for place in best]

    def take_in(self, url: str, terms: Terms, *, seed: bool, verdict: bool | None) -> None:
        """Remember a page: as an example when it is one, else as background, if the draw says so."""
        if verdict is not None:
            self._told[url] = verdict
        if (seed or verdict is not None) and self._has_room(verdict is not False):
            if seed:
                self._seeds[url] = None
            self.sample.keep(url, terms)
        elif left := self.sample.add(url, terms):
            self._given.pop(left, None)
            self._relevance.pop(left, None)

    def tell(self, told: Mapping[str, bool | None]) -> None:
        """Take a person's word on pages of the sample; None takes it back."""
        for url, relevant in told.items():
            self._told[url] = relevant
            if url in self._given:
                self._given[url] = UNSAID  # any judgement from now on is a change
            if relevant is not None and self._has_room(relevant):
                self.sample.keep_known(url)

    def _has_room(self, relevant: bool) -> bool:
        """Tell whether one more page of a kind may stay for good: an example, or one that a person refused."""
        refused = sum(self.verdict(url) is False for url in self.sample.kept_urls)
        return (self.sample.kept - refused if relevant else refused) < MOST_EXAMPLES

    def verdict(self, url: str) -> bool | None:
        """Return what a person said of a page: to this worker, or else to another."""
        return self._told[url] if url in self._told else self._heard.get(url)

    def _is_example(self, url: str) -> bool:
        verdict = self.verdict(url)
        return url in self._seeds if verdict is None else verdict

    def is_due(self) -> bool:
        """Tell whether it is time to think again."""
        return self.rhythm.is_fit_due(self.sample.seen, self.sample.seen_by_all, len(self.sample))

    def think_again(self) -> list[Revision]:
        """Fit anew, and judge all pages of the sample again; return what changed."""
        self.sample.forget_unused_terms()
        likenesses = self._refit()
        self.rhythm.fit(self.sample.seen, self.sample.seen_by_all)
        chances = self._model.probabilities(likenesses).tolist()
        return [
            Revision(url=url, judgement=judgement)
            for url, s, chance in zip(self.sample.urls, likenesses, chances, strict=True)
            if (judgement := self._changed(url, s, chance))
        ]

    def fit_again(self) -> None:
        """Fit anew, without a second thought about any page: what was said of it was said in another life."""
        self._refit()
        self.rhythm.fit(self.sample.seen, self.sample.seen_by_all)

    def _refit(self) -> list[Likeness]:
        """Fit model and correction to sample and labels; return the likeness of every page of the sample."""
        self._model, likenesses = self._fit()
        labels = [None if url in self._seeds else self.verdict(url) for url in self.sample.urls]
        before = self._model.probabilities(likenesses, taught=False)
        self.correction = recalibrate(before, labels, self._model.taught(likenesses))
        return likenesses

    def _fit(self) -> tuple[TopicModel, list[Likeness]]:
        phrase = self.sample.row("", Terms.of(self._phrase))
        places = {url: place for place, url in enumerate(self.sample.urls)}
        seeds = [places[url] for url in self._seeds if url in places and self.verdict(url) is not False]
        yes = [place for url, place in places.items() if self.verdict(url) and url not in self._seeds]
        no = [place for url, place in places.items() if self.verdict(url) is False]
        examples = Examples(
            places=seeds or yes,
            seeds=seeds,
            pairs=[self.sample.terms[pair] for pair in self._pairs if pair in self.sample.terms],
            words=Words(yes=yes, no=no),
            phrase=dict(zip(phrase.numbers.tolist(), phrase.weights.tolist(), strict=True)),
        )
        return fit(self.sample.matrix(), len(self.sample.terms), examples, self._constants)

    def _changed(self, url: str, s: Likeness, chance: float) -> Judgement | None:
        known = self._given.get(url)
        if known is None:  # never asked about: nobody holds an opinion that could be old
            return None
        now = self._judgement(url, s, chance)
        same_relevance = abs(now.relevance - self._relevance.get(url, UNSAID)) <= LEAST_CHANGE
        if same_relevance and abs(now.reward - known) <= LEAST_CHANGE:
            return None
        self.note(url, now)
        return now

    def _reward(self, url: str, s: Likeness) -> float:
        """Return the reward: 1 for a page with a yes, half of its own for one with a no, as its links may be good."""
        told, reward = self.verdict(url), self._model.reward(s)
        return reward if told is None else 1.0 if told else reward / 2

    def _judgement(self, url: str, s: Likeness, chance: float) -> Judgement:
        """Judge a page by its likeness and its probability before labels correct it."""
        told, model = self.verdict(url), self._model
        relevance = self.correction.apply(chance)
        parts = {"likeness": s.plain, "ordinary": model.middle, "good": model.level}
        if s.bent != s.plain:
            parts["taught"] = s.bent - s.plain
        if told is not None:
            parts |= {TOLD: float(told), UNAIDED: relevance}
            relevance = float(told)
        return Judgement(
            relevance=relevance,
            relevant=relevance >= self._threshold,
            reward=self._reward(url, s),
            parts=parts,
            final=self.sample.seen_by_all >= FINAL_PAGES,
        )

    def entry(self, worker: str) -> bytes:
        """Return what must be known to go on later, and to others: examples, what people said, a draw of the sample."""
        return self._fitting.entry(lambda most: self._notes(worker, most).entry())

    def _notes(self, worker: str, most: int) -> SampleNotes:
        draw = self.sample.draw(most)
        return SampleNotes(worker=worker, draw=draw, seeds=self._seeds, told=self._told, given=self._given)

    def go_on_from(self, entry: bytes) -> str:
        """Take up what `entry` returned in an earlier run; return whose it is."""
        notes = SampleNotes.read(entry)
        self.sample.restore(notes.draw)
        self._seeds = dict.fromkeys(notes.seeds)
        self._told.update(notes.told)
        self._given = dict(notes.given)
        self.rhythm.written(self.sample.seen)
        return notes.worker

    def take_over(self, other: SampleNotes) -> bool:
        """Put what another worker wrote in the place of what it wrote before; tell whether it has a new example."""
        before = self._known()
        self._heard.update(other.told)
        for place in range(other.draw.kept):
            self._take_example(other, place)
        self.sample.borrow(other.worker, other.draw)
        return self._known() != before

    def _take_example(self, other: SampleNotes, place: int) -> None:
        """Keep a page that another worker keeps, if it still is what that one keeps it for."""
        url = other.draw.urls[place]
        is_seed, verdict = url in other.seeds, self.verdict(url)
        if url in self.sample:
            if verdict is not None and self._has_room(verdict):
                self.sample.keep_known(url)
        elif (is_seed or verdict is not None) and self._has_room(verdict is not False):
            if is_seed:
                self._seeds[url] = None
            self.sample.keep(url, Terms.of(other.draw.terms_of(place)))

    def _known(self) -> dict[str, bool]:
        """Say which pages stay for good, and whether they are examples."""
        return {url: self._is_example(url) for url in self.sample.kept_urls}


def combined(vectors: Sequence[TermWeights]) -> Mapping[str, float]:
    """Put several vectors together: of each term the greatest weight."""
    weights: dict[str, float] = {}
    for vector in vectors:
        for term, weight in vector.items():
            weights[term] = max(weights.get(term, 0.0), weight)
    return weights

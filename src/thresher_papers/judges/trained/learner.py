"""Judges that train a binary classifier on examples against the crawl's background.

The input is a phrase and some seeds. Seeds and pages with a positive label are the positive examples; a sample of all
other crawled pages is the negative class, although some of them are positive. Until there is an example and a
background, and for pages in a language without an example, the cosine with the phrase is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import exp
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from thresher.errors import ConfigError
from thresher.judges.adaptive.calibration import CHINESE
from thresher.judges.adaptive.terms import TermVector
from thresher.judges.base import FINAL_PAGES, MAX_WORDS, MIN_CHANGE, StateStore, with_label
from thresher.judges.cosine import CosineJudge
from thresher.modelstate.codec import ENTRY_BYTES, pack_both, readable, unpack_both
from thresher.modelstate.schedule import RefitSchedule
from thresher.records import LABEL_PART, Judgement, ParsedPage, Revision, TermWeight
from thresher.topics.profile import TopicProfile
from thresher_papers.judges.estimators.sections import Counts, weighted_counts
from thresher_papers.judges.persistence.codec import decode, encode
from thresher_papers.judges.persistence.scorer import PlainScorer
from thresher_papers.judges.trained.examples import OtherPages, TrainingPages, most_frequent

_PREFIX = "model."


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedModel:
    """A binary linear model with calibrated probabilities, for one page at a time.

    Args:
        scorer: The linear model; its classes are False and True.
        slope: Increase of the log-odds per unit of margin.
        offset: The log-odds of a page whose margin is 0.
    """

    scorer: PlainScorer
    slope: float
    offset: float

    def knows(self, counts: Counts) -> bool:
        """Return whether any term of a page is in the vocabulary."""
        return not self.scorer.vocabulary.keys().isdisjoint(counts)

    def margin(self, counts: Counts) -> float:
        scores = self.scorer.scores(counts)
        return scores[True] - scores[False]

    def probability(self, margin: float) -> float:
        """Return the probability that a page with this margin is about the topic."""
        return 1.0 / (1.0 + exp(-max(-50.0, min(50.0, self.slope * margin + self.offset))))

    def words(self, counts: Counts) -> list[TermWeight]:
        """Return what each term adds to the log-odds of the topic, by descending absolute weight."""
        words = self.scorer.words(counts, True)
        return [TermWeight(term=word.term, weight=self.slope * word.weight) for word in words]

    def encode(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        node, arrays, terms = encode(self.scorer, _PREFIX)
        return arrays, {"tree": node, "terms": terms, "slope": self.slope, "offset": self.offset}

    @classmethod
    def decode(cls, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> TrainedModel:
        """Undo `encode`.

        Raises:
            ThresherError: Something is missing or does not fit.
        """
        scorer = decode(values["tree"], arrays, values["terms"], _PREFIX)
        return cls(scorer=scorer, slope=float(values["slope"]), offset=float(values["offset"]))


Trained = tuple[TrainedModel, NDArray[np.float64]]
"""A model, and the probability of each training page."""

Train = Callable[[TrainingPages], Trained | None]
"""Trains a model; returns None when the pages share no terms."""

SOON_PAGES = 5
"""Pages until the next refit after a new example."""
COLD_COSINE = 0.1
"""The cosine from which a page is relevant while there is no model."""


class ExampleLearner:
    """Base class of judges that train a classifier on seeds against the crawl.

    Args:
        topic_profile: The topic.
        name: The judge's name; the kinds of its state entries begin with it.
        train: Trains the model.
        refit_pages: Pages until the next refit; later a tenth of the pages seen.
        sample_pages: Sample size of the background.
        threshold: The relevance from which a page is relevant.
    """

    def __init__(
        self,
        topic_profile: TopicProfile,
        name: str,
        train: Train,
        *,
        refit_pages: int,
        sample_pages: int,
        threshold: float,
    ) -> None:
        require_scikit_learn(f"judge {name}")
        if refit_pages < 1 or sample_pages < 1:
            raise ConfigError(f"judge {name}: refit_pages and sample_pages must be at least 1")
        self._name = name
        self._train = train
        self._threshold = threshold
        self._cosine = CosineJudge(topic_profile, threshold=COLD_COSINE)
        self._pages = TrainingPages(topic_profile, sample_pages=sample_pages)
        self._model: TrainedModel | None = None
        self._is_model_new = False
        self._languages: frozenset[bool] = frozenset()
        self._refit_schedule = RefitSchedule(refit_pages)
        self._state_store: StateStore | None = None
        self._worker = uuid4().hex
        self._counted: tuple[ParsedPage, Counts] | None = None

    def judge(self, page: ParsedPage) -> Judgement:
        """Judge by the model, or by the cosine while there is none; a label overrides both."""
        labelled, model = self._pages.labelled(page.url), self._model_for(page)
        judgement = self._by_counts(model, self._counts(page)) if model else self._by_cosine(page)
        if labelled is not None:
            judgement = self._labelled(judgement, labelled)
        return replace(judgement, final=self._is_final())

    def vector(self, page: ParsedPage) -> bytes:
        return TermVector.of(self._counts(page)).pack()

    def judge_vector(self, url: str, language: str, vector: bytes) -> Judgement | None:
        labelled, terms = self._pages.labelled(url), TermVector.unpack(vector)
        model = self._model if (language == CHINESE) in self._languages else None
        if model is None:
            return None
        judgement = self._by_counts(model, dict(zip(terms.names, terms.weights.tolist(), strict=True)))
        judgement = judgement if labelled is None else self._labelled(judgement, labelled)
        return replace(judgement, final=self._is_final())

    def words(self, page: ParsedPage) -> Sequence[TermWeight]:
        """Return what each term adds to the log-odds of the topic, or to the cosine while there is no model."""
        model = self._model_for(page)
        return (model.words(self._counts(page)) if model else self._cosine.words(page))[:MAX_WORDS]

    def learn(self, page: ParsedPage, *, seed: bool = False) -> Sequence[Revision]:
        self._pages.add(page.url, self._counts(page), chinese=_is_chinese(page), seed=seed)
        is_example, sample = self._pages.is_example(page.url), self._pages.sample
        if is_example:
            self._fit_soon()
        if self._refit_schedule.is_read_due(sample.seen):
            self._read_others()
        is_due = self._refit_schedule.is_fit_due(sample.seen, sample.seen_by_all, len(sample))
        revisions = self._refit() if is_due else []
        self._pages.record_judgement(page.url, self.judge(page).relevance)
        if is_example or self._refit_schedule.is_write_due(sample.seen):
            self.save_state()
        return [revision for revision in revisions if revision.url != page.url]

    def teach(self, labelled: Mapping[str, float | None]) -> Sequence[Revision]:
        """Apply labels, and refit when some of the pages are in the sample."""
        for url, relevant in labelled.items():
            self._pages.set_label(url, relevant)
        known = {url: relevant for url, relevant in labelled.items() if url in self._pages.sample}
        if not known:
            return ()
        certain = [self._revision(url, float(relevant)) for url, relevant in known.items() if relevant is not None]
        revisions = [*filter(None, certain), *self._refit()]
        self.save_state()
        return revisions

    def remembers(self, url: str) -> bool:
        return url in self._pages.sample

    def load_state(self, state_store: StateStore) -> None:
        self._state_store = state_store
        if entry := state_store.read(self._kind("sample")):
            self._worker = self._pages.restore(entry)
            seen = self._pages.sample.seen
            self._refit_schedule.fit(seen, seen)
            self._refit_schedule.written(seen)
            if model := state_store.read(self._kind("model")):
                self._load_model(model)
            else:
                self._refit()
        self._read_others()

    def save_state(self) -> None:
        if self._state_store is not None and self._pages.sample.seen:
            self._state_store.write(self._kind("sample"), self._pages.entry(self._worker))
            if self._is_model_new:
                model = self._packed_model()  # too large: trained again at restart, since an old one would be worse
                self._state_store.write(self._kind("model"), model if len(model) <= ENTRY_BYTES else b"")
                self._is_model_new = False
        self._refit_schedule.written(self._pages.sample.seen)

    def _refit(self) -> list[Revision]:
        """Train the model again; return the judgements of pages of the sample that changed."""
        pages = self._pages
        pages.sample.forget_unused_terms()
        trained = self._train(pages) if pages.are_enough() else None
        wait = None if trained else SOON_PAGES
        self._refit_schedule.fit(pages.sample.seen, pages.sample.seen_by_all, wait=wait)
        if trained is None:
            return []
        (self._model, probabilities), self._is_model_new = trained, True
        self._languages = pages.examples_in()
        revisions = [
            self._revision(url, probability)
            for url, probability in zip(pages.sample.urls, probabilities.tolist(), strict=True)
            if pages.is_chinese(url) in self._languages
        ]
        return [revision for revision in revisions if revision]

    def _revision(self, url: str, probability: float) -> Revision | None:
        """Return the new judgement of a page, if it differs from the last one."""
        labelled, before = self._pages.labelled(url), self._pages.given.get(url)
        judgement = self._likely(probability, {})
        judgement = judgement if labelled is None else self._labelled(judgement, labelled)
        if before is None or abs(judgement.relevance - before) <= MIN_CHANGE:
            return None
        self._pages.record_judgement(url, judgement.relevance)
        return Revision(url=url, judgement=replace(judgement, final=self._is_final()))

    def _labelled(self, judgement: Judgement, label: float) -> Judgement:
        relevance = with_label(judgement.relevance, label)
        breakdown = {**judgement.breakdown, LABEL_PART: float(label)}
        return Judgement(relevance=relevance, relevant=relevance >= self._threshold, breakdown=breakdown)

    def _by_cosine(self, page: ParsedPage) -> Judgement:
        """Judge without a model by the cosine, scaled so that its threshold becomes the judge's."""
        cosine = self._cosine.judge(page)
        scaled = min(cosine.relevance * self._threshold / COLD_COSINE, 1.0)
        return replace(cosine, relevance=scaled, reward=min(cosine.relevance, 1.0))

    def _likely(self, probability: float, breakdown: dict[str, float]) -> Judgement:
        relevant = probability >= self._threshold
        return Judgement(relevance=probability, relevant=relevant, breakdown={**breakdown, "probability": probability})

    def _by_counts(self, model: TrainedModel, counts: Counts) -> Judgement:
        if not model.knows(counts):
            return self._likely(0.0, {})
        margin = model.margin(counts)
        return self._likely(model.probability(margin), {"margin": margin})

    def _model_for(self, page: ParsedPage) -> TrainedModel | None:
        return self._model if _is_chinese(page) in self._languages else None

    def _is_final(self) -> bool:
        return self._pages.sample.seen_by_all >= FINAL_PAGES

    def _fit_soon(self) -> None:
        self._refit_schedule.fit_within(self._pages.sample.seen_by_all, SOON_PAGES)

    def _read_others(self) -> None:
        """Merge the samples of other workers: each worker fetches only some of the seeds."""
        self._refit_schedule.read(self._pages.sample.seen)
        entries = self._state_store.read_others(self._kind("sample")) if self._state_store else ()
        for other in readable(entries, OtherPages.read, "a judge's sample"):
            if other.state.worker != self._worker and self._pages.merge(other):
                self._fit_soon()

    def _kind(self, what: str) -> str:
        return f"{self._name}-{what}"

    def _packed_model(self) -> bytes:
        assert self._model is not None  # only then is it new
        arrays, values = self._model.encode()
        return pack_both(arrays, {"model": values, "languages": sorted(self._languages)})

    def _load_model(self, entry: bytes) -> None:
        arrays, values = unpack_both(entry)
        self._model = TrainedModel.decode(arrays, values["model"])
        self._languages = frozenset(values["languages"])

    def _counts(self, page: ParsedPage) -> Counts:
        """Return a page's term counts, cached for judge, learn and words."""
        if self._counted is None or self._counted[0] is not page:
            self._counted = (page, most_frequent(weighted_counts(page)))
        return self._counted[1]


def require_scikit_learn(part: str) -> None:
    """Check that scikit-learn is installed.

    Raises:
        ConfigError: It is not.
    """
    if find_spec("sklearn") is None:
        raise ConfigError(f'{part} needs scikit-learn: pip install "thresher-crawler[learn]"')


def _is_chinese(page: ParsedPage) -> bool:
    return page.language == CHINESE

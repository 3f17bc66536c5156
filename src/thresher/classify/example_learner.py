"""Judges that train on examples against the crawl's background, on whatever model.

All that is given are a phrase and some seeds. Seeds and pages that a person said yes to are examples of the topic; a
sample of everything else that was crawled stands for what is not, although some of it is. Until there is an example
and some background, and for pages in a language without an example, the cosine with the phrase judges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from thresher.classify.base import Brief, Notebook
from thresher.classify.cosine import CosineJudge
from thresher.classify.entries import ENTRY_BYTES, pack_both, readable, unpack_both
from thresher.classify.rhythm import Rhythm
from thresher.classify.rows import Terms
from thresher.classify.sections import Counts, weighted_counts
from thresher.classify.trained_model import TrainedModel
from thresher.classify.training_pages import OtherPages, TrainingPages, most_frequent
from thresher.errors import ConfigError
from thresher.records import Judgement, ParsedPage, Revision, Word

Trained = tuple[TrainedModel, NDArray[np.float64]]
"""A model, and the probability that it gives to each of the pages it was trained on."""

Train = Callable[[TrainingPages], Trained | None]
"""Trains a model; None when the pages hold nothing to train on."""

SOON_PAGES = 5
"""Pages until the next refit when an example came in."""
LEAST_CHANGE = 0.01
"""A second thought is told when the relevance changes by more."""
FINAL_PAGES = 500
"""Pages after which what is thought of a new page changes little."""
CHINESE = "zh"
COLD_COSINE = 0.1
"""The cosine from which a page is relevant while there is no model."""
MOST_WORDS = 50


class ExampleLearner:
    """The part of such a judge that does not depend on its model.

    Args:
        brief: The topic.
        name: The judge's name; what it writes down is called after it.
        train: Trains the model.
        refit_pages: Pages after which it is trained anew; later after a tenth of the pages seen.
        sample_pages: Pages of the background that are remembered.
        threshold: The relevance from which a page is relevant.
    """

    def __init__(
        self, brief: Brief, name: str, train: Train, *, refit_pages: int, sample_pages: int, threshold: float
    ) -> None:
        need_learning(f"judge {name}")
        if refit_pages < 1 or sample_pages < 1:
            raise ConfigError(f"judge {name}: refit_pages and sample_pages must be at least 1")
        self._name = name
        self._train = train
        self._threshold = threshold
        self._cosine = CosineJudge(brief, threshold=COLD_COSINE)
        self._pages = TrainingPages(brief, sample_pages=sample_pages)
        self._model: TrainedModel | None = None
        self._is_model_new = False
        self._languages: frozenset[bool] = frozenset()
        self._rhythm = Rhythm(refit_pages)
        self._notebook: Notebook | None = None
        self._worker = uuid4().hex
        self._counted: tuple[ParsedPage, Counts] | None = None

    def judge(self, page: ParsedPage) -> Judgement:
        """Ask the model, or the cosine while there is none; what a person said stands above both."""
        told, model = self._pages.told(page.url), self._model_for(page)
        judgement = self._by_counts(model, self._counts(page)) if model else self._by_cosine(page)
        if told is not None:
            judgement = _as_told(judgement, told)
        return replace(judgement, final=self._is_final())

    def vector(self, page: ParsedPage) -> bytes:
        """Give the page's terms and their counts."""
        return Terms.of(self._counts(page)).pack()

    def judge_vector(self, url: str, language: str, vector: bytes) -> Judgement | None:
        """Judge a page by the counts that `vector` gave; None while there is no model."""
        told, terms = self._pages.told(url), Terms.unpack(vector)
        model = self._model if (language == CHINESE) in self._languages else None
        if model is None:
            return None
        judgement = self._by_counts(model, dict(zip(terms.names, terms.weights.tolist(), strict=True)))
        judgement = judgement if told is None else _as_told(judgement, told)
        return replace(judgement, final=self._is_final())

    def words(self, page: ParsedPage) -> Sequence[Word]:
        """Give what each term adds to the log-odds of the topic, or to the cosine, the weightiest first."""
        model = self._model_for(page)
        return (model.words(self._counts(page)) if model else self._cosine.words(page))[:MOST_WORDS]

    def learn(self, page: ParsedPage, *, seed: bool = False) -> Sequence[Revision]:
        """Take a fetched page into the background, or among the examples; train anew when it is time to."""
        self._pages.take_in(page.url, self._counts(page), chinese=_is_chinese(page), seed=seed)
        is_example, sample = self._pages.is_example(page.url), self._pages.sample
        if is_example:
            self._fit_soon()
        if self._rhythm.is_read_due(sample.seen):
            self._read_others()
        is_due = self._rhythm.is_fit_due(sample.seen, sample.seen_by_all, len(sample))
        revisions = self._think_again() if is_due else []
        self._pages.note(page.url, self.judge(page).relevance)
        if is_example or self._rhythm.is_write_due(sample.seen):
            self.write_down()
        return [revision for revision in revisions if revision.url != page.url]

    def teach(self, told: Mapping[str, bool | None]) -> Sequence[Revision]:
        """Take a person's word on pages, and train anew when some of them are remembered."""
        for url, relevant in told.items():
            self._pages.tell(url, relevant)
        known = {url: relevant for url, relevant in told.items() if url in self._pages.sample}
        if not known:
            return ()
        certain = [self._revision(url, float(relevant)) for url, relevant in known.items() if relevant is not None]
        revisions = [*filter(None, certain), *self._think_again()]
        self.write_down()
        return revisions

    def remembers(self, url: str) -> bool:
        """Tell whether a page is in the sample."""
        return url in self._pages.sample

    def keep_in(self, notebook: Notebook) -> None:
        """Take up what was learned before, and write down what is learned from now on."""
        self._notebook = notebook
        if entry := notebook.read(self._kind("sample")):
            self._worker = self._pages.go_on_from(entry)
            seen = self._pages.sample.seen
            self._rhythm.fit(seen, seen)
            self._rhythm.written(seen)
            if model := notebook.read(self._kind("model")):
                self._take_model(model)
            else:
                self._think_again()
        self._read_others()

    def write_down(self) -> None:
        """Write down what was learned since the last time."""
        if self._notebook is not None and self._pages.sample.seen:
            self._notebook.write(self._kind("sample"), self._pages.entry(self._worker))
            if self._is_model_new:
                model = self._packed_model()  # what does not fit is trained anew; an old one would be worse
                self._notebook.write(self._kind("model"), model if len(model) <= ENTRY_BYTES else b"")
                self._is_model_new = False
        self._rhythm.written(self._pages.sample.seen)

    def _think_again(self) -> list[Revision]:
        """Train anew; return what changed for the pages of the sample."""
        pages = self._pages
        pages.sample.forget_unused_terms()
        trained = self._train(pages) if pages.are_enough() else None
        wait = None if trained else SOON_PAGES
        self._rhythm.fit(pages.sample.seen, pages.sample.seen_by_all, wait=wait)
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
        """Say what is thought of a page now, if something else was said of it before."""
        told, before = self._pages.told(url), self._pages.given.get(url)
        judgement = self._likely(probability, {})
        judgement = judgement if told is None else _as_told(judgement, told)
        if before is None or abs(judgement.relevance - before) <= LEAST_CHANGE:
            return None
        self._pages.note(url, judgement.relevance)
        return Revision(url=url, judgement=replace(judgement, final=self._is_final()))

    def _by_cosine(self, page: ParsedPage) -> Judgement:
        """Judge without a model: the cosine, scaled so that its own threshold falls on the judge's."""
        cosine = self._cosine.judge(page)
        scaled = min(cosine.relevance * self._threshold / COLD_COSINE, 1.0)
        return replace(cosine, relevance=scaled, reward=min(cosine.relevance, 1.0))

    def _likely(self, probability: float, parts: dict[str, float]) -> Judgement:
        relevant = probability >= self._threshold
        return Judgement(relevance=probability, relevant=relevant, parts={**parts, "probability": probability})

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
        self._rhythm.fit_within(self._pages.sample.seen_by_all, SOON_PAGES)

    def _read_others(self) -> None:
        """Put what the other workers learned from beside the own: each of them meets only some of the seeds."""
        self._rhythm.read(self._pages.sample.seen)
        entries = self._notebook.read_others(self._kind("sample")) if self._notebook else ()
        for other in readable(entries, OtherPages.read, "a judge's sample"):
            if other.notes.worker != self._worker and self._pages.take_over(other):
                self._fit_soon()

    def _kind(self, what: str) -> str:
        return f"{self._name}-{what}"

    def _packed_model(self) -> bytes:
        assert self._model is not None  # only then is it new
        arrays, values = self._model.take_apart()
        return pack_both(arrays, {"model": values, "languages": sorted(self._languages)})

    def _take_model(self, entry: bytes) -> None:
        arrays, values = unpack_both(entry)
        self._model = TrainedModel.put_together(arrays, values["model"])
        self._languages = frozenset(values["languages"])

    def _counts(self, page: ParsedPage) -> Counts:
        """Count a page's terms once for judge, learn and words."""
        if self._counted is None or self._counted[0] is not page:
            self._counted = (page, most_frequent(weighted_counts(page)))
        return self._counted[1]


def need_learning(part: str) -> None:
    """Refuse a part that cannot train here.

    Raises:
        ConfigError: scikit-learn is not installed.
    """
    if find_spec("sklearn") is None:
        raise ConfigError(f'{part} needs scikit-learn: pip install "thresher[learn]"')


def _as_told(judgement: Judgement, told: bool) -> Judgement:
    certain = float(told)
    parts = {**judgement.parts, "told": certain}
    return Judgement(relevance=certain, relevant=told, parts=parts)


def _is_chinese(page: ParsedPage) -> bool:
    return page.language == CHINESE

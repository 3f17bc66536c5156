"""Fit the constants of `adaptive/calibration.py` to dev topics: ``python -m bench.effectiveness.verdict_constants``.

Needs THRESHER_WEBS; dev topics only, with 0, 1, 2, 3 and 5 seeds. The crawls of the dev topics are run once and their
order is kept in the folder ``--cache``, so that a run that was stopped goes on. Then the model is fitted to the first
5 to 500 pages of each crawl, and gives evidence of these pages and of those that come next, as a judge would see them
when they arrive. Streams with 5 to 90 % on-topic pages take part with a small weight. Chinese pages
have constants of their own, fitted to the Chinese webs. Those of all other languages are fitted to all webs, in which
languages weigh alike: English crawls alone hold few pages on topic, and constants from these would be too low wherever
a crawl holds many. First the early constants are fitted, then, with the background that these give,
the late ones. Weights of what speaks for a page are 0 or more. Printed are the constants, and F1 at several thresholds
on topics that were left out of the fit.

``--vectors`` fits only the late constants that go with a table of word vectors, to the background that the early
constants in use give.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bench.effectiveness.verdict_topics import LANGUAGES, SEEDS, TOPICS, TopicCrawl, chosen_topics, phrase_of
from bench.effectiveness.verdicts import SHARES, STREAM_SEEDS, f1
from thresher.judges.adaptive.calibration import (
    APART,
    CHINESE,
    EARLY,
    OTHER,
    Openings,
    early_evidence,
    late_evidence,
    logistic,
)
from thresher.judges.adaptive.judge import language_of, phrases_by_language
from thresher.judges.adaptive.reservoir import Reservoir
from thresher.judges.adaptive.terms import Matrix, PhraseWords, TermVector, Weights, term_weights
from thresher.judges.adaptive.topic_model import TopicExamples, TopicModel, TopicModelConstants, TopicSimilarity, fit
from thresher.text.word_vectors import WordVectors, load_word_vectors
from thresher.topics.topic import TopicDefinition
from thresher_lab.simulation.tasks import TaskRunner
from thresher_lab.statistics.result_rows import add_rows, read_rows

SIZES = (5, 10, 25, 50, 100, 150, 200, 300, 400, 500)
STREAM_PAGES, MIN_PAGES = 200, 20
WEIGHTS = {"no seed": 0.3, "stream": 0.12}
"""Of kinds of crawls within a topic; each number of seeds counts 1."""
LANGUAGE_POINT = -0.3
"""Where the constant of pages with a meaning is taken between English crawls (-0.5) and Chinese ones (0.5).

Chosen on dev topics: F1 rises in crawls and in streams with any share of pages on topic.
"""
L2 = 1e-3
FOLDS = 5
EARLY_FREE, LATE_FREE = (4, 5), (4, 5, 10)
"""Columns of the evidence that are the same for all pages of a crawl; their weights may have any sign."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Evidence of pages that one model judged: those it was fitted to, or those that came next.

    Args:
        kind: The number of seeds, ``no seed`` or ``stream`` with its share.
        shift: What is added to the logits for words of the phrase that never stand side by side.
        last: Whether these are all pages of a crawl, judged at its end.
    """

    language: str
    topic: str
    kind: str
    evidence: Weights
    shift: Weights
    truth: NDArray[np.bool_]
    last: bool


class Crawled:
    """The pages of one crawl in the language of its web, and the model of any moment."""

    def __init__(
        self,
        phrase: str,
        urls: Sequence[str],
        terms: dict[str, TermVector],
        *,
        seeds: set[str],
        name: str,
        word_vectors: WordVectors | None,
    ) -> None:
        sample = Reservoir(len(urls) + 1, word_vectors=word_vectors)
        for url in urls:
            sample.add(url, terms[url])
        row = sample.row("", TermVector.of(phrases_by_language(TopicDefinition.from_phrase(phrase).vectors())[name]))
        self._phrase = dict(zip(row.numbers.tolist(), row.weights.tolist(), strict=True))
        self._matrix, self._terms = sample.matrix(), len(sample.terms)
        self._openings = (
            Openings(sample.openings(), row.opening, word_vectors.common()) if word_vectors is not None else None
        )
        self._pairs = [sample.terms[pair] for pair in PhraseWords([phrase]).pairs if pair in sample.terms]
        self.is_seed = np.array([url in seeds for url in urls])

    def model(
        self, constants: TopicModelConstants, size: int, *, with_seeds: bool
    ) -> tuple[TopicModel, list[TopicSimilarity]]:
        """Fit the model to the first pages; judge all of them."""
        pages = np.where(np.arange(len(self.is_seed)) < size, 1.0, 0.0)
        matrix: Matrix = replace(self._matrix, pages=pages)
        places = np.flatnonzero(self.is_seed).tolist() if with_seeds else []
        examples = TopicExamples(places=places, seeds=places, phrase=self._phrase, pairs=self._pairs)
        return fit(matrix, self._terms, examples, constants, self._openings)


def orders(web: str, cache: Path) -> list[dict[str, object]]:
    """Crawl the dev topics of a web from every number of seeds; give the URLs in order, with the truth."""
    path = cache / f"{web}.jsonl"
    rows = read_rows(path)
    done = {(row["topic"], row["seeds"]) for row in rows}
    missing = [(topic, n) for topic in chosen_topics("dev", web) for n in SEEDS if (topic, n) not in done]
    bench = TaskRunner.open(web) if missing else None
    for number, (topic, seeds) in enumerate(missing, start=1):
        assert bench is not None
        crawl = TopicCrawl(bench, topic, seeds)
        arrivals = crawl.crawl(crawl.new_judge())
        pages = [[arrival.page.url, arrival.on_topic] for arrival in arrivals]
        row = {"topic": topic, "seeds": seeds, "seed_urls": crawl.seeds, "pages": pages}
        add_rows(path, [row])
        rows.append(row)
        print(f"{web}: {number} of {len(missing)} crawls", flush=True)
    return rows


class Groups:
    """Makes groups of evidence from the crawls of a web.

    Args:
        with_meaning: Whether to add the meaning of openings; it is 0 for Chinese pages.
    """

    def __init__(self, web: str, rows: Sequence[dict], *, with_meaning: bool = False) -> None:
        self._web, self._rows, self._with_meaning = web, rows, with_meaning
        self._word_vectors = load_word_vectors() if with_meaning and model_of(web) == OTHER else None
        self._bench = TaskRunner.open(web)
        self._terms: dict[str, TermVector] = {}
        self._languages: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def _read(self, url: str) -> str:
        """Weigh the terms of a page once; return its language."""
        if url not in self._languages:
            found = self._bench.pages.get(url)
            assert found is not None
            terms = term_weights(found[0])
            names = [self._names.setdefault(name, name) for name in terms.names]
            self._terms[url], self._languages[url] = TermVector(names, terms.weights), language_of(found[0])
        return self._languages[url]

    def _marked(self, phrase: str, urls: Sequence[str]) -> dict[str, TermVector]:
        """Give the terms of pages as the judge of a phrase sees them."""
        words, pages = PhraseWords([phrase]), self._bench.pages
        return {url: words.mark(found[0], self._terms[url]) for url in urls if (found := pages.get(url))}

    def make(self, constants: TopicModelConstants, *, early: bool) -> Iterator[Group]:
        """Give the early evidence of all pages of each crawl, or the late evidence at every size."""
        for row in self._rows:
            for kind, pages in self._variants(row, early=early):
                yield from self._groups(row, kind, pages, constants, early=early)

    def _variants(self, row: dict, *, early: bool) -> Iterator[tuple[str, list]]:
        yield str(row["seeds"]), row["pages"]
        if row["seeds"] == 1:
            yield "no seed", row["pages"]
        if early or row["seeds"] != STREAM_SEEDS:
            return
        draw = Random(f"{self._web} {row['topic']}")
        on, off = [page for page in row["pages"] if page[1]], [page for page in row["pages"] if not page[1]]
        for share in SHARES:
            length = min(STREAM_PAGES, int(len(on) / share), int(len(off) / (1 - share)))
            if length >= MIN_PAGES:
                mixed = draw.sample(on, round(length * share)) + draw.sample(off, length - round(length * share))
                yield f"stream {share}", draw.sample(mixed, len(mixed))

    def _groups(
        self, row: dict, kind: str, pages: list, constants: TopicModelConstants, *, early: bool
    ) -> Iterator[Group]:
        name = model_of(self._web)
        seeds = [url for url in row["seed_urls"] if self._bench.pages.get(url)]
        truth = dict.fromkeys(seeds, True) | dict(pages)
        urls = [url for url in truth if self._read(url) == name]
        if len(urls) < MIN_PAGES or not set(urls) & set(seeds):
            return
        phrase = phrase_of(self._web, row["topic"])
        marked, vectors = self._marked(phrase, urls), self._word_vectors
        crawled = Crawled(phrase, urls, marked, seeds=set(seeds), name=name, word_vectors=vectors)
        labels = np.array([truth[url] for url in urls])
        sizes = [size for size in SIZES if size < len(urls)] + [len(urls)]
        for size, following in zip(sizes, [*sizes[1:], None], strict=True):
            if early and following is not None:
                continue
            model, similarities = crawled.model(constants, size, with_seeds=kind != "no seed")
            plain, _, early_s, named, apart, meaning = np.array(similarities).T
            evidence = (
                early_evidence(model.scale, early_s, named)
                if early
                else late_evidence(model.scale, plain, early_s, named, meaning if self._with_meaning else None)
            )
            for first, last in ((0, size), (size, following or size)):
                rows = np.flatnonzero(~crawled.is_seed[first:last]) + first
                if len(rows):
                    yield Group(language=LANGUAGES[self._web], topic=f"{self._web}/{row['topic']}", kind=kind,
                                evidence=evidence[rows], shift=-APART * apart[rows] * (not early),
                                truth=labels[rows], last=following is None)  # fmt: skip


def model_of(web: str) -> str:
    """Return which of the judge's two models the pages of a web are for."""
    return CHINESE if LANGUAGES[web] == "Chinese" else OTHER


def page_weights(groups: Sequence[Group]) -> Weights:
    """Weigh pages: languages alike, topics alike, kinds of crawls as `WEIGHTS` has it, models alike, pages alike."""
    topics = Counter(language for language, _ in {(group.language, group.topic) for group in groups})
    kinds = Counter((group.topic, group.kind) for group in groups)
    totals: dict[str, float] = {}
    for topic, kind in kinds:
        totals[topic] = totals.get(topic, 0.0) + _weight(kind)
    shares = [_weight(g.kind) / totals[g.topic] / topics[g.language] / kinds[g.topic, g.kind] for g in groups]
    return np.concatenate(
        [np.full(len(g.truth), share / len(g.truth)) for g, share in zip(groups, shares, strict=True)]
    )


def _weight(kind: str) -> float:
    return WEIGHTS.get(kind.partition(" 0.")[0], 1.0)


def logistic_regression(groups: Sequence[Group], free: Sequence[int]) -> Weights:
    """Fit weights and constant: the likeliest ones under a small L2 penalty, those that are not free at least 0."""
    x, y = np.concatenate([group.evidence for group in groups]), np.concatenate([group.truth for group in groups])
    shift = np.concatenate([group.shift for group in groups])
    weights = page_weights(groups)
    weights /= weights.sum()
    mean = weights @ x
    deviation = np.sqrt(weights @ (x - mean) ** 2)
    deviation[deviation < 1e-9] = 1.0
    z = (x - mean) / deviation

    def loss(parameters: Weights) -> tuple[float, Weights]:
        steps = z @ parameters[:-1] + parameters[-1] + shift
        wrong = weights * (1.0 / (1.0 + np.exp(-steps)) - y)
        value = weights @ (np.logaddexp(0.0, steps) - y * steps) + L2 * parameters[:-1] @ parameters[:-1]
        return float(value), np.append(z.T @ wrong + 2 * L2 * parameters[:-1], wrong.sum())

    bounds = [(None, None) if column in free else (0.0, None) for column in range(x.shape[1])]
    found = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B", bounds=[*bounds, (None, None)]).x
    scaled = found[:-1] / deviation
    return np.append(scaled, found[-1] - scaled @ mean)


def late_regression(groups: Sequence[Group]) -> Weights:
    """Fit the late constants."""
    return logistic_regression(groups, LATE_FREE)


def meaning_regression(groups: Sequence[Group]) -> Weights:
    """Fit the late constants of pages whose meaning is known.

    Only English pages have a meaning, and English crawls hold fewer pages on topic. A column for the language takes up
    that difference; in the result it is `LANGUAGE_POINT`.
    """
    column = groups[0].evidence.shape[1]
    sides = [np.full(len(group.truth), 0.5 if group.language == "Chinese" else -0.5) for group in groups]
    marked = [replace(g, evidence=np.column_stack([g.evidence, side])) for g, side in zip(groups, sides, strict=True)]
    found = logistic_regression(marked, (*LATE_FREE, column))
    return np.append(found[:column], found[-1] + LANGUAGE_POINT * found[column])


def show_thresholds(groups: Sequence[Group], regression: Callable[[Sequence[Group]], Weights]) -> None:
    """Print F1 at the end of crawls with seeds, by threshold, on topics that were left out of the fit."""
    topics = sorted({group.topic for group in groups})
    judged: list[tuple[Group, Weights]] = []
    for fold in range(FOLDS):
        left_out = set(topics[fold::FOLDS])
        weights = regression([group for group in groups if group.topic not in left_out])
        own = [g for g in groups if g.topic in left_out and g.last and g.kind.isdigit()]
        judged += [(group, logistic(group.evidence, weights.tolist(), group.shift)) for group in own]
    for threshold in (0.25, 0.3, 0.35, 0.4, 0.45, 0.5):
        cells = []
        for language in dict.fromkeys(LANGUAGES.values()):
            for kind in map(str, SEEDS):
                found = [f1(g.truth, p >= threshold) for g, p in judged if (g.language, g.kind) == (language, kind)]
                known = [value for value in found if value is not None]
                cells.append(f"{language} {kind}: {np.mean(known):.3f}" if known else "")
        print(f"threshold {threshold}: {', '.join(filter(None, cells))}")


def show_late(
    name: str,
    webs: Sequence[Groups],
    early: Sequence[float],
    regression: Callable[[Sequence[Group]], Weights] = late_regression,
) -> None:
    """Fit and print the late constants, for the background that the early ones give."""
    groups = [group for web in webs for group in web.make(TopicModelConstants(early=early), early=False)]
    print(name, "=", json.dumps(regression(groups).round(3).tolist()), flush=True)
    show_thresholds(groups, regression)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.effectiveness.verdict_constants", description="Fit the judge's constants."
    )
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "verdict-constants")
    parser.add_argument("--models", nargs="+", choices=[OTHER, CHINESE], default=[OTHER, CHINESE])
    parser.add_argument("--vectors", action="store_true", help="fit the late constants that go with word vectors")
    options = parser.parse_args()
    if options.vectors:
        webs = [Groups(web, orders(web, options.cache), with_meaning=True) for web in TOPICS["dev"]]
        show_late("MEANING_LATE", webs, EARLY[OTHER], meaning_regression)
        return
    for name in options.models:
        webs = [Groups(web, orders(web, options.cache)) for web in TOPICS["dev"] if name in (OTHER, model_of(web))]
        early = logistic_regression(
            [g for web in webs for g in web.make(TopicModelConstants(), early=True)], EARLY_FREE
        )
        print(name, "EARLY =", json.dumps(early.round(3).tolist()), flush=True)
        show_late(f"{name} LATE", webs, early.round(3).tolist())


if __name__ == "__main__":
    main()

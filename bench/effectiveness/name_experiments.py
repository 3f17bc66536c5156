"""What else was tried to find more in the first fetches? ``python -m bench.effectiveness.name_experiments``.

Dev topics, true labels, one seed set that the prior was not trained on, 300 fetches (needs THRESHER_WEBS). Each variant
is compared with the strategy as it is. ``--table NAME=FILE`` adds a variant with another table of word vectors, made by
``bench.effectiveness.word_vector_table``. Rows are added to ``bench/results/name-experiments.jsonl`` as they come; what
is there is not run again, and ``--print`` only prints it.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from thresher.cli.output import echo_table
from thresher.records import ParsedPage
from thresher.strategies.link_model import strategy as strategies
from thresher.strategies.link_model.link_table import RELEVANT, Ints
from thresher.strategies.link_model.model import Floats, log_odds, sigmoid
from thresher.strategies.link_model.strategy import LinkModelStrategy
from thresher.text.word_vectors import load_word_vectors, read_word_vectors, unit_length
from thresher.urls.canonical import fingerprint
from thresher_lab.simulation.simulator import Simulator
from thresher_lab.simulation.tasks import Task, TaskRunner
from thresher_lab.simulation.topic_splits import split
from thresher_lab.statistics import metrics
from thresher_lab.statistics.result_rows import Row, add_rows, read_rows
from thresher_lab.statistics.significance import Score, compare_paired

WHOLE = "as it is"
SEED_SET, PAGES, EARLY = 1, 300, 100
WEAK_TITLES = 2
"""Relevant titles that the links of relevant pages count for."""
TEMPERATURE, PENALTY, LATEST = 0.5, 0.5, 8
RESULTS = Path(__file__).parents[1] / "results" / "name-experiments.jsonl"
MEASURES = {"percent_of_oracle": "% of oracle", "percent_of_oracle_60": "% in first 60", "hr_at_r": "HR@R, %"}


class WeakPositives(LinkModelStrategy):
    """Counts the mean name of the links of relevant pages as some relevant titles."""

    _link_names: float | np.ndarray = 0.0

    def _read(self, page: ParsedPage, relevance: float, *, is_seed: bool) -> None:
        super()._read(page, relevance, is_seed=is_seed)
        if relevance >= RELEVANT and page.links:
            ids = [self._words.of([link.anchor])[0] for link in page.links]
            vectors = np.concatenate([self._names.embed(each[None, :]) for each in ids])
            self._link_names = self._link_names + vectors.sum(axis=0)
            for number in range(WEAK_TITLES):
                self._names.add(-1 - number, unit_length(self._link_names), 1.0)


class AnchorsAndTitles(LinkModelStrategy):
    """Takes the mean of a page's title and the anchors of links to it as the example."""

    def _read(self, page: ParsedPage, relevance: float, *, is_seed: bool) -> None:
        super()._read(page, relevance, is_seed=is_seed)
        key = fingerprint(page.url)
        number = self._links.find(key)
        if number is not None and self._names.has(key):
            title, _ = self._names._examples[key]
            name = unit_length(self._links.urls["vector"][number].astype(np.float32))
            self._names.add(key, unit_length(title + name), relevance)


class ThompsonSampling(LinkModelStrategy):
    """Scores by weights that are drawn from their posterior, up to some page."""

    def _scores(self, numbers: Ints, x: Floats) -> Floats:
        if self._pages_seen >= EARLY:
            return super()._scores(numbers, x)
        model, draw = self._model, np.random.default_rng(self._pages_seen)
        examples = model._prior.with_combinations(model._examples()[0])
        p = sigmoid(examples @ model.weights)
        precision = (examples * (p * (1 - p))[:, None]).T @ examples + np.diag(model._prior.prior_strength)
        spread = np.linalg.cholesky(np.linalg.inv(precision))
        weights = model.weights + TEMPERATURE * spread @ draw.standard_normal(len(model.weights))
        return sigmoid(model._prior.with_combinations(x) @ weights)


class Diverse(LinkModelStrategy):
    """Lowers the scores of names close to the latest titles, up to some page."""

    def _scores(self, numbers: Ints, x: Floats) -> Floats:
        scores = super()._scores(numbers, x)
        if self._pages_seen >= EARLY or not self._names._examples:
            return scores
        latest = np.array([vector for vector, _ in list(self._names._examples.values())[-LATEST:]])
        names = unit_length(self._links.urls["vector"][numbers].astype(np.float32))
        return sigmoid(log_odds(scores) - PENALTY * np.maximum((names @ latest.T).max(axis=1), 0.0))


VARIANTS: Mapping[str, Callable[..., LinkModelStrategy]] = {
    WHOLE: LinkModelStrategy,
    "without word vectors and early rescoring": partial(LinkModelStrategy, vectors=False, early_pages=0),
    "without early rescoring": partial(LinkModelStrategy, early_pages=0),
    "links of relevant pages as weak positives": WeakPositives,
    "anchors and titles as examples": AnchorsAndTitles,
    "Thompson sampling": ThompsonSampling,
    "diversity": Diverse,
}


def run_variant(bench: TaskRunner, topic: str, variant: str, make: Callable[..., LinkModelStrategy]) -> Row:
    """Crawl one topic."""
    task = Task(web=bench.web.name, topic=topic, strategy="thresher", seed_set=SEED_SET, pages=PAGES)
    seeds = bench.seeds(task)
    strategy = make(*bench.strategy_arguments(task))
    simulator = Simulator(bench.web, bench.pages, judge=bench.judge(task, seeds), strategy=strategy)
    crawl = asyncio.run(simulator.run([bench.web.url_of(seed) for seed in seeds], PAGES))
    targets = bench.web.targets(topic)
    hits, oracle = (
        [fetch.page_id in targets for fetch in crawl.fetches],
        bench.oracle(targets, tuple(seeds), PAGES, frozenset()),
    )
    return {
        "web": bench.web.name,
        "topic": topic,
        "variant": variant,
        "percent_of_oracle": metrics.percent_of_oracle(hits, oracle.hits, PAGES),
        "percent_of_oracle_60": metrics.percent_of_oracle(hits, oracle.hits, 60),
        "hr_at_r": 100 * metrics.harvest_at_targets(hits, len(targets)),
    }


def with_table(path: Path, *arguments: Any) -> LinkModelStrategy:
    """Make the strategy with another table of word vectors."""
    table = read_word_vectors(path)
    strategies.load_word_vectors = lambda: table  # type: ignore[assignment]
    try:
        return LinkModelStrategy(*arguments)
    finally:
        strategies.load_word_vectors = load_word_vectors


def show(web: str) -> None:
    """Print the mean of each variant, and its difference to the strategy as it is."""
    rows = [row for row in read_rows(RESULTS) if row["web"] == web]
    for measure, title in MEASURES.items():
        scores = [
            Score(strategy=row["variant"], topic=row["topic"], seed_set=SEED_SET, value=row[measure]) for row in rows
        ]
        lines = [
            [each.strategy, f"{each.mean.mean:.1f}", f"{each.difference.mean:+.1f}",
             f"[{each.difference.low:+.1f}, {each.difference.high:+.1f}]"]
            for each in compare_paired(scores, WHOLE)
        ]  # fmt: skip
        echo_table([f"{web}, {len({row['topic'] for row in rows})} topics", title, "difference", "95 %"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.effectiveness.name_experiments", description=__doc__)
    parser.add_argument("--web", default="wikispeedia")
    parser.add_argument("--table", action="append", default=[], metavar="NAME=FILE", help="another table of vectors")
    parser.add_argument("--only", action="append", help="variants to run, by name")
    parser.add_argument("--print", action="store_true", help="run nothing")
    options = parser.parse_args()
    if not options.print:
        tables = dict(each.split("=", 1) for each in options.table)
        variants = {**VARIANTS, **{name: partial(with_table, Path(path)) for name, path in tables.items()}}
        known = {(row["web"], row["topic"], row["variant"]) for row in read_rows(RESULTS)}
        bench = TaskRunner.open(options.web)
        for topic in split(options.web, "dev"):
            for name, make in variants.items():
                if name in (options.only or variants) and (options.web, topic, name) not in known:
                    add_rows(RESULTS, [run_variant(bench, topic, name, make)])
            print(topic, flush=True)
    show(options.web)


if __name__ == "__main__":
    main()

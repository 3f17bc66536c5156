"""What classifiers cost: ``python -m bench.speed.classifiers``.

Two figures, on made-up pages whose words are drawn by Zipf's law: training and asking a taxonomy classifier of 1,282
classes with 150 pages each, and scoring one page by a pipeline and by the plain scorer made from it.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from thresher_papers.judges.estimators.chi_square import ChiSquareSelector
from thresher_papers.judges.estimators.itfidf import ItfIdf
from thresher_papers.judges.estimators.mutual_information import MutualInformationPruner
from thresher_papers.judges.estimators.section_counter import SectionCounter
from thresher_papers.judges.estimators.taxonomy_classifier import TaxonomyClassifier
from thresher_papers.judges.estimators.weighted_bayes import WeightedNaiveBayes
from thresher_papers.judges.persistence.files import load, save
from thresher_papers.judges.persistence.flatten import flatten

VOCABULARY = 200_000
WORDS_PER_PAGE = 300
OWN_WORDS = 40


def pages(classes: int, per_class: int) -> tuple[Any, Any]:
    """Draw pages: each class has words of its own besides those of all."""
    random = np.random.default_rng(0)
    chance = 1 / np.arange(1, VOCABULARY + 1)
    total = classes * per_class
    y = np.repeat(np.arange(classes), per_class)
    common = random.choice(VOCABULARY, size=(total, WORDS_PER_PAGE - OWN_WORDS), p=chance / chance.sum())
    own = random.integers(VOCABULARY // 10, VOCABULARY, size=(classes, 200))[y][:, random.integers(200, size=OWN_WORDS)]
    columns = np.hstack([common, own]).ravel()
    ends = np.arange(total + 1) * WORDS_PER_PAGE
    X = sparse.csr_matrix((np.ones(len(columns)), columns, ends), shape=(total, VOCABULARY))
    X.sum_duplicates()
    return X, y


def taxonomy(classes: int, per_class: int) -> None:
    """Train over many classes, ask, save and load; print seconds and memory."""
    X, y = pages(classes, per_class)
    start = _peak_gib()
    steps = {"chi-square, 500 per class": ChiSquareSelector(), "mutual information, 8,000": MutualInformationPruner()}
    for name, selector in steps.items():
        began = time.perf_counter()
        chosen = selector.fit(X, y).transform(X)
        chose = time.perf_counter()
        classifier = TaxonomyClassifier(random_state=0).fit(chosen, y)
        trained = time.perf_counter()
        classifier.predict(chosen[:1000])
        asked = time.perf_counter()
        print(f"{classes:,} classes x {per_class} pages, {name}: {chosen.shape[1]:,} terms, ", end="")
        print(f"{classifier.seen_log_ratio_.nnz:,} values; chosen in {chose - began:.1f} s, ", end="")
        print(f"trained in {trained - chose:.1f} s, {asked - trained:.2f} ms per page in batches; ", end="")
        print(f"saved {_saved_mib(selector, classifier):.0f} MiB")
    print(f"peak memory {_peak_gib():.1f} GiB, {start:.1f} GiB of it before training (the pages)")


def _peak_gib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _saved_mib(selector: Any, classifier: Any) -> float:
    counter = SectionCounter()
    counter.vocabulary_ = {f"w{word}": word for word in range(VOCABULARY)}
    scorer = flatten(Pipeline([("count", counter), ("choose", selector), ("classify", classifier)]))
    with tempfile.TemporaryDirectory() as folder:
        save(scorer, Path(folder))
        load(Path(folder))
        return sum(path.stat().st_size for path in Path(folder).iterdir()) / 2**20


def one_page(classes: int, per_class: int) -> None:
    """Time the judgement of one page by a pipeline and by the plain scorer; counting its words is not in it."""
    X, y = pages(classes, per_class)
    texts = [" ".join(f"w{word}" for word in row.indices) for row in X]
    steps = [
        ("count", SectionCounter()),
        ("prune", MutualInformationPruner()),
        ("weigh", ItfIdf()),
        ("classify", WeightedNaiveBayes()),
    ]
    pipeline = Pipeline(steps).fit(texts, y)
    scorer = flatten(pipeline)
    rows, counts = pipeline[0].transform(texts[:300]), [scorer.count({"body": text}) for text in texts[:300]]
    slow = _milliseconds(lambda number: pipeline[1:].predict_proba(rows[number]), 300)
    fast = _milliseconds(lambda number: scorer.probabilities(counts[number]), 300)
    print(f"one page, {classes} classes, {X[0].nnz} distinct words: pipeline {slow:.2f} ms, plain scorer {fast:.3f} ms")


def _milliseconds(judge: Callable[[int], Any], count: int) -> float:
    taken = []
    for number in range(count):
        began = time.perf_counter()
        judge(number)
        taken.append(1000 * (time.perf_counter() - began))
    return median(taken)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.speed.classifiers", description="What classifiers cost.")
    parser.add_argument("--classes", type=int, default=1_282)
    parser.add_argument("--pages", type=int, default=150, help="of each class")
    options = parser.parse_args()
    one_page(2, 200)
    one_page(20, 100)
    one_page(200, 20)
    taxonomy(options.classes, options.pages)


if __name__ == "__main__":
    main()

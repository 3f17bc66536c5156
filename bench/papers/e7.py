"""E7: is ITFIDF better than TFIDF, and why? ``python -m bench.papers.e7`` (needs THRESHER_WEBS).

Every way of weighing has the same pruning (mutual information, best 8,000) and the same naive Bayes, but for two rows
that keep all terms. ITFIDF differs from TFIDF in three ways at once, which are taken apart: sections, the shape of the
gain (which terms gain more) and its size (every vector becomes several times longer, so smoothing and priors weigh
less). Rows go to ``bench/results/e7.jsonl``; a split that stands there is not run again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from bench.papers.text_corpora import CORPORA, Corpus
from thresher.judges.estimators.itfidf import ItfIdf, information_gain
from thresher.judges.estimators.mutual_information import MutualInformationPruner
from thresher.judges.estimators.section_counter import SectionCounter
from thresher.judges.estimators.weighted_bayes import WeightedNaiveBayes

RESULTS = Path(__file__).parents[1] / "results" / "e7.jsonl"
ALPHAS = [10.0**exponent for exponent in np.arange(-4, 3.01, 0.5)]
FOLDS = 5
SAMPLES = 2_000
PAPER = {"reuters": 5.3, "reuters-binary": 5.3, "newsgroups-a": 5.6, "newsgroups-b": 5.6, "dmoz": 1.1}
Row = dict[str, Any]
Bits = NDArray[np.bool_]


@dataclass(frozen=True)
class Method:
    """A way of weighing terms before naive Bayes.

    Args:
        sections: Whether sections weigh 4, 3, 2, 1; otherwise all weigh 1.
        weigh: Whether idf and unit length are applied at all.
        gain: Whether every term has its own gain.
        size: What all weights are multiplied with: ``mean`` gain, ``unmean`` (divided by it), or nothing.
        tuned: Whether smoothing is chosen by cross-validation on training data; otherwise it is 1.
        pruned: Whether the best 8,000 terms are kept; otherwise all that stand in three documents.
    """

    sections: bool = False
    weigh: bool = True
    gain: bool = False
    size: str = ""
    tuned: bool = False
    pruned: bool = True


METHODS: Mapping[str, Method] = {
    "counts": Method(weigh=False),
    "TFIDF": Method(),
    "sections only": Method(sections=True),
    "IG only": Method(gain=True),
    "ITFIDF": Method(sections=True, gain=True),
    "TFIDF x mean IG": Method(size="mean"),
    "IG / mean IG": Method(gain=True, size="unmean"),
    "counts, tuned": Method(weigh=False, tuned=True),
    "TFIDF, tuned": Method(tuned=True),
    "sections, tuned": Method(sections=True, tuned=True),
    "TFIDF x mean IG, tuned": Method(size="mean", tuned=True),
    "IG, tuned": Method(gain=True, tuned=True),
    "ITFIDF, tuned": Method(sections=True, gain=True, tuned=True),
    "TFIDF, tuned, all terms": Method(tuned=True, pruned=False),
    "ITFIDF, tuned, all terms": Method(sections=True, gain=True, tuned=True, pruned=False),
}
BASELINES = {
    "linear SVM": LinearSVC(C=1.0, random_state=0),
    "logistic regression": LogisticRegression(C=10.0, max_iter=1_000),
}
NAMES = [*METHODS, *BASELINES]
PAIRS = [
    ("ITFIDF", "TFIDF"),
    ("TFIDF x mean IG", "TFIDF"),
    ("ITFIDF", "TFIDF x mean IG"),
    ("IG / mean IG", "TFIDF"),
    ("sections only", "TFIDF"),
    ("ITFIDF, tuned", "TFIDF, tuned"),
    ("ITFIDF, tuned", "TFIDF x mean IG, tuned"),
    ("IG, tuned", "TFIDF x mean IG, tuned"),
    ("sections, tuned", "TFIDF, tuned"),
    ("TFIDF, tuned, all terms", "TFIDF, tuned"),
    ("ITFIDF, tuned, all terms", "TFIDF, tuned, all terms"),
    ("linear SVM", "TFIDF, tuned, all terms"),
]


@dataclass(frozen=True)
class Problem:
    """One question with training and test documents: counts with even and with weighted sections, and labels."""

    even: tuple[Any, Any]
    weighted: tuple[Any, Any]
    y: NDArray[Any]

    def fold(self, rest: NDArray[np.intp], out: NDArray[np.intp]) -> Problem:
        """Part the training documents once more."""
        even, weighted = self.even[0], self.weighted[0]
        return Problem((even[rest], even[out]), (weighted[rest], weighted[out]), self.y[rest])


def weigh(problem: Problem, method: Method) -> tuple[Any, Any]:
    """Prune and weigh training and test documents; all is learned from the training documents."""
    pruner = MutualInformationPruner(k=8_000 if method.pruned else None)
    kept = pruner.fit(problem.even[0], problem.y).get_support()
    train, test = (X[:, kept] for X in (problem.weighted if method.sections else problem.even))
    if not method.weigh:
        return train, test
    weighting = ItfIdf(use_gain=method.gain).fit(train)
    mean = float(np.maximum(information_gain(train), 0).mean())
    factor = {"mean": mean, "unmean": 1 / mean}.get(method.size, 1.0)
    return weighting.transform(train) * factor, weighting.transform(test) * factor


def choose_alpha(problem: Problem, method: Method) -> float:
    """Choose smoothing by macro F1 in cross-validation on the training documents."""
    scores = np.zeros(len(ALPHAS))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for rest, out in folds.split(problem.even[0], problem.y):
        train, test = weigh(problem.fold(rest, out), method)
        for number, alpha in enumerate(ALPHAS):
            predicted = WeightedNaiveBayes(alpha=alpha).fit(train, problem.y[rest]).predict(test)
            scores[number] += _macro(problem.y[out], predicted)
    return ALPHAS[int(np.argmax(scores))]


def _macro(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Give macro F1; of a question with yes and no, F1 of yes."""
    classes = [True] if truth.dtype == bool else np.unique(truth)
    table = [np.column_stack([labels == name for name in classes]) for labels in (truth, predicted)]
    return float(f1(np.ones(len(truth)), *table).mean())


def f1(weights: NDArray[np.float64], truth: Bits, predicted: Bits) -> NDArray[np.float64]:
    """Give F1 of each class, over documents that count as often as their weights say."""
    hits = weights @ (truth & predicted)
    misses = weights @ (truth ^ predicted)
    return np.divide(2 * hits, 2 * hits + misses, out=np.zeros(hits.shape), where=hits > 0)


def predict(problem: Problem, name: str) -> tuple[NDArray[Any], float]:
    """Give what a method says of the test documents, and its smoothing."""
    if name in BASELINES:
        return _predict_baseline(problem, name), 0.0
    method = METHODS[name]
    alpha = choose_alpha(problem, method) if method.tuned else 1.0
    train, test = weigh(problem, method)
    return WeightedNaiveBayes(alpha=alpha).fit(train, problem.y).predict(test), alpha


def _predict_baseline(problem: Problem, name: str) -> NDArray[Any]:
    train, test = problem.even
    frequent = np.asarray((train > 0).sum(axis=0)).ravel() >= 3
    weighting = TfidfTransformer(sublinear_tf=True).fit(train[:, frequent])
    classifier = BASELINES[name].fit(weighting.transform(train[:, frequent]), problem.y)
    answer: NDArray[Any] = classifier.predict(weighting.transform(test[:, frequent]))
    return answer


def run(corpus: Corpus, even: Any, weighted: Any, repeat: int) -> Row:
    """Run all methods on one split of a corpus."""
    train, test = corpus.splits[repeat]
    parts = {"even": (even[train], even[test]), "weighted": (weighted[train], weighted[test])}
    truth = corpus.labels[test]
    said: dict[str, Bits] = {}
    alphas: dict[str, Any] = {}
    for name in NAMES:
        started = time.perf_counter()
        if corpus.several_labels:
            answers = [predict(Problem(**parts, y=of_class), name) for of_class in corpus.labels[train].T]
            said[name] = np.column_stack([predicted for predicted, _ in answers])
            alphas[name] = [alpha for _, alpha in answers]
        else:
            predicted, alphas[name] = predict(Problem(**parts, y=corpus.labels[train].argmax(axis=1)), name)
            said[name] = predicted[:, None] == np.arange(len(corpus.classes))
        macro = 100 * f1(np.ones(len(test)), truth, said[name]).mean()
        _say(f"{corpus.name} {repeat}: {name}: macro F1 {macro:.1f} in {time.perf_counter() - started:.0f} s")
    return {
        "corpus": corpus.name,
        "repeat": repeat,
        "classes": corpus.classes,
        "train": len(train),
        "test": len(test),
        **_gain_facts(parts["weighted"][0], corpus, train, parts["even"][0]),
        "alpha": {name: alphas[name] for name in METHODS},
        "f1": {name: f1(np.ones(len(test)), truth, said[name]).round(5).tolist() for name in NAMES},
        "cells": _cells([truth, *(said[name] for name in NAMES)]),
    }


def _gain_facts(weighted: Any, corpus: Corpus, train: NDArray[np.intp], even: Any) -> Row:
    y = corpus.labels[train].argmax(axis=1)
    kept = MutualInformationPruner().fit(even, y).get_support()
    weighting = ItfIdf().fit(weighted[:, kept])
    correlation = float(np.corrcoef(weighting.gain_, weighting.idf_)[0, 1])
    mean = float(weighting.gain_.mean())
    return {"terms": int(kept.sum()), "mean_gain": round(mean, 3), "gain_idf_correlation": round(correlation, 4)}


def _cells(tables: Sequence[Bits]) -> dict[str, int]:
    """Count documents by what is true of them and what every method says, as digits of base 16."""
    powers = 1 << np.arange(tables[0].shape[1])
    masks = np.column_stack([table @ powers for table in tables])
    return dict(Counter("".join(f"{mask:03x}" for mask in row) for row in masks.tolist()))


def read_cells(row: Row) -> tuple[NDArray[np.float64], dict[str, Bits]]:
    """Give how many documents each cell holds, and the table of every method; ``truth`` is one of them."""
    width = len(row["classes"])
    masks = np.array([[int(cell[i : i + 3], 16) for i in range(0, len(cell), 3)] for cell in row["cells"]])
    bits = (masks[:, :, None] >> np.arange(width)) & 1 == 1
    tables = dict(zip(["truth", *NAMES], bits.swapaxes(0, 1), strict=True))
    return np.array(list(row["cells"].values()), dtype=float), tables


def difference(rows: Sequence[Row], one: str, other: str, *, seed: int = 0) -> tuple[float, float, float]:
    """Give the mean difference of macro F1 in points with its 95 % interval.

    Every sample draws one of the repeats, its documents and its classes, all with replacement.
    """
    random = np.random.default_rng(seed)
    repeats = [read_cells(row) for row in rows]
    means = [100 * (np.mean(row["f1"][one]) - np.mean(row["f1"][other])) for row in rows]
    samples = []
    for _ in range(SAMPLES):
        counts, tables = repeats[random.integers(len(repeats))]
        drawn = random.multinomial(int(counts.sum()), counts / counts.sum()).astype(float)
        gained = f1(drawn, tables["truth"], tables[one]) - f1(drawn, tables["truth"], tables[other])
        samples.append(100 * gained[random.integers(len(gained), size=len(gained))].mean())
    low, high = np.percentile(samples, [2.5, 97.5])
    return float(np.mean(means)), float(low), float(high)


def report(rows: Sequence[Row]) -> str:
    """Write the tables: macro F1 of every method, differences, and what was learned of gain and smoothing."""
    by_corpus = {name: [row for row in rows if row["corpus"] == name] for name in CORPORA}
    by_corpus = {name: found for name, found in by_corpus.items() if found}
    heads = list(by_corpus)
    table = [_line(["macro F1", *heads]), _line(["---"] * (len(heads) + 1))]
    for name in NAMES:
        table.append(_line([name, *(f"{100 * _mean_f1(found, name):.1f}" for found in by_corpus.values())]))
    table += ["", _line(["difference", *heads]), _line(["---"] * (len(heads) + 1))]
    paper = (f"+{PAPER[head]}" if head in PAPER else "" for head in heads)
    table.append(_line(["paper: ITFIDF - TFIDF", *paper]))
    for one, other in PAIRS:
        found = (difference(of_corpus, one, other) for of_corpus in by_corpus.values())
        table.append(
            _line([f"{one} - {other}", *(f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]" for mean, low, high in found)])
        )
    table += ["", _line(["facts", *heads]), _line(["---"] * (len(heads) + 1)), *_facts(by_corpus)]
    return "\n".join(table)


def _facts(by_corpus: Mapping[str, list[Row]]) -> Iterable[str]:
    for name in ("train", "test", "terms", "mean_gain", "gain_idf_correlation"):
        yield _line([name, *(f"{np.mean([row[name] for row in found]):.4g}" for found in by_corpus.values())])
    for method in ("TFIDF, tuned", "ITFIDF, tuned"):
        alphas = ([row["alpha"][method] for row in found] for found in by_corpus.values())
        yield _line([f"smoothing of {method}", *(f"{np.median(np.ravel(chosen)):.2g}" for chosen in alphas)])


def _mean_f1(rows: Sequence[Row], name: str) -> float:
    return float(np.mean([row["f1"][name] for row in rows]))


def classes_table(rows: Sequence[Row]) -> str:
    """Write F1 of every class for TFIDF and ITFIDF, as the paper's figure 2 draws it."""
    lines = [_line(["corpus", "class", *SHOWN]), _line(["---"] * (len(SHOWN) + 2))]
    for corpus in CORPORA:
        found = [row for row in rows if row["corpus"] == corpus]
        for number, name in enumerate(found[0]["classes"] if found else []):
            values = (100 * np.mean([row["f1"][method][number] for row in found]) for method in SHOWN)
            lines.append(_line([corpus, name, *(f"{value:.1f}" for value in values)]))
    return "\n".join(lines)


SHOWN = ["TFIDF", "ITFIDF", "TFIDF x mean IG", "TFIDF, tuned", "ITFIDF, tuned", "linear SVM"]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def read_rows(path: Path) -> list[Row]:
    """Read the rows that are there."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.papers.e7", description="Is ITFIDF better than TFIDF?")
    parser.add_argument("--corpora", nargs="+", choices=list(CORPORA), default=list(CORPORA))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--report", action="store_true", help="only print the tables of what is there")
    parser.add_argument("--classes", action="store_true", help="print F1 of every class, too")
    options = parser.parse_args()
    done = {(row["corpus"], row["repeat"]) for row in read_rows(options.results)}
    for name in [] if options.report else options.corpora:
        corpus = CORPORA[name]()
        todo = [repeat for repeat in range(len(corpus.splits)) if (name, repeat) not in done]
        if todo:
            even = SectionCounter(headline=1, keywords=1, anchor=1, body=1).fit_transform(corpus.documents)
            weighted = SectionCounter().fit_transform(corpus.documents)
        for repeat in todo:
            with options.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(run(corpus, even, weighted, repeat), ensure_ascii=False) + "\n")
    rows = read_rows(options.results)
    print(report(rows))
    if options.classes:
        print(f"\n{classes_table(rows)}")


if __name__ == "__main__":
    main()

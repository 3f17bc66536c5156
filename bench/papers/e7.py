"""E7 in detail: is ITFIDF better than TFIDF, and why? ``python -m bench.papers.e7`` (needs THRESHER_WEBS).

The runs are those of ``thresher lab reproduce E7``; here differences have intervals over documents and classes, and
what was learned of gain and smoothing is printed. Rows go to ``bench/results/reproduce/E7.jsonl``; a split that stands
there is not run again.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thresher_lab.reproduce.itfidf import PAPER
from thresher_lab.reproduce.itfidf_runs import NAMES, Bits, Row, f1, run_corpora
from thresher_lab.reproduce.text_corpora import CORPORA
from thresher_lab.statistics.result_rows import read_rows

RESULTS = Path(__file__).parents[1] / "results" / "reproduce" / "E7.jsonl"
SAMPLES = 2_000
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


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.papers.e7", description="Is ITFIDF better than TFIDF?")
    parser.add_argument("--corpora", nargs="+", choices=list(CORPORA), default=list(CORPORA))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--report", action="store_true", help="only print the tables of what is there")
    parser.add_argument("--classes", action="store_true", help="print F1 of every class, too")
    options = parser.parse_args()
    if not options.report:
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        run_corpora(options.results, options.corpora, progress=lambda: None)
    rows = read_rows(options.results)
    print(report(rows))
    if options.classes:
        print(f"\n{classes_table(rows)}")


if __name__ == "__main__":
    main()

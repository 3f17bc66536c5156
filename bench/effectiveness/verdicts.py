"""How good are the default judge's verdicts? ``python -m bench.effectiveness.verdicts`` (needs THRESHER_WEBS).

Crawls: best-first with the adaptive judge, 500 fetches, from 1 and 3 seeds and a phrase. Streams: shuffled pages, 5 to
90 % of them on topic, from 1 and 3 seeds. Seeds and dead links are never scored. At the end of each crawl and stream a
person who knows the truth answers one question at a time, always about the page nearest to the threshold. Rows are
added to bench/results/verdicts-<split>.jsonl as they come; what is there is not run again, and ``--print`` only prints
it.

Per crawl: precision, recall and F1 without labels; the best F1 that any threshold would give; average precision;
calibration error over ten steps of probability; the share of verdicts that changed after the page came; and after 5,
10 and 20 answers F1 on pages not asked about, over all pages, and by halves: the questions are about one half of the
pages, and F1 is that of the other half, so that it is the same pages whatever is asked. "Covered" is the share of
crawls in which the number of pages on topic is in the interval of `feedback/count_interval.py`. Means are over topics,
with 95 % bootstrap intervals. The pooled calibration error adds up all pages of a language before it compares, so that
it does not count chance in small bins.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bench.effectiveness.verdict_topics import (
    LANGUAGES,
    TOPICS,
    Arrival,
    TopicCrawl,
    WatchedJudge,
    chosen_topics,
)
from thresher.feedback.count_interval import count_interval
from thresher.feedback.sampling import LabelCandidate, nearest_to_threshold
from thresher.frontier.base import Counts
from thresher_lab.simulation.tasks import TaskRunner
from thresher_lab.simulation.topic_splits import Side
from thresher_lab.statistics.result_rows import add_rows, read_rows
from thresher_lab.statistics.significance import bootstrap_mean

RESULTS = Path(__file__).parents[1] / "results"
SHARES = (0.05, 0.25, 0.4, 0.5, 0.75, 0.9)
STREAM_SEEDS = 3
"""The crawls whose streams the constants of the judge are fitted to."""
SEEDS_SCORED = (1, 3)
ANSWERS = (5, 10, 20)
STEPS = 10

Row = dict[str, Any]
Flags = NDArray[np.bool_]
Chances = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """The pages of a crawl: the truth, the verdict as each page came, and verdict and probability at the end."""

    truth: Flags
    arrived: Flags
    flagged: Flags
    chances: Chances

    def row(self) -> Row:
        """Give every measure of one crawl."""
        return {
            "pages": len(self.truth),
            "on_topic": int(self.truth.sum()),
            "arrived": int(self.arrived.sum()),
            "flagged": int(self.flagged.sum()),
            "right": int((self.truth & self.flagged).sum()),
            "f1": f1(self.truth, self.flagged),
            "best_f1": best_f1(self.truth, self.chances),
            "average_precision": average_precision(self.truth, self.chances),
            "calibration_error": calibration_error(steps_of(self.truth, self.chances)),
            "steps": [[round(float(value), 3) for value in step] for step in steps_of(self.truth, self.chances)],
            "changed": float((self.arrived != self.flagged).mean()),
        }


def f1(truth: Flags, flagged: Flags) -> float | None:
    """Return F1; None when nothing is on topic and nothing is flagged."""
    both = int(truth.sum()) + int(flagged.sum())
    return 2 * int((truth & flagged).sum()) / both if both else None


def best_f1(truth: Flags, chances: Chances) -> float | None:
    """Return the best F1 that a threshold on these probabilities can give."""
    ranked = truth[np.argsort(-chances, kind="stable")]
    right, taken = np.cumsum(ranked), np.arange(1, len(ranked) + 1)
    return float((2 * right / (taken + truth.sum())).max()) if truth.any() else None


def average_precision(truth: Flags, chances: Chances) -> float | None:
    """Return the mean precision at each page on topic, the likeliest page first."""
    ranked = truth[np.argsort(-chances, kind="stable")]
    return float((np.cumsum(ranked) / np.arange(1, len(ranked) + 1))[ranked].mean()) if truth.any() else None


def steps_of(truth: Flags, chances: Chances) -> list[tuple[int, float, int]]:
    """Count pages, add up probabilities and pages on topic, in ten equal steps of probability."""
    inside = np.minimum((chances * STEPS).astype(int), STEPS - 1)
    masks = [inside == step for step in range(STEPS)]
    return [(int(mask.sum()), float(chances[mask].sum()), int(truth[mask].sum())) for mask in masks]


def calibration_error(steps: Sequence[Sequence[float]]) -> float:
    """Return the mean distance between what was promised and what came true, over the steps."""
    return sum(abs(promised - came) for _, promised, came in steps) / max(sum(step[0] for step in steps), 1)


def verdicts_on(judge: WatchedJudge, arrivals: Sequence[Arrival]) -> Verdicts:
    """Judge all pages by the last model."""
    judged = [judge.judge(arrival.page) for arrival in arrivals]
    return Verdicts(
        truth=np.array([arrival.on_topic for arrival in arrivals]),
        arrived=np.array([arrival.judged.relevant for arrival in arrivals]),
        flagged=np.array([judgement.relevant for judgement in judged]),
        chances=np.array([judgement.relevance for judgement in judged]),
    )


def answer(judge: WatchedJudge, arrivals: Sequence[Arrival], pool: Flags) -> Iterator[tuple[int, Flags, Verdicts]]:
    """Answer questions about pages of the pool, and withdraw all answers at last.

    Yields:
        Number of answers, which pages have one, and all verdicts.
    """
    truth = {arrival.page.url: arrival.on_topic for arrival in arrivals}
    chances = {
        arrival.page.url: judge.judge(arrival.page).relevance
        for arrival, inside in zip(arrivals, pool, strict=True)
        if inside
    }
    asked: dict[str, None] = {}
    for number in range(1, max(ANSWERS) + 1):
        free = [LabelCandidate(url=url, relevance=chance) for url, chance in chances.items() if url not in asked]
        for candidate in nearest_to_threshold(free, 1, threshold=judge.threshold):
            asked[candidate.url] = None
            revisions = judge.teach({candidate.url: truth[candidate.url]})
            chances |= {each.url: each.judgement.relevance for each in revisions if each.url in chances}
        if number in ANSWERS:
            yield number, np.array([arrival.page.url in asked for arrival in arrivals]), verdicts_on(judge, arrivals)
    judge.teach(dict.fromkeys(asked))


def answered_row(judge: WatchedJudge, arrivals: Sequence[Arrival]) -> Row:
    """Measure what 5, 10 and 20 answers change."""
    row: Row = {}
    half = np.array([crc32(arrival.page.url.encode()) % 2 == 1 for arrival in arrivals])
    for number, asked, after in answer(judge, arrivals, np.ones(len(arrivals), dtype=bool)):
        row[f"rest_f1_{number}"] = f1(after.truth[~asked], after.flagged[~asked])
        row[f"all_f1_{number}"] = f1(after.truth, after.flagged)
        row[f"covered_{number}"] = is_covered(after, int(asked.sum()))
    halves: dict[int, list[tuple[Flags, Flags]]] = {}
    for pool in (half, ~half):
        for number, _, after in answer(judge, arrivals, pool):
            halves.setdefault(number, []).append((after.truth[~pool], after.flagged[~pool]))
    for number, parts in halves.items():
        row[f"half_f1_{number}"] = f1(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    return row


def is_covered(verdicts: Verdicts, labels: int) -> bool:
    """Return whether the number of pages on topic is in the interval that ``status`` prints."""
    counts = Counts(pages=len(verdicts.truth), relevant=int(verdicts.flagged.sum()))
    interval = count_interval(counts, labels)
    return interval.least <= int(verdicts.truth.sum()) <= interval.most


def measured(judge: WatchedJudge, arrivals: Sequence[Arrival]) -> Row:
    """Measure verdicts without labels, then with them."""
    before = verdicts_on(judge, arrivals)
    return before.row() | {"covered": is_covered(before, 0)} | answered_row(judge, arrivals)


def measure(bench: TaskRunner, topic: str, seeds: int) -> Iterator[Row]:
    """Measure the crawl of a topic and its streams."""
    started, base = time.process_time(), {"web": bench.web.name, "topic": topic, "seeds": seeds}
    crawl = TopicCrawl(bench, topic, seeds)
    judge = crawl.new_judge()
    arrivals = crawl.crawl(judge)
    if arrivals:
        row = measured(judge, arrivals)
        yield base | {"share": None} | row | {"cpu_seconds": round(time.process_time() - started, 1)}
    for share in SHARES:
        judge = crawl.new_judge()
        if stream := crawl.stream(judge, arrivals, share):
            yield base | {"share": share} | measured(judge, stream)


def run(side: Side, path: Path, topics: int | None) -> None:
    """Run what is missing, of at most `topics` topics of each web."""
    done = {(row["web"], row["topic"], row["seeds"]) for row in read_rows(path)}
    wanted = [
        (web, topic, n) for n in SEEDS_SCORED for web in TOPICS[side] for topic in chosen_topics(side, web)[:topics]
    ]
    missing = [task for task in wanted if task not in done]
    benches: dict[str, TaskRunner] = {}
    for number, (web, topic, seeds) in enumerate(missing, start=1):
        bench = benches.get(web) or benches.setdefault(web, TaskRunner.open(web))
        add_rows(path, list(measure(bench, topic, seeds)))
        print(f"{number} of {len(missing)}: {web} {topic}, {seeds} seeds", flush=True)
    for bench in benches.values():
        bench.flush()


def _answered(key: str, row: Row) -> float | None:
    value: float | None = row.get(key)
    return value


MEASURES: dict[str, Callable[[Row], float | None]] = {
    "F1": lambda row: row["f1"],
    "best F1": lambda row: row["best_f1"],
    "precision": lambda row: row["right"] / row["flagged"] if row["flagged"] else None,
    "recall": lambda row: row["right"] / row["on_topic"] if row["on_topic"] else None,
    "avg. precision": lambda row: row["average_precision"],
    "calib. error": lambda row: row["calibration_error"],
    "changed": lambda row: row["changed"],
    "covered": lambda row: row["covered"],
    **{
        f"{name} {number}": partial(_answered, f"{key}_{number}")
        for key, name in (("rest_f1", "rest"), ("half_f1", "halves"), ("all_f1", "all"), ("covered", "covered"))
        for number in ANSWERS
    },
}


def line(name: str, rows: Sequence[Row]) -> str:
    """Print one line of the table: the means over topics, totals of flagged pages, the pooled calibration error."""
    cells = []
    for measure_of in MEASURES.values():
        by_topic: dict[tuple[str, str], list[float]] = {}
        for row in rows:
            if (value := measure_of(row)) is not None:
                by_topic.setdefault((row["web"], row["topic"]), []).append(value)
        mean = bootstrap_mean([float(np.mean(values)) for values in by_topic.values()]) if by_topic else None
        cells.append(f"{mean.mean:.3f} [{mean.low:.2f},{mean.high:.2f}]" if mean else "-".ljust(17))
    totals = {key: sum(row[key] for row in rows) for key in ("pages", "on_topic", "arrived", "flagged")}
    pooled = calibration_error(np.sum([row["steps"] for row in rows], axis=0))
    cells += [f"{pooled:.3f} ", *(f"{totals[key] / totals['pages']:.3f}" for key in ("on_topic", "flagged"))]
    return f"{name:16} {len(rows):4} {' '.join(cells)} {totals['arrived'] / max(totals['flagged'], 1):.2f}"


def show(rows: Sequence[Row]) -> None:
    """Print the table."""
    print(f"{'':16} rows " + " ".join(f"{name:17}" for name in MEASURES) + "  pooled on-topic flagged arrived/end")
    for language in dict.fromkeys(LANGUAGES.values()):
        own = [row for row in rows if LANGUAGES[row["web"]] == language]
        for share in (None, *SHARES):
            shared = [row for row in own if row["share"] == share]
            for seeds in SEEDS_SCORED:
                if some := [row for row in shared if row["seeds"] == seeds]:
                    print(line(f"{language} {'crawl' if share is None else f'{share:.0%}'} {seeds}", some))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.effectiveness.verdicts", description="How good are the verdicts?"
    )
    parser.add_argument("--split", choices=["dev", "test"], default="test")
    parser.add_argument("--topics", type=int, help="topics of each web at most; by default as many as are chosen")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the rows")
    parser.add_argument("--print", action="store_true", help="print the rows that are there")
    options = parser.parse_args()
    path = options.results / f"verdicts-{options.split}.jsonl"
    if not options.print:
        run(options.split, path, options.topics)
    show(read_rows(path))


if __name__ == "__main__":
    main()

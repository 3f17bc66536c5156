"""Fit the constants of `adaptive/cut.py` to dev topics: ``python -m bench.effectiveness.cut_constants``.

Needs THRESHER_WEBS; dev topics only. Every topic is crawled best-first from 1 and from 3 seeds, and streams with 5 to
90 % on-topic pages are made of its pages. Logits and truth of the sample after 100 to 400 pages and at the end are kept
in the folder ``--cache``, so that a run that was stopped goes on. The weights maximise the mean F1 at the predicted
cut, smoothed over nearby cuts, with a small L2 penalty; they start at those of the least-squares fit to the best cuts.
Chinese and other pages have weights of their own.

Printed are the weights; F1 at the fixed cut, at the cut predicted without the topic, and at the best one; the share of
crawls whose number of pages on topic is in the interval of `feedback/count_interval.py`, and the deviation that covers
`COVERED` of them.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from bench.effectiveness.verdict_constants import model_of
from bench.effectiveness.verdict_topics import TOPICS, TopicCrawl, WatchedJudge
from bench.effectiveness.verdicts import SHARES, Flags, best_f1, f1
from thresher.feedback.count_interval import DEVIATION, share_log_odds
from thresher.judges.adaptive.calibration import CHINESE, MAX_STEPS, OTHER, THRESHOLD, log_odds, logits_of
from thresher.judges.adaptive.cut import HIGHEST, LOWEST, MIN_PAGES, score_features
from thresher.judges.adaptive.terms import Weights
from thresher.records import ParsedPage, Revision
from thresher_lab.simulation.tasks import TaskRunner
from thresher_lab.simulation.topic_splits import split
from thresher_lab.statistics.result_rows import add_rows, read_rows

SEEDS = (1, 3)
SIZES = (100, 200, 300, 400)
MIN_ON_TOPIC, MIN_SCORED = 3, 40
STREAMS_WEIGHT = 0.7
"""Weight of all streams of a topic; its crawl counts 1."""
FIXED = log_odds(THRESHOLD)
GRID = np.arange(-6.0, 4.05, 0.1)
SMOOTHING = 0.5
L2 = 0.001
COVERED = 0.86
"""The share of dev crawls that the interval covers."""


class SampledJudge(WatchedJudge):
    """Records the probabilities of all pages of the sample, without any shift, at several sizes."""

    def learn(self, page: ParsedPage, *, seed: bool = False) -> Sequence[Revision]:
        revisions = super().learn(page, seed=seed)
        if len(self.arrivals) in SIZES:
            self.samples[len(self.arrivals)] = self.chances()
        return revisions

    @property
    def samples(self) -> dict[int, dict[str, float]]:
        samples: dict[int, dict[str, float]] = self.__dict__.setdefault("_samples", {})
        return samples

    def chances(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for side in self._languages.values():
            model, similarities = side._fit()
            found.update(zip(side.sample.urls, model.probabilities(similarities).tolist(), strict=True))
        return found


def crawled(web: str, cache: Path) -> list[dict[str, Any]]:
    """Crawl the dev topics of a web, and stream their pages; return logits and truth of every sample."""
    path = cache / f"{web}.jsonl"
    done = {(row["topic"], row["seeds"]) for row in read_rows(path)}
    missing = [(topic, seeds) for seeds in SEEDS for topic in split(web, "dev") if (topic, seeds) not in done]
    bench = TaskRunner.open(web) if missing else None
    for number, (topic, seeds) in enumerate(missing, start=1):
        assert bench is not None
        crawl = TopicCrawl(bench, topic, seeds, SampledJudge)
        judge = crawl.new_judge()
        arrivals = crawl.crawl(judge)
        found = [sample_row(judge, arrivals, topic, seeds, None)]
        for share in SHARES:
            judge = crawl.new_judge()
            found.append(sample_row(judge, crawl.stream(judge, arrivals, share), topic, seeds, share))
        add_rows(path, found)
        print(f"{web}: {number} of {len(missing)} crawls", flush=True)
    return read_rows(path)


def sample_row(judge: Any, arrivals: Sequence[Any], topic: str, seeds: int, share: float | None) -> dict[str, Any]:
    """Return logits and truth of all samples of a crawl: those of pages in the language that most pages have."""
    chinese = sum(arrival.page.language == CHINESE for arrival in arrivals) > len(arrivals) / 2
    truth = {a.page.url: bool(a.on_topic) for a in arrivals if (a.page.language == CHINESE) == chinese}
    samples = {**judge.samples, len(arrivals): judge.chances()} if arrivals else {}
    kept = []
    for chances in samples.values():
        urls = [url for url in chances if url in truth]
        logits = logits_of(np.array([chances[url] for url in urls]))
        kept.append([logits.round(3).tolist(), [int(truth[url]) for url in urls]])
    return {"topic": topic, "seeds": seeds, "share": share, "samples": kept}


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The logits of a sample with the truth.

    Args:
        kind: The number of seeds, and the share of a stream.
        last: Whether these are all pages of a crawl.
    """

    topic: str
    kind: tuple[float | None, int]
    logits: Weights
    truth: Flags
    weight: float
    last: bool

    @property
    def features(self) -> Weights:
        return score_features(self.logits, several=self.kind[1] > 1)


def samples_of(web: str, rows: Sequence[dict[str, Any]]) -> list[Sample]:
    """Return the samples that are large enough to fit to; those of a crawl weigh as much as one."""
    found = []
    streams = Counter((row["topic"], row["seeds"]) for row in rows if row["share"] and row["samples"])
    for row in rows:
        own = [(np.array(logits), np.array(truth, dtype=bool)) for logits, truth in row["samples"]]
        own = [each for each in own if len(each[1]) >= MIN_SCORED and each[1].sum() >= MIN_ON_TOPIC]
        for logits, truth in own:
            weight = (STREAMS_WEIGHT / streams[row["topic"], row["seeds"]] if row["share"] else 1.0) / len(own)
            kind, bounded = (row["share"], row["seeds"]), np.clip(logits, -MAX_STEPS, MAX_STEPS)
            last = logits is own[-1][0]
            if last or len(truth) >= MIN_PAGES * 0.9:
                found.append(Sample(topic=f"{web}/{row['topic']}", kind=kind, logits=bounded, truth=truth,
                                    weight=weight, last=last))  # fmt: skip
    return found


def curve(sample: Sample) -> Weights:
    """Return F1 at each cut of the grid, smoothed."""
    flagged = sample.logits[:, None] >= GRID
    scores = 2 * (flagged & sample.truth[:, None]).sum(0) / (flagged.sum(0) + sample.truth.sum())
    half = int(3 * SMOOTHING / 0.1)
    kernel = np.exp(-0.5 * (np.arange(-half, half + 1) * 0.1 / SMOOTHING) ** 2)
    return np.convolve(np.pad(scores, half, mode="edge"), kernel / kernel.sum(), "valid")


def best_cut(sample: Sample) -> float:
    """Return the middle of the cuts with nearly the best F1."""
    scores = curve(sample)
    return float(np.median(GRID[scores >= 0.97 * scores.max()]))


class Fitter:
    """Fits weights to some of the samples of a language."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._samples = samples
        self._x = np.array([sample.features for sample in samples])
        self._curves = np.array([curve(sample) for sample in samples])
        self._best = np.array([best_cut(sample) for sample in samples])
        self._weights = np.array([sample.weight for sample in samples])
        self._topics = np.array([sample.topic for sample in samples])

    def fit(self, without: str = "") -> Weights:
        """Return the weights of the features, then the intercept."""
        used = self._topics != without
        mean, deviation = self._x[used].mean(0), self._x[used].std(0) + 1e-9
        z = np.column_stack([(self._x[used] - mean) / deviation, np.ones(used.sum())])
        weights = self._weights[used] / self._weights[used].sum()
        penalty = np.diag([0.03] * (z.shape[1] - 1) + [0.0])
        start = np.linalg.solve((z * weights[:, None]).T @ z + penalty, (z * weights[:, None]).T @ self._best[used])
        curves, rows = self._curves[used], np.arange(len(z))

        def loss(parameters: Weights) -> tuple[float, Weights]:
            places = np.clip((z @ parameters - GRID[0]) / 0.1, 0.0, len(GRID) - 1.001)
            low = places.astype(int)
            left, right = curves[rows, low], curves[rows, low + 1]
            slopes = weights * (right - left) / 0.1
            free = np.append(parameters[:-1], 0.0)
            value = weights @ (left + (places - low) * (right - left)) - L2 * free @ free
            return -float(value), -(z.T @ slopes) + 2 * L2 * free

        found = minimize(loss, start, jac=True, method="L-BFGS-B").x
        scaled = found[:-1] / deviation
        return np.append(scaled, found[-1] - scaled @ mean)

    def shift(self, place: int, weights: Weights) -> float:
        cut = self._x[place] @ weights[:-1] + weights[-1]
        return float(np.clip(FIXED - cut, LOWEST, HIGHEST))

    def left_out(self) -> list[float]:
        """Return the shift of every sample by weights that were fitted without its topic."""
        by_topic = {topic: self.fit(topic) for topic in sorted(set(self._topics))}
        return [self.shift(place, by_topic[topic]) for place, topic in enumerate(self._topics)]


def off_by(sample: Sample, shift: float) -> float:
    """Return by how much the log-odds of the share of relevant pages miss those of the share of pages on topic."""
    pages, flagged = len(sample.truth), int((sample.logits + shift >= FIXED).sum())
    return abs(share_log_odds(int(sample.truth.sum()), pages) - share_log_odds(flagged, pages))


def show(name: str, samples: Sequence[Sample]) -> list[float]:
    """Fit one language; print weights and F1 by kind; return by how much the numbers of relevant pages were off."""
    fitter = Fitter(samples)
    print(f"{name}: {json.dumps(fitter.fit().round(3).tolist())}", flush=True)
    ends = [(sample, shift) for sample, shift in zip(samples, fitter.left_out(), strict=True) if sample.last]
    print("share seeds crawls   fixed  predicted  best   covered")
    for kind in sorted({sample.kind for sample, _ in ends}, key=str):
        own = [end for end in ends if end[0].kind == kind]
        cells = [
            np.mean([f1(s.truth, s.logits >= FIXED) or 0.0 for s, _ in own]),
            np.mean([f1(s.truth, s.logits + shift >= FIXED) or 0.0 for s, shift in own]),
            np.mean([best_f1(s.truth, s.logits) or 0.0 for s, _ in own]),
            np.mean([off_by(*end) <= DEVIATION for end in own]),
        ]
        print(f"{kind[0]!s:>5} {kind[1]:>5} {len(own):>6}   " + "   ".join(f"{cell:.3f}" for cell in cells))
    return [off_by(*end) for end in ends]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.effectiveness.cut_constants", description="Fit how the cut follows the crawl."
    )
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "cut-constants")
    options = parser.parse_args()
    by_web = {web: samples_of(web, crawled(web, options.cache)) for web in TOPICS["dev"]}
    off: list[float] = []
    for name in (OTHER, CHINESE):
        off += show(name, [sample for web, samples in by_web.items() if model_of(web) == name for sample in samples])
    print(f"DEVIATION = {np.quantile(off, COVERED):.2f}")


if __name__ == "__main__":
    main()

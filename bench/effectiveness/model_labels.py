"""What are labels of a language model worth that is wrong in some of its answers?

``python -m bench.effectiveness.model_labels`` (needs THRESHER_WEBS; about 40 minutes of one core).

Crawls of 100 pages stop, and a model labels pages of them, five at a time, before they go on to 400. The model is an
endpoint on this machine that is asked over HTTP by the client of `thresher label --model`. It answers by the true
labels, with 0, 10, 20 and 30 % of its answers wrong, always the same ones, and gives no probabilities: so every label
has the confidence that a model has before it was compared with people. Beside it no labels, and 20 labels of a person
without errors, who is asked as by `thresher label`. Test topics, one seed set of five seeds and a phrase.

Measured are F1 of the verdicts at the end on all pages of the crawl but the seeds; the gain on pages without a label:
their F1 minus that of the same judge on the same pages when all labels are withdrawn; the area under the hits of the
last 300 pages per area of an oracle that goes on from the same 100 pages; and the calls.
Rows are added to bench/results/model-labels.jsonl as they come; what is there is not run again, and ``--print`` only
prints it. ``--dev`` compares confidences on dev topics, in model-labels-dev.jsonl.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bench.effectiveness.judging_once import JudgingOnce
from bench.effectiveness.labels import show
from bench.effectiveness.verdicts import f1
from testing.model_endpoint import Reply, completion, model_endpoint, page_of
from thresher.config.model_labels import ModelLabelsConfig
from thresher.feedback.model_client import ModelClient, PageText, answer_key, messages
from thresher.feedback.model_labels import AnswerLog, ErrorRate, label_probability
from thresher.feedback.sampling import LabelCandidate, nearest_to_threshold
from thresher.judges.adaptive.calibration import THRESHOLD
from thresher.records import ParsedPage
from thresher_lab.simulation.labelling import (
    Chances,
    LabelledCrawl,
    LabelledCrawlResult,
    LabellingSchedule,
    PageCache,
    ask_nothing,
    ask_well,
    percent_of_oracle,
)
from thresher_lab.simulation.tasks import Task, TaskRunner
from thresher_lab.simulation.topic_splits import Side, split
from thresher_lab.statistics.result_rows import add_rows, read_rows

RESULTS = Path(__file__).parents[1] / "results"
WEBS = {"w3school_zh": 8, "wikispeedia": 12}
"""How many of the test topics are used, in the order of the draw."""
DEV_WEBS = {"w3school_zh": 4, "wikispeedia": 6}
ERRORS = (0.0, 0.1, 0.2, 0.3)
CALLS = 50
PERSON_LABELS = 20
NO_LABELS, PERSON = "no labels", f"person, {PERSON_LABELS} labels"
SEEDS = 5
MEASURES = {
    "f1": "F1 of all verdicts",
    "gain_unlabelled": "gain on unlabelled pages",
    "percent_of_oracle": "% of oracle of the rest",
    "calls": "calls",
}

Row = dict[str, Any]
Arm = tuple[str, float, int, float | None]
"""Name, share of wrong answers, calls, and the probability of an answer; None for that of the product."""

TEST_ARMS: Sequence[Arm] = [(f"model, {errors:.0%} wrong", errors, CALLS, None) for errors in ERRORS]
DEV_ARMS: Sequence[Arm] = [
    *((f"confidence {sure}", 0.2, CALLS, sure) for sure in (0.98, 0.8, 0.65)),
    *((f"{sure}, none wrong", 0.0, CALLS, sure) for sure in (0.8, 0.65)),
]


class MeasuredCrawl(LabelledCrawl):
    """A crawl of which only the crawled pages are judged, not all of the web."""

    def _chances(self) -> Chances:
        return np.empty(0)


class WrongModel:
    """Answers by the true labels, and wrongly for some pages, always the same ones."""

    def __init__(self, targets: Collection[str], topic: str, errors: float) -> None:
        self._targets, self._topic, self._errors = targets, topic, errors
        self._truths: dict[str, bool] = {}

    def expect(self, page: ParsedPage) -> None:
        """Note the true label of a page, by what is sent of it."""
        sent = page_of({"messages": messages("", shown(page), "")})
        self._truths[sent] = page.url in self._targets

    def __call__(self, request: dict[str, Any]) -> Reply:
        page = page_of(request)
        is_wrong = Random(f"{self._topic} {page}").random() < self._errors
        return completion("yes" if self._truths[page] != is_wrong else "no")


def ask_nearest(pages: Sequence[LabelCandidate], count: int) -> list[str]:
    """Ask as `thresher label` does."""
    return [page.url for page in nearest_to_threshold(pages, count, threshold=THRESHOLD)]


def shown(page: ParsedPage) -> PageText:
    return PageText(title=page.title, text=page.text)


class AskingModel:
    """Labels pages by the answers of the endpoint, as the product does, and counts the calls."""

    def __init__(self, model: WrongModel, url: str, log: Path, topic: str, probability: float | None) -> None:
        self._model = model
        self._config = ModelLabelsConfig(endpoint=url, model="stand-in", calls=1000)
        self.log = AnswerLog(log, self._config)
        self._topic, self._probability = topic, probability

    async def __call__(self, pages: Sequence[ParsedPage]) -> Mapping[str, float]:
        client, labels = ModelClient(self._config), {}
        try:
            for page in pages:
                self._model.expect(page)
                answer = await client.ask(self._topic, shown(page))
                self.log.add(answer_key(self._config, self._topic, shown(page)), answer)
                sure = self._probability or label_probability(answer, ErrorRate(pages=0, wrong=0))
                labels[page.url] = sure if answer.relevant or not self._probability else 1.0 - sure
        finally:
            await client.close()
        return labels


class TopicArms:
    """The crawls of one topic."""

    def __init__(self, bench: TaskRunner, page_cache: PageCache, topic: str) -> None:
        self._bench, self._page_cache = bench, page_cache
        self._task = Task(
            web=bench.web.name, topic=topic, strategy="thresher", seed_set=0, judge="adaptive", seeds=SEEDS
        )
        self._targets = bench.web.targets(topic)

    def rows(self, arms: Sequence[Arm], done: Collection[str]) -> Iterator[Row]:
        """Run the arms that are missing."""
        if NO_LABELS not in done:
            yield self._row(NO_LABELS, *self._crawl(0))
        if PERSON not in done:
            yield self._row(PERSON, *self._crawl(PERSON_LABELS))
        for name, errors, calls, probability in arms:
            if name in done:
                continue
            model = WrongModel(set(map(self._bench.web.url_of, self._targets)), self._task.topic, errors)
            with model_endpoint(model) as endpoint, tempfile.TemporaryDirectory() as folder:
                asking = AskingModel(model, endpoint.url, Path(folder) / "log", self._task.topic, probability)
                yield self._row(name, *self._crawl(calls, asking), calls=asking.log.spending.calls)

    def _crawl(self, labels: int, answer: AskingModel | None = None) -> tuple[JudgingOnce, LabelledCrawlResult]:
        judge = JudgingOnce(self._bench.judge_profile(self._task.topic, self._bench.seeds(self._task)))
        course = LabellingSchedule(before=100, after=300, labels=labels, at_once=5 if answer else 1)
        crawl = MeasuredCrawl(
            self._bench, self._task, judge=judge, page_cache=self._page_cache, course=course, answer=answer
        )
        ask = ask_well if answer else ask_nearest if labels else ask_nothing
        return judge, asyncio.run(crawl.run(ask))

    def _row(self, arm: str, judge: JudgingOnce, crawl: LabelledCrawlResult, *, calls: int = 0) -> Row:
        seeds = set(self._bench.seeds(self._task))
        crawled = [number for number in dict.fromkeys([*crawl.before, *crawl.after]) if number not in {-1, *seeds}]
        pages = {number: page for number in crawled if (page := self._page_cache.page(number))}
        unlabelled = {number: page for number, page in pages.items() if number not in crawl.labelled}
        with_labels = self._f1(judge, pages), self._f1(judge, unlabelled)
        judge.teach({pages[number].url: None for number in crawl.labelled if number in pages})
        without = self._f1(judge, unlabelled)
        is_defined = with_labels[1] is not None and without is not None
        return {
            "web": self._task.web,
            "topic": self._task.topic,
            "arm": arm,
            "f1": with_labels[0],
            "gain_unlabelled": with_labels[1] - without if is_defined else None,
            "percent_of_oracle": percent_of_oracle(self._bench, crawl, self._targets),
            "calls": calls,
            "labels": len(crawl.labelled),
            "wrong": sum((label > 0.5) != (number in self._targets) for number, label in crawl.labelled.items()),
            "hits": sum(number in self._targets for number in crawl.after),
        }

    def _f1(self, judge: JudgingOnce, pages: Mapping[int, ParsedPage]) -> float | None:
        truth = np.array([number in self._targets for number in pages], dtype=np.bool_)
        return f1(truth, np.array([judge.judge(page).relevant for page in pages.values()], dtype=np.bool_))


def run(web: str, topics: Sequence[str], path: Path, arms: Sequence[Arm]) -> None:
    """Run what is missing."""
    done = {topic: {row["arm"] for row in read_rows(path) if row["topic"] == topic} for topic in topics}
    missing = [topic for topic in topics if len(done[topic]) < len(arms) + 2]
    if not missing:
        return
    bench = TaskRunner.open(web)
    page_cache = PageCache(bench)
    for number, topic in enumerate(missing, start=1):
        for row in TopicArms(bench, page_cache, topic).rows(arms, done[topic]):
            add_rows(path, [row])
            print(f"{web}: {number} of {len(missing)}, {row['arm']}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.effectiveness.model_labels", description="What are labels of an erring model worth?"
    )
    parser.add_argument("--web", choices=list(WEBS), action="append")
    parser.add_argument("--print", action="store_true", help="print what is there")
    parser.add_argument("--dev", action="store_true", help="compare settings on dev topics")
    options = parser.parse_args()
    side: Side = "dev" if options.dev else "test"
    path = RESULTS / f"model-labels{'-dev' if options.dev else ''}.jsonl"
    for web, count in (DEV_WEBS if options.dev else WEBS).items():
        if options.web and web not in options.web:
            continue
        topics = split(web, side)[:count]
        if not options.print:
            run(web, topics, path, DEV_ARMS if options.dev else TEST_ARMS)
        if rows := [row for row in read_rows(path) if row["web"] == web and row["topic"] in topics]:
            print(f"\n{web}, {side} topics")
            show(rows, MEASURES, [NO_LABELS])


if __name__ == "__main__":
    main()

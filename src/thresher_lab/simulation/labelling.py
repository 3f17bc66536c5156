"""The value of labels: a crawl stops, a simulated user with the true labels answers some questions, and it continues.

All arms begin with the same pages, so that all differences come from the answers. Measured is how well the judge
ranks the pages of the web that no arm has labels for, right after the answers and at the end; and the value of the rest
of the crawl: the area under its hits since the answers, per area of an oracle that continues from the same pages.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from thresher.feedback.sampling import LabelCandidate, most_informative
from thresher.judges.base import Judge
from thresher.records import ParsedPage
from thresher.urls.canonical import host_key
from thresher_lab.simulation.oracle import oracle_crawl
from thresher_lab.simulation.simulator import Simulator
from thresher_lab.simulation.tasks import Task, TaskRunner
from thresher_lab.statistics import metrics

Ask = Callable[[Sequence[LabelCandidate], int], Sequence[str]]
"""Chooses this many pages to ask about."""
Answer = Callable[[Sequence[ParsedPage]], Awaitable[Mapping[str, float]]]
"""Labels pages by URL: True or False, or the probability by a model; pages without an answer are left out."""
Chances = NDArray[np.float64]
"""The relevance of each page of a web; below 0 where there is no page."""
NO_PAGE = -1.0


def ask_well(pages: Sequence[LabelCandidate], count: int) -> Sequence[str]:
    """Ask as a crawl would."""
    return most_informative(pages, count)


def ask_anything(pages: Sequence[LabelCandidate], count: int) -> Sequence[str]:
    """Ask about random pages, always the same ones."""
    urls = sorted(page.url for page in pages)
    return Random(" ".join(urls[:3])).sample(urls, min(count, len(urls)))  # noqa: S311 - no secret


def ask_nothing(pages: Sequence[LabelCandidate], count: int) -> Sequence[str]:
    """Ask about no page."""
    return ()


def ask_everything(pages: Sequence[LabelCandidate], count: int) -> Sequence[str]:
    """Ask about all pages, whatever the count: the most that any choice of questions could be worth."""
    return [page.url for page in pages]


EVERYTHING = "all"
ARMS: Mapping[str, Ask] = {
    "chosen": ask_well,
    "random": ask_anything,
    "none": ask_nothing,
    EVERYTHING: ask_everything,
}


@dataclass(frozen=True, kw_only=True)
class LabellingSchedule:
    """The phases of a crawl with labels.

    Args:
        before: Fetches until the questions.
        after: Fetches from then on.
        labels: Total number of labels.
        at_once: Labels per refit of the judge.
    """

    before: int = 100
    after: int = 200
    labels: int = 20
    at_once: int = 5


@dataclass(frozen=True, kw_only=True)
class LabelledCrawlResult:
    """One crawl with labels.

    Args:
        before: The pages until the questions, by their numbers.
        labelled: The labels, by the pages' numbers: by a model, probabilities.
        after: The pages from then on.
        right_after: The relevance of all pages right after the answers.
        in_the_end: Their relevance at the end.
    """

    before: Sequence[int]
    labelled: Mapping[int, float]
    after: Sequence[int]
    right_after: Chances
    in_the_end: Chances


class PageCache:
    """A cache of the pages of a web, without their links, which a judge does not need."""

    def __init__(self, bench: TaskRunner) -> None:
        self._bench = bench
        self._pages: dict[int, ParsedPage | None] = {}

    def page(self, number: int) -> ParsedPage | None:
        """Return a page by its number; None where there is none."""
        if number not in self._pages:
            found = self._bench.pages.get(self._bench.web.url_of(number))
            self._pages[number] = replace(found[0], links=()) if found else None
        return self._pages[number]


class LabelledCrawl:
    """A crawl that asks questions.

    Args:
        bench: The web.
        task: What to crawl.
        judge: The task's judge.
        page_cache: The web's pages.
        answer: Who labels the pages; by default the truth.
    """

    def __init__(
        self,
        bench: TaskRunner,
        task: Task,
        *,
        judge: Judge,
        page_cache: PageCache,
        course: LabellingSchedule,
        answer: Answer | None = None,
    ) -> None:
        self._web = bench.web
        self._page_cache = page_cache
        self._judge = judge
        self._course = course
        self._answer = answer or self._true_labels
        self._seeds = bench.seeds(task)
        self._targets = bench.web.targets(task.topic)
        self._simulator: Simulator = bench.simulator_with(task, judge)

    async def run(self, ask: Ask) -> LabelledCrawlResult:
        """Crawl, ask, and continue."""
        before = await self._crawl([self._web.url_of(seed) for seed in self._seeds], self._course.before)
        labelled: dict[int, float | None] = {}
        while len(labelled) < self._course.labels and (chosen := self._chosen(ask, before, labelled)):
            answers = await self._answer(list(chosen.values()))
            labelled |= {number: answers.get(page.url) for number, page in chosen.items()}
            await self._simulator.teach(answers)
        right_after = self._chances()
        after = await self._crawl([], self._course.after)
        return LabelledCrawlResult(
            before=before,
            labelled={number: label for number, label in labelled.items() if label is not None},
            after=after,
            right_after=right_after,
            in_the_end=self._chances(),
        )

    async def _crawl(self, starts: Sequence[str], budget: int) -> list[int]:
        crawl = await self._simulator.run(starts, budget)
        return [fetch.page_id for fetch in crawl.fetches]

    async def _true_labels(self, pages: Sequence[ParsedPage]) -> Mapping[str, float]:
        return {page.url: self._web.page_id(page.url) in self._targets for page in pages}

    def _chosen(self, ask: Ask, crawled: Sequence[int], labelled: Mapping[int, float | None]) -> dict[int, ParsedPage]:
        """Choose the next questions among the crawled pages."""
        count = min(self._course.at_once, self._course.labels - len(labelled))
        known = {-1, *self._seeds, *labelled}
        found = {number: self._page_cache.page(number) for number in dict.fromkeys(crawled) if number not in known}
        pages = {page.url: (number, page) for number, page in found.items() if page}
        chosen = ask([self._candidate(page) for _, page in pages.values()], count)
        return dict(pages[url] for url in chosen)

    def _candidate(self, page: ParsedPage) -> LabelCandidate:
        judged = self._judge.judge(page)
        return LabelCandidate(
            url=page.url,
            relevance=judged.relevance,
            language=page.language,
            host=host_key(page.url),
            title=page.title,
        )

    def _chances(self) -> Chances:
        pages = map(self._page_cache.page, range(len(self._web)))
        return np.array([NO_PAGE if page is None else self._chance(page) for page in pages])

    def _chance(self, page: ParsedPage) -> float:
        judged = self._judge.judge(page)
        return judged.relevance


def average_precision(chances: Chances, truths: NDArray[np.bool_]) -> float:
    """Return the mean precision at the ranks of the true pages; ties rank them last."""
    order = np.lexsort((truths, -chances))
    places = np.flatnonzero(truths[order]) + 1
    return float(np.mean(np.arange(1, len(places) + 1) / places)) if len(places) else 0.0


def compared(
    bench: TaskRunner, task: Task, arms: Mapping[str, LabelledCrawlResult]
) -> dict[str, dict[str, float | None]]:
    """Measure the arms of one task by the same pages: all but the seeds and labelled ones.

    The arm with labels for everything is measured by its new pages alone, and excludes no page from the others.
    """
    targets = bench.web.targets(task.topic)
    truths = np.zeros(len(bench.web), dtype=np.bool_)
    truths[list(targets)] = True
    without = {*bench.seeds(task), *(page for name, arm in arms.items() if name != EVERYTHING for page in arm.labelled)}
    measured = {name: _measured(bench, arm, targets, truths, without) for name, arm in arms.items()}
    if EVERYTHING in measured:
        measured[EVERYTHING] |= {"average_precision": None, "average_precision_in_the_end": None}
    return measured


def _measured(
    bench: TaskRunner, arm: LabelledCrawlResult, targets: frozenset[int], truths: NDArray[np.bool_], without: set[int]
) -> dict[str, float | None]:
    rest = arm.right_after != NO_PAGE
    rest[list(without)] = False
    new = rest.copy()
    new[[page for page in arm.before if page >= 0]] = False
    return {
        "labels": len(arm.labelled),
        "yes": sum(label > 0.5 for label in arm.labelled.values()),
        "left": len(targets - set(arm.before)),
        "average_precision": average_precision(arm.right_after[rest], truths[rest]),
        "average_precision_of_new_pages": average_precision(arm.right_after[new], truths[new])
        if truths[new].any()
        else None,
        "average_precision_in_the_end": average_precision(arm.in_the_end[rest], truths[rest]),
        "percent_of_oracle": percent_of_oracle(bench, arm, targets),
        "hits": sum(page in targets for page in arm.after),
    }


def percent_of_oracle(bench: TaskRunner, arm: LabelledCrawlResult, targets: frozenset[int]) -> float | None:
    """Compare the rest of a crawl with an oracle that continues from the same pages; None when that finds nothing."""
    begun = list(dict.fromkeys(page for page in arm.before if page >= 0))
    budget = len(arm.after)
    oracle = oracle_crawl(bench.graph, targets, begun, len(begun) + budget).hits[len(begun) :]
    if not oracle.any():
        return None
    return metrics.percent_of_oracle([page in targets for page in arm.after], oracle, budget)

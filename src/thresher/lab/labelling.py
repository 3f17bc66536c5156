"""What labels are worth: a crawl stops, a person who knows the truth answers some questions, and it goes on.

All arms begin with the same pages, so whatever they differ by comes from the answers. Measured is how well the judge
ranks the pages of the web that no arm was told about, right after the answers and in the end; and what the rest of the
crawl is worth: the area under its hits since the answers, per area of an oracle that goes on from the same pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from thresher.classify.asking import Asked, most_telling
from thresher.classify.base import Judge
from thresher.lab import metrics
from thresher.lab.oracle import oracle_crawl
from thresher.lab.simulate import Simulator
from thresher.lab.tasks import Bench, Task
from thresher.records import ParsedPage
from thresher.urls.host import host_key

Ask = Callable[[Sequence[Asked], int], Sequence[str]]
"""Chooses so many pages to ask about."""
Chances = NDArray[np.float64]
"""How likely each page of a web is about the topic; below 0 where there is no page."""
NO_PAGE = -1.0


def ask_well(pages: Sequence[Asked], count: int) -> Sequence[str]:
    """Ask as a crawl would."""
    return [url for url, _ in most_telling(pages, count)]


def ask_anything(pages: Sequence[Asked], count: int) -> Sequence[str]:
    """Ask about random pages, always the same ones."""
    urls = sorted(page.url for page in pages)
    return Random(" ".join(urls[:3])).sample(urls, min(count, len(urls)))  # noqa: S311 - no secret


def ask_nothing(pages: Sequence[Asked], count: int) -> Sequence[str]:
    """Ask about no page."""
    return ()


ARMS: Mapping[str, Ask] = {"chosen": ask_well, "random": ask_anything, "none": ask_nothing}


@dataclass(frozen=True, kw_only=True)
class Course:
    """How a crawl with labels goes.

    Args:
        before: Fetches until the questions.
        after: Fetches from then on.
        labels: How many questions are answered in all.
        at_once: How many of them before the judge thinks again.
    """

    before: int = 100
    after: int = 200
    labels: int = 20
    at_once: int = 5


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One crawl with labels.

    Args:
        before: The pages until the questions, by their numbers.
        told: What was answered, by the pages' numbers.
        after: The pages from then on.
        right_after: What the judge thinks of all pages right after the answers.
        in_the_end: What it thinks of them in the end.
    """

    before: Sequence[int]
    told: Mapping[int, bool]
    after: Sequence[int]
    right_after: Chances
    in_the_end: Chances


class Shelf:
    """The pages of a web at hand, without their links: a judge needs none, and so a web fits into memory."""

    def __init__(self, bench: Bench) -> None:
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
        shelf: The web's pages.
    """

    def __init__(self, bench: Bench, task: Task, *, judge: Judge, shelf: Shelf, course: Course) -> None:
        self._web = bench.web
        self._shelf = shelf
        self._judge = judge
        self._course = course
        self._seeds = bench.seeds(task)
        self._targets = bench.web.targets(task.topic)
        self._simulator: Simulator = bench.simulator_with(task, judge)

    async def run(self, ask: Ask) -> Arm:
        """Crawl, ask, and go on."""
        before = await self._crawl([self._web.url_of(seed) for seed in self._seeds], self._course.before)
        told: dict[int, bool] = {}
        while len(told) < self._course.labels and (answers := self._answers(ask, before, told)):
            told |= answers
            await self._simulator.teach({self._web.url_of(page): yes for page, yes in answers.items()})
        right_after = self._chances()
        after = await self._crawl([], self._course.after)
        return Arm(before=before, told=told, after=after, right_after=right_after, in_the_end=self._chances())

    async def _crawl(self, starts: Sequence[str], budget: int) -> list[int]:
        crawl = await self._simulator.run(starts, budget)
        return [fetch.page_id for fetch in crawl.fetches]

    def _answers(self, ask: Ask, crawled: Sequence[int], told: Mapping[int, bool]) -> dict[int, bool]:
        """Choose the next questions among the crawled pages, and answer them."""
        count = min(self._course.at_once, self._course.labels - len(told))
        known = {-1, *self._seeds, *told}
        pages = [self._shelf.page(page) for page in dict.fromkeys(crawled) if page not in known]
        chosen = ask([self._asked(page) for page in pages if page], count)
        numbers = [self._web.page_id(url) for url in chosen]
        return {number: number in self._targets for number in numbers if number is not None}

    def _asked(self, page: ParsedPage) -> Asked:
        judged = self._judge.judge(page)
        return Asked(
            url=page.url,
            relevance=judged.relevance,
            language=page.language,
            host=host_key(page.url),
            title=page.title,
        )

    def _chances(self) -> Chances:
        pages = map(self._shelf.page, range(len(self._web)))
        return np.array([NO_PAGE if page is None else self._chance(page) for page in pages])

    def _chance(self, page: ParsedPage) -> float:
        judged = self._judge.judge(page)
        return judged.relevance


def average_precision(chances: Chances, truths: NDArray[np.bool_]) -> float:
    """Give the mean precision at the places of the true pages; among equals they come last."""
    order = np.lexsort((truths, -chances))
    places = np.flatnonzero(truths[order]) + 1
    return float(np.mean(np.arange(1, len(places) + 1) / places)) if len(places) else 0.0


def compared(bench: Bench, task: Task, arms: Mapping[str, Arm]) -> dict[str, dict[str, float | None]]:
    """Measure the arms of one task by the same pages: all but the seeds and those that any of them was told about."""
    targets = bench.web.targets(task.topic)
    truths = np.zeros(len(bench.web), dtype=np.bool_)
    truths[list(targets)] = True
    without = {*bench.seeds(task), *(page for arm in arms.values() for page in arm.told)}
    return {name: _measured(bench, arm, targets, truths, without) for name, arm in arms.items()}


def _measured(
    bench: Bench, arm: Arm, targets: frozenset[int], truths: NDArray[np.bool_], without: set[int]
) -> dict[str, float | None]:
    rest = arm.right_after != NO_PAGE
    rest[list(without)] = False
    new = rest.copy()
    new[[page for page in arm.before if page >= 0]] = False
    return {
        "labels": len(arm.told),
        "yes": sum(arm.told.values()),
        "left": len(targets - set(arm.before)),
        "average_precision": average_precision(arm.right_after[rest], truths[rest]),
        "average_precision_of_new_pages": average_precision(arm.right_after[new], truths[new])
        if truths[new].any()
        else None,
        "average_precision_in_the_end": average_precision(arm.in_the_end[rest], truths[rest]),
        "percent_of_oracle": percent_of_oracle(bench, arm, targets),
        "hits": sum(page in targets for page in arm.after),
    }


def percent_of_oracle(bench: Bench, arm: Arm, targets: frozenset[int]) -> float | None:
    """Compare the rest of a crawl with an oracle that goes on from the same pages; None when that finds nothing."""
    begun = list(dict.fromkeys(page for page in arm.before if page >= 0))
    budget = len(arm.after)
    oracle = oracle_crawl(bench.graph, targets, begun, len(begun) + budget).hits[len(begun) :]
    if not oracle.any():
        return None
    return metrics.percent_of_oracle([page in targets for page in arm.after], oracle, budget)

"""Crawls with labels: all arms begin alike, ask about what they crawled, and are measured by the same pages."""

import numpy as np
import pytest

from tests.unit.lab.small_web import SmallWeb, u
from thresher import registry
from thresher_lab.simulation.labelling import (
    ARMS,
    EVERYTHING,
    LabelledCrawl,
    LabellingSchedule,
    PageCache,
    average_precision,
    compared,
)
from thresher_lab.simulation.tasks import Task, TaskRunner

COURSE = LabellingSchedule(before=30, after=20, labels=6, at_once=3)
THINGS = ("tea leaves steep", "birds sing at dawn", "granite rocks and moss", "ships in the harbour")


def page_of(number):
    """Every fourth page is about energy, and every page links on."""
    about = ["energy"] if number % 4 == 0 else []
    words = f"solar energy cells {number}" if about else f"{THINGS[number % 3]} report {number}"
    return about, words, [u(str((number * 2 + step) % 80)) for step in range(1, 5)]


@pytest.fixture
def bench():
    return TaskRunner(SmallWeb({u(str(number)): page_of(number) for number in range(80)}))


@pytest.fixture
def task():
    return Task(web="small", topic="energy", strategy="best-first", seed_set=0, judge="adaptive", seeds=3)


async def arms_of(bench, task):
    page_cache, arms = PageCache(bench), {}
    for name, ask in ARMS.items():
        judge = registry.make("judge", task.judge, {}, bench.judge_profile(task.topic, bench.seeds(task)))
        arms[name] = await LabelledCrawl(bench, task, judge=judge, page_cache=page_cache, course=COURSE).run(ask)
    return arms


async def test_all_arms_begin_with_the_same_pages(bench, task):
    arms = await arms_of(bench, task)
    assert len({tuple(arm.before) for arm in arms.values()}) == 1
    assert {len(arm.before) for arm in arms.values()} == {30}


async def test_answers_are_true_and_about_crawled_pages_that_are_no_seeds(bench, task):
    arms = await arms_of(bench, task)
    assert [len(arms[name].labelled) for name in ("chosen", "random", "none")] == [6, 6, 0]
    for arm in arms.values():
        assert set(arm.labelled) <= set(arm.before) - set(bench.seeds(task))
        assert all(yes is (page in bench.web.targets("energy")) for page, yes in arm.labelled.items())


async def test_the_arm_with_all_labels_bounds_the_others_and_leaves_their_pages_alone(bench, task):
    arms = await arms_of(bench, task)
    assert set(arms[EVERYTHING].labelled) == set(arms["none"].before) - set(bench.seeds(task))
    without = compared(bench, task, {name: arm for name, arm in arms.items() if name != EVERYTHING})
    assert {name: row for name, row in compared(bench, task, arms).items() if name != EVERYTHING} == without


async def test_all_arms_are_measured(bench, task):
    measured = compared(bench, task, await arms_of(bench, task))
    assert set(measured) == set(ARMS)
    for name, row in measured.items():
        assert (row["average_precision"] is None) == (name == EVERYTHING)
        assert row["average_precision"] is None or 0 <= row["average_precision"] <= 1
        assert row["percent_of_oracle"] is None or row["percent_of_oracle"] >= 0


def test_the_average_precision_of_a_perfect_order_is_1():
    assert average_precision(np.array([0.9, 0.8, 0.1]), np.array([True, True, False])) == 1.0


def test_among_equals_true_pages_come_last():
    assert average_precision(np.array([0.5, 0.5]), np.array([True, False])) == 0.5

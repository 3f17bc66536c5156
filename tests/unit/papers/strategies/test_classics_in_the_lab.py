"""Every classic crawls a small web: seeds first, then as far as its budget goes."""

import pytest

from thresher_lab.simulation.tasks import Task, TaskRunner
from thresher_lab.webs.generator import generate

PAGES = 60


@pytest.fixture(scope="module")
def bench():
    return TaskRunner(generate(3, pages=600, hosts=12, tunnel_depth=0))


def crawl(bench, strategy, **parameters):
    task = Task(web="", topic="Science/Astronomy", strategy=strategy, seed_set=1, pages=PAGES, parameters=parameters)
    return bench.run(task)


@pytest.mark.parametrize(
    ("strategy", "parameters"),
    [
        ("best-first", {"batch": "all"}),
        ("fish", {}),
        ("shark", {}),
        ("shark", {"form": "fcmrps"}),
        ("fcmrps", {}),
        ("fcmrps", {"use": 13}),
        ("anchor-only", {}),
        ("context-only", {}),
        ("page-anchor", {}),
        ("soft-focus", {}),
    ],
)
def test_it_spends_its_budget_and_finds_more_than_its_seeds(bench, strategy, parameters):
    row = crawl(bench, strategy, **parameters)
    assert row["fetched"] == PAGES
    assert row["harvest_rate"] * PAGES > row["seeds"]


def test_hard_focus_stops_where_nothing_relevant_is_left(bench):
    row = crawl(bench, "hard-focus")
    assert row["seeds"] < row["fetched"] <= PAGES


def test_with_a_perfect_judge_soft_focus_is_best_first(bench):
    soft, best = crawl(bench, "soft-focus"), crawl(bench, "best-first")
    assert soft["curve"] == best["curve"]

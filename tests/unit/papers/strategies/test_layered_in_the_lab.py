"""Strategies by blocks and by layers crawl a small web."""

import pytest

from thresher_lab.simulation.tasks import Task, TaskRunner
from thresher_lab.webs.generator import generate

PAGES = 60


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    bench = TaskRunner(generate(3, pages=600, hosts=12, tunnel_depth=0), cache=tmp_path_factory.mktemp("cache"))
    yield bench
    bench.pages.close()


def crawl(bench, strategy, **parameters):
    task = Task(web="", topic="Science/Astronomy", strategy=strategy, seed_set=1, pages=PAGES, parameters=parameters)
    return bench.run(task)


@pytest.mark.parametrize(
    ("strategy", "parameters"),
    [
        ("lpe", {"threshold": 0.05}),
        ("context-graph", {}),
        ("context-graph", {"order": "likelihood"}),
        ("context-graph", {"batch": "all"}),
        ("context-graph", {"batch": 10}),
        ("context-graph", {"retrain_every": 5}),
        ("layers", {}),
    ],
)
def test_it_finds_more_than_its_seeds(bench, strategy, parameters):
    row = crawl(bench, strategy, **parameters)
    assert row["fetched"] <= PAGES
    assert row["recall"] * row["targets"] > row["seeds"]


def test_blocks_alone_may_run_dry(bench):
    row = crawl(bench, "cbp")
    assert row["seeds"] <= row["fetched"] <= PAGES

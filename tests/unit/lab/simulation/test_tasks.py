"""A task yields one row with every metric; the same seeds for every strategy."""

import pytest

from tests.unit.lab.small_web import SmallWeb, tea_and_solar
from thresher.errors import ConfigError
from thresher_lab.simulation.bounds import BOUNDS
from thresher_lab.simulation.tasks import ORACLE, Task, TaskRunner, key_of, topic_phrase


@pytest.fixture
def bench(tmp_path):
    bench = TaskRunner(tea_and_solar(), cache=tmp_path)
    yield bench
    bench.pages.close()


def task(strategy, **more):
    return Task(**{"web": "small", "topic": "energy/solar", "strategy": strategy, "seed_set": 0, **more})


def test_the_oracle_has_all_there_is_to_find(bench):
    row = bench.run(task(ORACLE, pages=12))
    assert row["percent_of_oracle"] == pytest.approx(100.0)
    assert row["recall"] == 1.0


def test_a_crawl_is_measured_by_the_oracle(bench):
    best = bench.run(task("best-first", pages=12))
    breadth = bench.run(task("breadth-first", pages=12))
    assert breadth["percent_of_oracle"] <= best["percent_of_oracle"] <= 100.0
    assert best["targets"] == 12
    assert best["curve"][-1][0] == 12
    assert best["relevant_hosts"] == 2
    assert best["ms_per_page"] > 0


@pytest.mark.parametrize("bound", BOUNDS)
def test_an_upper_bound_is_measured_like_a_strategy(bench, bound):
    row = bench.run(task(bound, pages=12, seeds=2))
    breadth = bench.run(task("breadth-first", pages=12, seeds=2))
    assert breadth["percent_of_oracle"] <= row["percent_of_oracle"] <= 100.0
    assert (row["targets"], row["dead"]) == (breadth["targets"], 0)
    assert row.keys() == bench.run(task(ORACLE, pages=12)).keys()


@pytest.mark.parametrize("bound", BOUNDS)
def test_an_upper_bound_gets_nothing_for_pages_that_are_set_aside(bench, bound):
    row = bench.run(task(bound, pages=23, training=0.3))
    assert row["targets"] == bench.run(task("breadth-first", pages=23, training=0.3))["targets"] == 8
    assert row["fetched"] <= 23 - 4


def test_the_first_60_fetches_are_measured_on_their_own(tmp_path):
    pages = {f"http://a.test/{n}": ([], f"page {n}", [f"http://a.test/{n + 1}"]) for n in range(80)}
    pages["http://a.test/80"] = (["tea"], "tea", [])
    bench = TaskRunner(SmallWeb(pages), cache=tmp_path)
    near = bench.run(task("breadth-first", topic="tea", distance=10, pages=80))
    far = bench.run(task("breadth-first", topic="tea", distance=70, pages=80))
    assert (near["percent_of_oracle_60"], near["harvest_60"]) == (pytest.approx(100.0), 1 / 60)
    assert (far["percent_of_oracle_60"], far["harvest_60"]) == (None, 0.0)
    assert far["percent_of_oracle"] == pytest.approx(100.0)
    bench.pages.close()


def test_every_strategy_starts_from_the_same_seeds(bench):
    assert bench.seeds(task("best-first", seeds=3)) == bench.seeds(task("breadth-first", seeds=3))
    assert bench.seeds(task("best-first", seeds=3)) != bench.seeds(task("best-first", seeds=3, seed_set=1))


def test_the_pages_of_a_host_can_be_limited(bench):
    free, bound = bench.run(task("breadth-first", pages=12)), bench.run(task("breadth-first", pages=12, host_pages=3))
    assert bound["fetched"] < free["fetched"] == 12
    assert bound["relevant_hosts"] == free["relevant_hosts"]
    assert task("fish", host_pages=3).key != task("fish").key


def test_a_judge_by_name_works(bench):
    row = bench.run(task("best-first", judge="adaptive", pages=12))
    assert row["judge"] == "adaptive"
    assert row["recall"] > 0


def test_a_row_is_known_by_the_fields_of_its_task(bench):
    asked = task("random", parameters={"random_state": 3})
    assert key_of(bench.run(asked)) == asked.key
    assert asked.key != task("random", parameters={"random_state": 4}).key


def test_a_label_reads_as_words():
    assert topic_phrase("Everyday_life/Food_and_drink") == "Food and drink"


CHAIN = {
    "http://a.test/far": ([], "far", ["http://a.test/near"]),
    "http://a.test/near": ([], "near", ["http://a.test/tea"]),
    "http://a.test/tea": (["drinks/tea"], "tea", []),
    "http://a.test/lost": ([], "lost", []),
}


def test_seeds_may_stand_at_a_distance_from_the_topic(tmp_path):
    bench = TaskRunner(SmallWeb(CHAIN), cache=tmp_path)
    far = task("best-first", topic="drinks/tea", distance=2, pages=3)
    assert [bench.web.url_of(seed) for seed in bench.seeds(far)] == ["http://a.test/far"]
    row = bench.run(far)
    assert row["recall"] == 1.0
    assert key_of(row) == far.key != task("best-first", topic="drinks/tea", pages=3).key
    with pytest.raises(ConfigError, match="3 links away from drinks/tea"):
        bench.seeds(task("best-first", topic="drinks/tea", distance=3))
    bench.pages.close()

"""What is learned from is not measured."""

import pytest

from tests.unit.lab.small_web import SmallWeb, tea_and_solar, u
from thresher.linkgraph import LinkGraph
from thresher_lab.simulation.tasks import Task, TaskRunner, key_of
from thresher_lab.simulation.training import WebPages, training_split, without

TOPIC = "energy/solar"


@pytest.fixture
def bench(tmp_path):
    bench = TaskRunner(tea_and_solar(), cache=tmp_path)
    yield bench
    bench.pages.close()


def task(strategy, **more):
    return Task(**{"web": "small", "topic": TOPIC, "strategy": strategy, "seed_set": 0, "pages": 12, **more})


def test_thirty_percent_of_the_targets_are_set_aside():
    web = tea_and_solar()
    split = training_split(web, TOPIC, 0)
    assert len(split.targets) == 4  # of 12
    assert split.targets < web.targets(TOPIC)
    assert split == training_split(web, TOPIC, 0)
    assert split != training_split(web, TOPIC, 1)


def test_webkb_is_cut_by_university():
    pages = {
        f"http://www.cs.{university}/{n}": (["course"], "words", [])
        for university in ("cornell.edu", "wisc.edu", "utexas.edu")
        for n in range(2)
    }
    pages["http://cs.cornell.edu:8080/x"] = (["course"], "words", [])
    web = SmallWeb(pages)
    web.name = "webkb"
    split = training_split(web, "course", 0)
    assert {web.url_of(page) for page in split.hidden} == {url for url in pages if "cornell.edu" in url}
    assert split.targets == web.targets("course") - split.hidden
    assert {web.url_of(page) for page in training_split(web, "course", 3).hidden} == {
        url for url in pages if "wisc" in url
    }


def test_no_seed_is_a_training_page(bench):
    asked = task("best-first", training=0.3, seeds=8)
    assert not set(bench.seeds(asked)) & bench.split(asked).targets


def test_training_pages_are_neither_hits_nor_fetches(bench):
    row = bench.run(task("breadth-first", training=0.3, pages=100))
    assert row["targets"] == 8
    assert row["fetched"] == len(bench.web) + 1 - 4  # with the dead link
    assert row["recall"] == 1.0


def test_without_training_all_is_as_before(bench):
    assert bench.run(task("breadth-first", pages=100))["targets"] == 12


def test_the_oracle_is_as_good_as_anybody(bench):
    rows = [bench.run(task(name, training=0.3)) for name in ("oracle", "best-first", "breadth-first")]
    assert rows[0]["percent_of_oracle"] == pytest.approx(100.0)
    assert all(row["percent_of_oracle"] <= 100.0 for row in rows)


def test_free_pages_let_links_through():
    graph = LinkGraph.from_edges(6, [(0, 1), (1, 2), (2, 3), (1, 4), (4, 1), (5, 0)])
    left = without(graph, [1, 2])
    assert left.successors(0).tolist() == [3, 4]
    assert left.successors(4).tolist() == [3]
    assert left.successors(1).tolist() == []
    assert left.predecessors(0).tolist() == [5]


def test_pages_that_are_hidden_cannot_be_learned_from(bench):
    web = bench.web
    hidden = frozenset({web.page_id(u("solarhub"))})
    pages = WebPages(web, bench.pages, bench.graph, hidden=hidden)
    assert all(target not in hidden for target, _ in pages.links(web.page_id(u("seed"))))
    assert pages.graph.successors(web.page_id(u("solarhub"))).tolist() == []
    assert "solar" in pages.text(web.page_id(u("seed")))


@pytest.mark.parametrize("strategy", ["context-graph", "layers"])
def test_a_strategy_that_needs_training_is_trained(strategy, tmp_path):
    hubs = [u(f"hub{n}") for n in range(8)]
    cells = [u(f"cell{n}") for n in range(24)]
    pages = {hub: ([], f"energy directory {n}", cells[3 * n : 3 * n + 3]) for n, hub in enumerate(hubs)}
    pages |= {cell: ([TOPIC], f"solar cell panel {n}", [hubs[n % 8]]) for n, cell in enumerate(cells)}
    bench = TaskRunner(SmallWeb(pages), cache=tmp_path)
    row = bench.run(task(strategy, pages=40))
    assert row["targets"] == 24 - 7
    assert row["recall"] == 1.0
    bench.pages.close()


def test_rows_from_before_there_was_training_are_still_known(bench):
    row = bench.run(task("breadth-first"))
    del row["training"]
    assert key_of(row) == task("breadth-first").key
    assert task("breadth-first").key != task("breadth-first", training=0.3).key

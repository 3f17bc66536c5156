"""The store's measurement, in small: every part gives its row, and a row that is there is not measured again."""

import json
from dataclasses import fields

import pytest

from bench.stores.memory import solve
from bench.stores.rows import Rows, constants_of, flatness, write_constants
from bench.stores.snapshots import Snapshots
from bench.stores.store import Bench
from bench.stores.world import LINKS, NEW_LINKS, Pages, Shape, first_batches
from thresher.capacity.constants import CapacityConstants
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

WORKER = {"worker_ram_bytes_store": 2e8, "kept_bytes_per_page_byte_store": 0.3}


@pytest.fixture
def bench(tmp_path):
    snapshots = Snapshots(tmp_path / "stores")
    rows = Rows(tmp_path / "store.jsonl")
    return Bench(
        rows, snapshots, ["redis"], [2000, 3000], hosts=100, cycles=8, seconds=0.2, clients=(1,), order_hosts=60
    )


def test_every_part_gives_its_row_and_the_plan_its_constants(bench, tmp_path):
    bench.run(["memory", "done", "cycle", "load", "log"])
    bench.rows.add({"part": "cluster", "kind": "redis", "shape": "3 nodes", "server_cpu_us": 5000.0})
    bench.rows.add({"part": "worker", "kind": "redis", "shape": "0 pages"} | WORKER)
    [load] = bench.rows.of("load")
    assert load["cycles_per_second"] > 0
    assert load["server_cpu_us"] > 0
    assert {row["urls"] for row in bench.rows.of("cycle")} == {2000, 3000}
    assert all(value > 0 for value, _ in constants_of(bench.rows).values())

    path = tmp_path / "constants.json"
    path.write_text('{"sqlite_url_bytes": {"value": 186}}', encoding="utf-8")
    write_constants(bench.rows, path)
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert kept["sqlite_url_bytes"] == {"value": 186}
    assert set(kept) <= {field.name for field in fields(CapacityConstants)}


def test_a_cluster_gives_its_rows(bench):
    bench.run(["cluster"])
    [cluster] = bench.rows.of("cluster")
    assert cluster["nodes"] == 3
    assert [row["at_once"] for row in bench.rows.of("order")] == [1, 16]


def test_what_was_measured_is_not_measured_again(bench):
    bench.run(["full_host"])
    before = bench.rows.path.read_text(encoding="utf-8")
    again = Bench(Rows(bench.rows.path), bench.snapshots, bench.kinds, bench.sizes)
    again.run(["full_host"])
    assert bench.rows.path.read_text(encoding="utf-8") == before
    again.rows.forget(["full_host"])
    assert again.rows.of("full_host") == []


def test_two_shapes_tell_bytes_per_url_and_per_host():
    # 80 bytes per URL and 200 per host: 100 per host make 82, 10 per host make 100
    assert solve([(Shape(10, 100), 82.0), (Shape(100, 10), 100.0)]) == pytest.approx((80.0, 200.0))


def test_flatness_compares_the_largest_with_the_smallest(tmp_path):
    rows = Rows(tmp_path / "rows.jsonl")
    for hosts, cost in ((10, 400.0), (100, 500.0)):
        figures = {"server_cpu_us": cost, "server_cpu_us_least": cost, "client_ms_p50": 1.0}
        rows.add({"part": "cycle", "kind": "redis", "shape": f"{hosts}x100", "urls": hosts * 100} | figures)
    [printed] = flatness(rows)
    assert printed.startswith("redis, 100 URLs per host, 1,000 to 10,000: server_cpu_us × 1.25")


async def test_a_page_has_60_links_of_which_36_are_new():
    shape = Shape(30, 50)
    frontier = MemoryFrontier()
    for batch in first_batches(shape):
        await frontier.add(batch)
    assert (await frontier.counts()).waiting == shape.size
    await Pages(frontier, shape).cycle()
    assert LINKS == 60
    assert (await frontier.counts()).waiting == shape.size + NEW_LINKS - 2  # one is done, one is leased


def test_several_fillers_share_the_hosts():
    shape = Shape(10, 5)
    whole = {link.url for batch in first_batches(shape) for link in batch}
    parts = [{link.url for batch in first_batches(shape, part, 2) for link in batch} for part in range(2)]
    assert not parts[0] & parts[1]
    assert parts[0] | parts[1] == whole
    assert len(whole) == shape.size

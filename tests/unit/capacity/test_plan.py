"""The arithmetic of a plan, with numbers that can be done by hand."""

import math

import pytest

from thresher.capacity.constants import CapacityConstants
from thresher.capacity.plan import make_plan, plan_growth
from thresher.capacity.request import CapacityRequest, Prices
from thresher.capacity.store import StoreKind
from thresher.errors import ConfigError

ROUND = CapacityConstants(
    worker_pages_per_second=100,
    worker_ram_bytes=2e8,
    kept_bytes_per_page_byte=0.2,
    sqlite_cycles_per_second=400,
    sqlite_url_bytes=200,
    store_cycles_per_second=1000,
    cluster_cycles_per_second=500,
    store_waiting_url_bytes=100,
    store_host_bytes=300,
    store_done_url_bytes=5,
    store_resident_share=1.1,
    store_log_bytes_per_cycle=9000,
    store_restart_seconds_per_gigabyte=10,
    store_log_seconds_per_gigabyte=10,
    tiers_hot_urls_per_host=20,
    tiers_cold_url_bytes=2,
    tiers_cold_url_disk_bytes=50,
    tiers_cycle_share=1.25,
)


def request(**changes):
    return CapacityRequest(**({"pages": 10**9, "hosts": 5 * 10**6, "delay_seconds": 2.0, "note_kb": 0.7} | changes))


def test_no_more_pages_per_second_than_ready_hosts_by_delay():
    plan = make_plan(request(pages=10**6, hosts=20, delay_seconds=2.0, days=1), ROUND)
    assert plan.ceilings["hosts"] == 10  # 20 hosts, one page each in 2 s
    assert (plan.limit, plan.pages_per_second) == ("hosts", 10)
    assert plan.days == pytest.approx(100_000 / 86_400)
    assert plan.workers == 1  # more would only wait


def test_workers_are_as_many_as_the_days_ask_for():
    plan = make_plan(request(), ROUND)  # 1e9 pages in 30 days are 385.8 per second
    assert plan.workers == 4
    assert plan.pages_per_second == 400
    assert plan.days == pytest.approx(1e9 / 400 / 86_400)


def test_a_given_number_of_workers_is_kept():
    plan = make_plan(request(), ROUND, workers=2)
    assert (plan.workers, plan.pages_per_second, plan.limit) == (2, 200, "workers")


def test_one_host_gives_no_more_than_its_delay_allows():
    plan = make_plan(request(), ROUND)
    assert plan.pages_of_one_host == pytest.approx(1e9 / 400 / 2)


def test_urls_that_wait_are_those_found_and_not_fetched():
    assert request(links=60, new_share=0.1).waiting_at_end == 5 * 10**9  # 6 new per page, 1 of them fetched
    assert request(links=60, new_share=0.1).seen_at_end == 6 * 10**9


def test_a_host_keeps_no_more_than_its_bound():
    assert request(waiting_per_host=100).waiting_at_end == 5 * 10**8
    assert request(waiting_per_host=100).seen_at_end == 10**9 + 5 * 10**8


def test_a_crawl_whose_pages_bring_less_than_one_new_url_is_refused():
    with pytest.raises(ConfigError, match=r"bring 0\.6 new URLs"):
        request(links=60, new_share=0.01)


def test_with_a_cold_storage_the_store_has_the_best_urls_of_each_host_and_little_of_the_others():
    store = make_plan(request(waiting=10**9 + 10**8, tiered=True), ROUND).store
    assert (store.cold_urls, store.cold_bytes) == (10**9, 50e9)
    hosts_and_pages = 5e6 * 1000 + 1e9 * 5
    assert store.data_bytes == pytest.approx(1e8 * 100 + 1e9 * 2 + hosts_and_pages)
    assert store.disk_bytes == pytest.approx(3 * store.data_bytes + 50e9)
    assert store.pages_per_second == store.nodes * (1000 if store.nodes == 1 else 500) / 1.25


def test_ram_is_that_of_waiting_urls_hosts_and_done_pages_with_room_for_a_rewrite():
    store = make_plan(request(waiting=10**8), ROUND).store
    assert store.data_bytes == pytest.approx(10e9 + 5e9 + 5e9)  # a host takes 300 bytes and a note of 700
    assert store.ram_bytes == pytest.approx(20e9 * 1.1 / 0.7)
    assert store.nodes == store.nodes_for_ram == 1  # 22.0 GB of 22.4 GB that a machine of 32 GB gives
    assert store.kind is StoreKind.ONE_SERVER
    assert store.restart_seconds == pytest.approx(200)
    assert store.longest_restart_seconds == pytest.approx(200 + 0.46 * 200)


def test_more_ram_than_one_machine_has_makes_a_cluster():
    store = make_plan(request(waiting=10**9), ROUND).store  # 110 GB, 121 resident, 22.4 per node
    assert (store.nodes, store.kind) == (6, StoreKind.CLUSTER)


def test_more_speed_than_one_server_has_makes_a_cluster():
    store = make_plan(request(waiting=10**8, days=5), ROUND).store  # 24 workers, 2,400 per second, 350 per node
    assert (store.nodes_for_ram, store.nodes_for_speed, store.nodes) == (1, 7, 7)
    assert store.pages_per_second == 3500


def test_one_server_carries_more_than_a_node_of_a_cluster():
    alone = make_plan(request(waiting=10**8, days=20), ROUND).store  # 600 per second: one server gives 700
    assert (alone.nodes, alone.pages_per_second) == (1, 1000)
    parted = make_plan(request(waiting=2 * 10**8, days=20), ROUND).store  # too much RAM for one
    assert (parted.nodes_for_ram, parted.nodes_for_speed, parted.nodes) == (2, 2, 2)


def test_a_store_of_too_many_nodes_is_parted_into_several_crawls():
    assert make_plan(request(waiting=10**10), ROUND).store.kind is StoreKind.SEVERAL


def test_a_replica_doubles_ram_and_disk():
    alone, doubled = (make_plan(request(replicas=replicas), ROUND).store for replicas in (0, 1))
    assert doubled.ram_bytes == 2 * alone.ram_bytes
    assert doubled.disk_bytes == 2 * alone.disk_bytes
    assert doubled.nodes == alone.nodes


def test_a_crawl_of_one_machine_needs_no_server():
    store = make_plan(request(pages=10**6, hosts=10**4), ROUND).store
    assert (store.kind, store.nodes, store.ram_bytes) == (StoreKind.SQLITE, 0, 0.0)
    assert store.disk_bytes == 6e6 * 200


def test_a_line_that_is_full_limits_the_crawl():
    plan = make_plan(request(line_mbit=24.0), ROUND)  # 24 Mbit/s carry 100 pages of 30 KB
    assert (plan.limit, plan.pages_per_second, plan.workers) == ("line", 100, 1)


def test_bandwidth_and_disk_follow_the_pages():
    plan = make_plan(request(), ROUND)
    assert plan.line_mbit == pytest.approx(400 * 30e3 * 8 / 1e6)
    assert plan.traffic_bytes == pytest.approx(30e12)
    assert plan.kept_bytes == pytest.approx(6e12)


def test_the_log_grows_with_every_page_of_a_day():
    assert make_plan(request(), ROUND).log_bytes_per_day == pytest.approx(400 * 86_400 * 9000)
    assert make_plan(request(pages=10**6, hosts=10**4), ROUND).log_bytes_per_day == 0  # one file has no such log


def test_cost_adds_up_cores_ram_disk_and_traffic():
    prices = Prices(core=10, ram_gb=2, disk_gb=0.1, traffic_gb=0.01)
    plan = make_plan(request(pages=10**6, hosts=10**4, prices=prices), ROUND)
    standing = 10 + 0.1 * (6 + 1.2)  # one core; 6 GB of pages and 1.2 GB of frontier
    traffic = 0.01 * 30
    assert plan.cost_per_month == pytest.approx(standing + traffic)
    assert plan.cost == pytest.approx(standing * plan.days / 30 + traffic)


def test_without_a_delay_the_hosts_are_no_limit():
    plan = make_plan(request(delay_seconds=0.0), ROUND)
    assert plan.ceilings["hosts"] == plan.pages_of_one_host == math.inf


def test_growth_keeps_pages_per_host():
    plans = plan_growth(request(waiting=10**9), ROUND)
    assert [plan.request.pages for plan in plans] == [10**power for power in range(4, 10)]
    assert [plan.request.hosts for plan in plans] == [50, 500, 5_000, 50_000, 500_000, 5_000_000]
    assert {plan.request.waiting_at_end / plan.request.pages for plan in plans} == {1.0}
    assert plans[0].limit == "hosts"
    assert plans[0].store.kind is StoreKind.SQLITE

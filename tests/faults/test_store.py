"""Rows of crawls on a store in their short form; ``python -m tests.faults.full ROW`` runs the long one."""

import time

import pytest

from testing.faulty_crawl.fault_run import Setting, run_with_faults
from testing.faulty_crawl.scenario import Plan
from testing.faulty_crawl.scene import Scene, frozen
from testing.recording_server.site import Site
from testing.servers.clock import can_step_clocks
from tests.faults import clocks, endings, store
from tests.faults.hammer import on_server
from tests.faults.store_smuggling import smuggled

TIMEOUT_SECONDS = 1.9  # a busy machine may keep a worker waiting for a second
LEASE_SECONDS = 7.0
PAST_LEASE_SECONDS = LEASE_SECONDS + 1.5


def plan(pages=200, hosts=40, **more):
    settings = {"workers": 2, "delay_seconds": 0.1, "timeout_seconds": TIMEOUT_SECONDS, "lease_seconds": LEASE_SECONDS}
    return Plan(site=Site(pages=pages, hosts=hosts, skew=1.5), max_seconds=240.0, **{**settings, **more})


def test_killed_workers_and_a_killed_run_lose_nothing():
    scenario = store.at_random([Scene.kill_worker, Scene.kill_everything, Scene.kill_worker])
    outcome = run_with_faults(plan(), scenario)
    assert len(outcome.troubles) == 3
    assert outcome.survived, outcome.words()


def test_a_store_that_dies_or_stands_still_is_waited_for_and_no_request_begins_meanwhile():
    misfortunes = [lambda scene: scene.stop_server(4.0), lambda scene: scene.kill_server(1.0)]
    outcome = run_with_faults(plan(pages=300), store.at_random(misfortunes), Setting(store="valkey"))
    assert outcome.result[1] == 0, "a killed store loses nothing that was settled"
    assert store.started_in_silence(outcome) == 0
    assert outcome.survived, outcome.words()


def test_what_a_store_loses_with_its_power_is_found_again():
    outcome = run_with_faults(plan(pages=300), store.store_killed(1, seconds=1.0, forget_seconds=2.0))
    assert outcome.result[0] > 0, "nothing was lost, so this tells nothing"
    assert outcome.kept_all, outcome.words()
    assert outcome.polite, outcome.words()


def test_workers_that_are_cut_off_or_stopped_past_their_lease_change_nothing():
    outcome = run_with_faults(plan(pages=450, workers=3), cut_off_and_stopped)
    assert len(outcome.troubles) == 2
    assert outcome.survived, outcome.words()


def cut_off_and_stopped(scene):
    scene.await_share(0.2)
    cut, stopped, _ = scene.workers()
    scene.proxy.set(cut="from", pids=[cut])
    with scene.trouble("cut from", 1):
        scene.stop_worker(PAST_LEASE_SECONDS, pid=stopped)
        scene.proxy.set()


def test_workers_that_are_stopped_while_they_connect_to_hosts_blame_none_of_them():
    outcome = run_with_faults(plan(pages=120), stopped_at_the_start)
    assert len(outcome.troubles) == 2
    assert outcome.survived, outcome.words()


def stopped_at_the_start(scene):
    """Stop all workers while they read the robots.txt of most hosts."""
    for requests in (3, 12):
        scene.await_requests(requests)
        with scene.trouble("stop", scene.plan.workers), frozen(scene.workers()):
            time.sleep(PAST_LEASE_SECONDS)


def test_a_slow_network_that_breaks_makes_a_crawl_slower_and_no_worse():
    outcome = run_with_faults(plan(pages=40, hosts=20, lease_seconds=9.0), store.weathered(store.Weather(0.15, 0.07)))
    assert outcome.result > 0
    assert outcome.kept_all, outcome.words()
    assert outcome.polite, outcome.words()


def test_a_run_that_is_asked_to_end_does_so_in_time_and_the_same_command_goes_on():
    def scenario(scene):
        return [endings.signalled(times, share=share)(scene) for times, share in ((1, 0.2), (2, 0.6))]

    outcome = run_with_faults(endings.slow_plan(160, 40, workers=2), scenario)
    once, twice = outcome.result
    assert endings.drained(once), once
    assert endings.stopped_at_once(twice), twice
    assert outcome.survived, outcome.words()


@pytest.mark.skipif(not can_step_clocks(), reason="no C compiler")
def test_the_clocks_of_workers_do_not_matter():
    outcome = clocks.stepped(plan(), "workers", (clocks.SMALL, clocks.AHEAD))
    assert outcome.survived, outcome.words()


def test_many_processes_that_hammer_a_store_are_never_granted_the_same():
    reported = on_server("redis", 1000)
    assert (reported.leases, reported.double_grants, reported.refused, reported.left) == (1000, 0, 0, 0)


@pytest.mark.parametrize("kind", ["redis", "valkey"])
def test_hostile_addresses_are_data_to_a_store(kind):
    reported = smuggled(1000, kind)
    assert reported.urls > 500
    assert reported.held, reported

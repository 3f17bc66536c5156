"""The promises of the tiers, on a real server. What every frontier promises is asked in `tests/contract/`."""

import asyncio
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.contract.frontier_steps import found_again_with_a_lower_score, link, settlement
from tests.contract.frontier_stores import server_url
from thresher.errors import StoreUnreachable
from thresher.frontier.base import COLD_FAILURE, CRAWL_WIDE, MAX_TRIES, MAX_UNBEGUN, Absence, CountAudit, UrlState
from thresher.frontier.tiered import frontier as frontier_module
from thresher.frontier.tiered import migrator
from thresher.frontier.tiered.frontier import EndlessMoves, TieredFrontier
from thresher.frontier.tiered.migrator import MigratorReplacedError
from thresher.frontier.tiered.runs import ColdRun
from thresher.objects.base import FolderObjects, open_objects

HOSTS = 3


def links_of(rng, first, number):
    """Return links that were not found before; a few have equal scores."""
    return [link(f"http://h{rng.randrange(HOSTS)}.example/{first + n}", rng.randrange(40) / 64) for n in range(number)]


async def hot_of(frontier):
    waiting, cold = await frontier.connection.call("HMGET", frontier.prefix(0) + b"x", "waiting", "cold")
    return int(waiting or 0) - int(cold or 0)


async def drained(frontier):
    urls = []
    while leases := await frontier.lease(HOSTS, seconds=60):
        urls += [lease.url for lease in leases]
        await frontier.commit([settlement(lease) for lease in leases])
    return urls


async def test_urls_are_leased_in_the_order_of_a_plain_frontier(open_tiers, plain):
    tiers, rng = open_tiers(), random.Random(1)
    first = links_of(rng, 0, 30)
    assert await tiers.add(first) == await plain.add(first) == 30
    for page in range(40):
        ours, theirs = await tiers.lease(2, seconds=60), await plain.lease(2, seconds=60)
        assert [(lease.url, lease.score) for lease in ours] == [(lease.url, lease.score) for lease in theirs]
        found = links_of(rng, 100 + 10 * page, 3 if page < 20 else 0)
        for frontier, leases in ((tiers, ours), (plain, theirs)):
            await frontier.commit([settlement(lease, links=found if n == 0 else []) for n, lease in enumerate(leases)])
        assert await tiers.counts() == await plain.counts()
        assert await hot_of(tiers) <= 4 * HOSTS
    assert [entry.url for entry in await tiers.peek(20)] == [entry.url for entry in await plain.peek(20)]


async def test_a_load_that_forgets_what_stays_cold_is_an_error_and_not_an_endless_loop(open_tiers, plain, plant):
    plant(("load", "set_cold(host, tonumber(ARGV[at + 3]))", "set_cold(host, 0)"))
    with pytest.raises(EndlessMoves, match="without end"):
        await test_urls_are_leased_in_the_order_of_a_plain_frontier(open_tiers, plain)


async def test_cold_urls_may_be_in_a_bucket(open_tiers, s3):
    tiers = open_tiers(objects=open_objects(s3.url("cold")))
    await tiers.add([link(f"http://a.example/{n}", n / 64) for n in range(30)])
    assert await hot_of(tiers) <= 3
    assert await drained(tiers) == [f"http://a.example/{n}" for n in reversed(range(30))]


async def test_nothing_is_cold_before_there_are_too_many_hot_urls(open_tiers, objects):
    tiers = open_tiers(hot_urls=100)
    await tiers.add(links_of(random.Random(1), 0, 90))
    assert list(objects.sizes("")) == []
    await tiers.add(links_of(random.Random(2), 100, 90))
    assert list(objects.sizes("")) != []


async def test_moving_urls_with_equal_scores_ends(open_tiers):
    tiers, steps = open_tiers(least_hot=1), 0
    step = tiers._step

    async def counted(*parts):
        nonlocal steps
        steps += 1
        assert steps < 20, "loads and spills undo each other"
        return await step(*parts)

    tiers._step = counted
    await tiers.add([link("http://a.example/1"), link("http://a.example/2"), link("http://a.example/low", 0.25)])
    [first] = await tiers.lease(1, seconds=60)
    await tiers.commit([settlement(first)])  # the second is hot, and still in its run
    await tiers.add([link("http://a.example/3")])  # it is spilled, and the runs are merged
    assert await drained(tiers) == ["http://a.example/2", "http://a.example/3", "http://a.example/low"]


async def test_a_host_whose_urls_all_have_the_same_score_is_read_to_its_end(open_tiers, monkeypatch):
    monkeypatch.setattr(migrator, "MAX_CHECKED", 2)
    tiers, urls = open_tiers(least_hot=1), [f"http://a.example/{n}" for n in range(12)]
    await tiers.add([link(url) for url in urls])
    assert await drained(tiers) == urls


async def test_a_cold_url_with_a_new_score_is_leased_in_its_turn(open_tiers):
    tiers = open_tiers()
    await tiers.add([link(f"http://a.example/{n}", n / 64) for n in range(30)])
    assert (await tiers.find("http://a.example/2")).score == 2 / 64
    assert await tiers.rescore({"http://a.example/2": 0.9, "http://a.example/1": 0.7}, was=None) == 2
    [best] = await tiers.lease(1, seconds=60)
    assert (best.url, best.score) == ("http://a.example/2", 0.9)


@pytest.mark.parametrize("seed", range(6))
async def test_new_scores_that_come_between_the_steps_of_a_move_lose_no_url(open_tiers, monkeypatch, seed):
    monkeypatch.setattr(migrator, "MIN_NEW_SCORES", 20)  # so that all runs are merged now and then
    tiers, learner, rng = open_tiers(), open_tiers(background=True), random.Random(seed)
    urls = [f"http://a.example/{n}" for n in range(60)]
    call_all, rescored = tiers.connection.call_all, 0

    async def call_all_later(commands):
        nonlocal rescored
        if rng.random() < 0.2:
            rescored += 1
            await learner.rescore({url: rng.randrange(1, 100) / 128 for url in rng.sample(urls, 40)})
        return await call_all(commands)

    await tiers.add([link(url, rng.randrange(100) / 128) for url in urls])
    monkeypatch.setattr(tiers.connection, "call_all", call_all_later)
    leased = await drained(tiers)
    for _ in range(20):  # a host whose scores changed while it was read may be passed over
        leased += await drained(tiers) if len(leased) < len(urls) else []
    assert sorted(leased) == sorted(urls)
    assert rescored > 5


async def test_hot_cold_and_unknown_urls_are_found_at_once(open_tiers, objects):
    tiers = open_tiers()
    urls = [f"http://{host}.example/{n}" for host in "abc" for n in range(30)]
    await tiers.add([link(url, n / 128) for n, url in enumerate(urls)])
    assert list(objects.sizes("")) != []
    found = await tiers.find_all([*urls, "http://a.example/unknown", "http://d.example/"])
    assert [entry and (entry.url, entry.score) for entry in found] == [
        *((url, n / 128) for n, url in enumerate(urls)),
        None,
        None,
    ]


async def test_every_url_that_a_merge_of_runs_evicts_is_recorded(open_tiers, monkeypatch):
    monkeypatch.setattr(migrator, "first_to_merge", lambda runs: 0)
    tiers = open_tiers(waiting_per_host=60)
    urls = [f"http://a.example/{n}" for n in range(200)]
    for start in range(0, 200, 20):
        await tiers.add([link(url, n / 256) for n, url in enumerate(urls[start : start + 20], start)])
    found = await tiers.find_all(urls)
    gone = [url for url, entry in zip(urls, found, strict=True) if entry is None]
    assert len(gone) == (await tiers.counts()).dropped >= 100
    assert set(await tiers.absences(gone)) == {Absence.EVICTED}
    assert await tiers.audit() == CountAudit(miscounts=[])
    await tiers.add([link(gone[0], 0.99)])
    assert await tiers.absences(gone[:2]) == [None, Absence.EVICTED]


async def test_a_url_that_a_filter_takes_for_a_cold_one_is_distinguished_from_others(open_tiers):
    tiers = open_tiers()
    await tiers.add([link(f"http://a.example/{n}", n / 1024) for n in range(1000)])
    others = [f"http://a.example/other/{n}" for n in range(1000)]
    absences = await tiers.absences(others)
    assert 0 < absences.count(Absence.FILTERED) < 50
    assert absences.count(None) == 1000 - absences.count(Absence.FILTERED)
    assert set(await tiers.absences([url.replace("//a", "//b") for url in others])) == {None}


async def test_a_cold_url_with_a_lower_score_survives_a_merge_of_the_later_runs(open_tiers, monkeypatch):
    monkeypatch.setattr(migrator, "first_to_merge", lambda runs: min(1, len(runs) - 1))
    tiers = open_tiers(least_hot=1)
    await tiers.add([link("http://a.example/1", 0.9), link("http://a.example/2", 0.1)])
    await tiers.add([link("http://a.example/3", 0.5), link("http://a.example/4", 0.3)])
    await tiers.rescore({"http://a.example/3": 0.05})
    [first] = await tiers.lease(1, seconds=60)
    await tiers.commit([settlement(first)])  # loads 4, and lowers best_cold to 2
    await tiers.add([link("http://a.example/5", 0.01)])  # it is spilled, and its run is merged with that of 3 and 4
    assert await drained(tiers) == [f"http://a.example/{n}" for n in (4, 2, 3, 5)]


async def test_a_cold_url_found_again_with_a_better_score_is_leased_once(open_tiers):
    tiers = open_tiers()
    await tiers.add([link(f"http://a.example/{n}", n / 64) for n in range(30)])
    await tiers.add([link("http://a.example/2", 0.9)])
    urls = await drained(tiers)
    assert urls[0] == "http://a.example/2"
    assert len(urls) == len(set(urls)) == 30


async def test_a_cold_url_found_again_with_a_lower_score_keeps_the_greater_one(open_tiers):
    leases = await found_again_with_a_lower_score(open_tiers(), open_tiers())
    assert leases == [(f"http://a.example/{n}", n / 16) for n in range(8, 3, -1)]


@pytest.mark.parametrize("is_begun", [True, False], ids=["a try", "a lease without a request"])
async def test_a_cold_url_that_was_tried_before_keeps_its_tries_when_it_is_found_again(open_tiers, clock, is_begun):
    tiers, url = open_tiers(least_hot=1), "http://a.example/1"
    await tiers.add([link(url, 0.5)])
    leases = await tiers.lease(1, seconds=5)
    if is_begun:
        await tiers.begin(leases)
    clock.now += 10.0  # its worker is dead
    await tiers.add([link("http://b.example/1", 0.9)])
    [other] = await tiers.lease(1, seconds=5)
    await tiers.add([link("http://a.example/2", 0.75), link("http://a.example/3", 0.7)])
    assert await tiers.connection.call("HLEN", tiers.prefix(0) + b"A") == 1, "it is cold"
    await tiers.add([link(url, 0.8)])
    [lease] = await tiers.lease(1, seconds=5)
    assert (other.url, lease.url, lease.tries) == ("http://b.example/1", url, int(is_begun))
    for _ in range(1, MAX_TRIES if is_begun else MAX_UNBEGUN):
        assert (await tiers.find(url)).state is not UrlState.FAILED
        if is_begun:
            await tiers.begin([lease])
        clock.now += 10.0
        lease = next((lease for lease in await tiers.lease(3, seconds=5) if lease.url == url), lease)
    assert (await tiers.find(url)).state is UrlState.FAILED


@pytest.mark.parametrize("score", [0.01, 0.35, 0.6])
async def test_a_url_that_is_reopened_after_its_cold_copy_was_loaded_is_leased_again(open_tiers, monkeypatch, score):
    monkeypatch.setattr(migrator, "first_to_merge", lambda runs: len(runs) - 1)  # old copies stay in their runs
    tiers, url = open_tiers(least_hot=1), "http://a.example/2"
    await tiers.add([link("http://a.example/1", 0.7), link(url, 0.5)])
    for _ in range(2):  # the second is loaded from its run
        await tiers.commit([settlement(lease) for lease in await tiers.lease(1, seconds=60)])
    await tiers.add([link("http://a.example/3", 0.4), link("http://a.example/4", 0.3)])
    assert await tiers.reopen([link(url, score)]) == 1
    await tiers.add([link("http://a.example/5", 0.2)])
    assert (await tiers.find(url)).score == pytest.approx(score)
    expected = {url: score, **{f"http://a.example/{n}": (7 - n) / 10 for n in (3, 4, 5)}}
    assert await drained(tiers) == sorted(expected, key=lambda each: -expected[each])


async def test_a_url_that_waits_for_its_next_try_may_become_cold(open_tiers):
    tiers = open_tiers()
    await tiers.add([link(f"http://a.example/{n}", n / 64) for n in range(30)])
    [lease] = await tiers.lease(1, seconds=60)
    await tiers.release([lease])
    await tiers.rescore({lease.url: 0.0})
    await tiers.add([link(f"http://a.example/{n}", n / 64) for n in range(30, 40)])
    assert len(await drained(tiers)) == 40


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("survived", range(11))
async def test_a_migrator_may_be_killed_before_any_of_its_steps(open_tiers, objects, survived):
    doomed, left = open_tiers(), survived
    run_script, put = doomed.run_script, objects.put_new

    async def killed_script(*parts):
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        return await run_script(*parts)

    def killed_put(*parts):
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        return put(*parts)

    doomed.run_script = killed_script
    objects.put_new = killed_put
    found = links_of(random.Random(survived), 0, 60)
    try:
        await doomed.add(found[:40])
        await doomed.add(found[40:])
        await doomed.lease(2, seconds=60)
    except Killed:
        pass
    finally:
        objects.put_new = put
    successor = open_tiers()
    await successor.add(found)  # a worker that received no acknowledgement adds again
    successor._clock.now += frontier_module.FAILED_PAUSE_SECONDS + 600  # leases and locks of the dead end
    urls = await drained(successor)
    assert sorted(urls) == sorted(each.url for each in found)


async def test_a_killed_process_loses_nothing_and_nothing_is_fetched_twice(tmp_path):
    program = (
        "import asyncio, sys; from tests.unit.frontier.tiered.test_frontier import add_for_ever; "
        "asyncio.run(add_for_ever(*sys.argv[1:]))"
    )
    crawl = f"killed{time.time_ns()}"
    command = [sys.executable, "-c", program, server_url("redis"), crawl, str(tmp_path / "cold")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        added = [process.stdout.readline().split() for _ in range(6)]
        process.kill()
        added += [line.split() for line in process.stdout.read().splitlines() if line.endswith(".")]
    tiers = open_real(server_url("redis"), crawl, tmp_path / "cold", is_alone=True)
    urls = await drained(tiers)
    await tiers.close()
    expected = {f"http://h{n % HOSTS}.example/{n}" for line in added for n in range(int(line[0]), int(line[1]))}
    assert len(urls) == len(set(urls))
    assert expected <= set(urls)


def open_real(url, crawl, folder, *, is_alone=False):
    """Open a frontier by the store's clock; `is_alone`: the lock of a dead worker is not waited for."""
    tiers = TieredFrontier(
        url, crawl, objects=FolderObjects(folder, durable=False), hot_urls=1, least_hot=3, background=False
    )
    if is_alone:
        acquire = tiers.acquire_lock

        async def acquire_dead(name, *, seconds):
            await tiers.release_lock(name, delay_seconds=0.0)  # the holder is dead
            return await acquire(name, seconds=seconds)

        tiers.acquire_lock = acquire_dead
    return tiers


async def add_for_ever(url, crawl, folder):
    tiers = open_real(url, crawl, Path(folder))
    for start in range(0, 10**9, 20):
        await tiers.add(
            [link(f"http://h{n % HOSTS}.example/{n}", n * 7919 % 1000 / 1000) for n in range(start, start + 20)]
        )
        print(start, start + 20, ".", flush=True)


async def test_a_migrator_renews_its_lock_and_one_that_was_killed_leaves_it_for_a_short_time(
    open_tiers, clock, monkeypatch
):
    monkeypatch.setattr(migrator, "LOCK_SECONDS", 0.3)
    one, other = open_tiers(), open_tiers()
    await one.counts()
    await other.counts()
    async with one._migrator.lock(0) as number:
        for _ in range(8):
            await asyncio.sleep(0.15)
            clock.now += 0.15
        async with other._migrator.lock(0) as later:
            assert (number > 0, later) == (True, 0)
    assert await one.acquire_lock("tiers 0", seconds=migrator.LOCK_SECONDS) == 0  # as a worker that is killed at once
    async with other._migrator.lock(0) as later:
        assert later == 0
    clock.now += 0.4
    async with other._migrator.lock(0) as later:
        assert later > number


async def test_a_migrator_that_was_replaced_changes_nothing(open_tiers):
    tiers = open_tiers(hot_urls=1000)
    await tiers.add([link(f"http://a.example/{n}", n / 64) for n in range(30)])
    async with tiers._migrator.lock(0) as old:
        await tiers.connection.call("HINCRBY", tiers.prefix(0) + b"x", "mover", 1)
        with pytest.raises(MigratorReplacedError):
            await tiers._migrator._move("set_runs", 0, old, 0, b"", b"", b"")
    assert (await tiers.counts()).waiting == 30


async def test_only_one_worker_moves_urls(open_tiers):
    one, other = open_tiers(), open_tiers()
    await one._opened()
    async with one._migrator.lock(0) as migrator:
        assert migrator > 0
        await other.add([link(f"http://a.example/{n}", n / 64) for n in range(30)])
        assert await hot_of(other) == 30
    await other.maintain()
    assert await hot_of(other) < 30


async def test_while_the_cold_storage_fails_other_hosts_go_on(open_tiers, objects, caplog):
    tiers = open_tiers()
    await tiers.add([link(f"http://a.example/{n}", n / 64) for n in range(30)])
    get, objects.get = objects.get, failing
    await tiers.rescore({"http://a.example/2": 0.9})
    await tiers.add([link("http://b.example/1", 0.1)])
    assert [lease.url for lease in await tiers.lease(5, seconds=60)] == ["http://b.example/1"]
    assert [entry.url for entry in await tiers.peek(50)] == ["http://a.example/29"]
    assert "the cold storage fails" in caplog.text
    assert await tiers.get_state(CRAWL_WIDE, COLD_FAILURE) == "no route to the folder"
    objects.get, tiers._failed = get, 0.0
    assert [lease.url for lease in await tiers.lease(5, seconds=60)] == ["http://a.example/2"]


def failing(name):
    raise StoreUnreachable("no route to the folder")


async def test_a_lost_run_is_reported_and_the_crawl_goes_on(open_tiers, objects, caplog):
    tiers = open_tiers()
    await tiers.add([link(f"http://a.example/{n}", n / 64) for n in range(30)])
    for name in list(objects.sizes("")):
        objects.delete(name)
    assert 1 <= len(await drained(tiers)) < 30
    assert "cold storage has lost" in caplog.text


async def test_replaced_runs_and_orphans_are_deleted_after_an_hour(open_tiers, objects, clock):
    tiers = open_tiers()
    for start in range(0, 60, 10):
        await tiers.add([link(f"http://a.example/{n}", n / 64) for n in range(start, start + 10)])
    orphan = tiers._cold.object_name(0, ColdRun(b"\0\0\0\1\x80\0\xff\xff", 0))
    objects.put_new(orphan, b"written, never listed")
    successor = open_tiers()
    before = set(objects.sizes(""))
    for hours in (0, 2, 4):
        clock.now += 3600 * hours
        successor._swept = -frontier_module.SWEEP_SECONDS
        await successor.add([link(f"http://b.example/{hours}-{n}", n / 64) for n in range(10)])
    left = set(objects.sizes(""))
    assert orphan not in left
    assert len(left & before) < len(before)
    assert len(await drained(successor)) == 90

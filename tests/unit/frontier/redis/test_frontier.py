"""What the contract does not ask of every frontier."""

import asyncio

import pytest

from tests.contract.frontier_stores import RedisStore, server_url
from thresher.errors import ConfigError
from thresher.frontier.base import UrlState
from thresher.frontier.redis.frontier import RedisFrontier
from thresher.reasons.legacy import legacy_reason
from thresher.records import Candidate, Outcome, Settlement


def link(url, score=0.5, **more):
    return Candidate(url=url, score=score, **more)


def keys_of(frontier):
    return f"th:{{{frontier._crawl}:0}}"


async def test_two_crawls_on_one_store_do_not_meet(frontier):
    other = RedisFrontier(server_url("redis"), f"u{next(RedisStore.names)}")
    await frontier.add([link("https://a.example/")])
    assert (await other.counts()).waiting == 0
    await other.close()


@pytest.mark.parametrize("name", ["", "a b", "a}", "a{b", "x" * 65, "a:b", "大学\n"])
def test_a_name_that_could_break_a_key_is_refused(name):
    with pytest.raises(ConfigError):
        RedisFrontier("redis://127.0.0.1:1/0", name)


async def test_a_lease_whose_answer_was_lost_is_given_again(frontier, monkeypatch):
    await frontier.add([link(f"https://h{n}.example/") for n in range(5)])
    monkeypatch.setattr("secrets.token_bytes", lambda number: b"request1")
    first = await frontier.lease(2, seconds=60, worker="w")
    assert await frontier.lease(2, seconds=60, worker="w") == first
    assert (await frontier.counts()).leased == 2
    monkeypatch.setattr("secrets.token_bytes", lambda number: b"request2")
    second = await frontier.lease(2, seconds=60, worker="w")
    assert not {lease.fence for lease in first} & {lease.fence for lease in second}


async def test_the_pause_after_a_restart_of_the_store_is_counted(frontier):
    await frontier.add([link(f"https://h{n}.example/") for n in range(5)])
    assert await frontier.lease(1, seconds=60)
    assert (await frontier.counts()).pause_seconds == 0
    await frontier.connection.call("SCRIPT FLUSH")  # as a restart does
    assert await frontier.lease(1, seconds=60) == []
    assert 0 < (await frontier.counts()).pause_seconds <= 60


async def test_a_fence_that_was_given_out_twice_settles_nothing_of_the_other(frontier):
    """A store that crashed may have lost its last second, and with it the numbers that it gave out."""
    await frontier.add([link("https://a.example/")])
    [lost] = await frontier.lease(1, seconds=60)
    await frontier.connection.call(
        "DEL", *[f"{keys_of(frontier)}{key}" for key in ("x", "L", "l", "r", "qa.example", "a")]
    )
    again = RedisFrontier(server_url("redis"), frontier._crawl)
    await again.add([link("https://b.example/")])
    [lease] = await again.lease(1, seconds=60)
    assert lease.fence == lost.fence
    assert await frontier.commit([Settlement(lease=lost, outcome=Outcome.DONE)]) == [False]
    assert await again.commit([Settlement(lease=lease, outcome=Outcome.DONE)]) == [True]
    await again.close()


async def test_time_goes_on_when_the_clock_of_the_store_is_set_back(frontier):
    await frontier.add([link("https://a.example/1"), link("https://a.example/2")])
    [lease] = await frontier.lease(1, seconds=600)
    await frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE, delay_seconds=5.0)])
    await step_clock(frontier, -3600.0)
    assert 4.0 < await frontier.seconds_to_next() <= 5.0


async def test_no_lease_ends_early_when_the_clock_of_the_store_leaps_ahead(frontier):
    await frontier.add([link("https://a.example/1")])
    [lease] = await frontier.lease(1, seconds=60)
    await step_clock(frontier, 3600.0)
    assert await frontier.lease(1, seconds=60) == []
    assert await frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE)]) == [True]


async def test_a_crawl_nobody_works_on_sees_time_pass(frontier):
    await frontier.add([link("https://a.example/1"), link("https://a.example/2")])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE, delay_seconds=300.0)])
    await step_clock(frontier, 3600.0)
    assert len(await frontier.lease(1, seconds=60)) == 1


async def test_a_store_that_was_started_again_hands_out_nothing_for_the_time_of_a_lease(frontier):
    """It may have forgotten leases whose fetches go on."""
    await frontier.add([link(f"https://h{n}.example/") for n in range(5)])
    await frontier.lease(1, seconds=3)
    await frontier.connection.call("SCRIPT FLUSH")
    assert await frontier.lease(1, seconds=60) == []
    assert 1.0 < await frontier.seconds_to_next() <= 3.0
    while await frontier.seconds_to_next() > 0:  # a worker asks often; a long silence would not count as time
        await asyncio.sleep(0.2)
    assert len(await frontier.lease(1, seconds=60)) == 1


async def test_a_new_crawl_on_a_new_store_begins_at_once(frontier):
    await frontier.connection.call("SCRIPT FLUSH")
    await frontier.add([link("https://a.example/")])
    assert len(await frontier.lease(1, seconds=60)) == 1


async def step_clock(frontier, seconds):
    """Nobody can set the clock of a server for a test; what it remembers of it can be moved the other way."""
    key = f"{keys_of(frontier)}x"
    last = float(await frontier.connection.call("HGET", key, "last"))
    ahead = float(await frontier.connection.call("HGET", key, "ahead") or 0)
    # The frontier takes `clock - ahead` for its time: with a smaller `ahead` the clock seems to have leapt.
    await frontier.connection.call("HSET", key, "last", repr(last), "ahead", repr(ahead - seconds))


async def test_of_urls_settled_long_ago_the_state_is_known(frontier):
    await frontier.add([link("https://a.example/"), link("https://b.example/")])
    done, failed = await frontier.lease(2, seconds=60)
    await frontier.commit([Settlement(lease=done, outcome=Outcome.DONE)])
    await frontier.commit([Settlement(lease=failed, outcome=Outcome.FAILED, reason=legacy_reason("gone"))])
    assert str((await frontier.find(failed.url)).reason) == "gone"
    await frontier.connection.call("DEL", f"{keys_of(frontier)}t")
    assert (await frontier.find(done.url)).state is UrlState.DONE
    assert (await frontier.find(failed.url)).state is UrlState.FAILED


async def test_a_host_of_many_urls_hands_them_out_in_order(frontier):
    scores = [((n * 7919) % 1000) / 1000 for n in range(1000)]
    await frontier.add([link(f"https://a.example/{n}", score) for n, score in enumerate(scores)])
    assert await frontier.connection.call("EXISTS", f"{keys_of(frontier)}qa.example 7") == 1
    leased = []
    for _ in range(20):
        [lease] = await frontier.lease(1, seconds=60)
        leased.append(lease.score)
        await frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE)])
    assert leased == sorted(scores, reverse=True)[:20]


async def test_a_page_with_very_many_links_is_let_in_in_portions(frontier):
    await frontier.add([link("https://a.example/")])
    [lease] = await frontier.lease(1, seconds=60)
    links = [link(f"https://h{n % 50}.example/{n}") for n in range(1_000)]
    assert await frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE, links=links)]) == [True]
    assert (await frontier.counts()).waiting == 1_000


async def test_all_keys_of_a_crawl_begin_with_its_name(frontier):
    await frontier.add([link("https://a.example/%0d%0aFLUSHALL"), link("http://b.example/{x}:q")])
    [one, other] = await frontier.lease(2, seconds=60, worker="w\r\n")
    await frontier.commit([Settlement(lease=one, outcome=Outcome.DONE, page=True, content=7)])
    await frontier.commit(
        [Settlement(lease=other, outcome=Outcome.FAILED, reason=legacy_reason("'); redis.call('FLUSHALL')"))]
    )
    await frontier.put_state("a.example", "robots", "User-agent: *\r\n", seconds=60)
    keys = [key.decode() for key in await frontier.connection.call("KEYS", f"*{frontier._crawl}*")]
    assert keys
    assert all(key.startswith((f"th:{{{frontier._crawl}:0}}", f"th:{{{frontier._crawl}}}")) for key in keys)


async def test_a_full_host_of_many_chunks_keeps_nearly_its_best():
    frontier = RedisFrontier(server_url("redis"), f"u{next(RedisStore.names)}", waiting_per_host=3_000)
    scores = [((n * 7919) % 10_007) / 10_007 for n in range(6_000)]
    await frontier.add([link(f"https://a.example/{n}", score) for n, score in enumerate(scores)])
    counts = await frontier.counts()
    assert (counts.waiting, counts.dropped) == (3_000, 3_000)
    kept = [entry.score for entry in await frontier.peek(3_000)]
    best = sorted(scores, reverse=True)[:3_000]
    assert len(set(kept) & set(best)) > 0.95 * len(best)
    assert kept[:1_000] == best[:1_000]
    await frontier.close()


async def test_a_url_that_comes_back_receives_what_was_found_on_its_own_page(frontier):
    await frontier.add([link("https://a.example/")])
    [lease] = await frontier.lease(1, seconds=60)
    again = link("https://a.example/", depth_left=1)
    await frontier.add([again])  # it is out, so that changes nothing
    await frontier.commit([Settlement(lease=lease, outcome=Outcome.RETRY, links=[again])])
    assert (await frontier.find("https://a.example/")).depth_left == 1

"""Everybody sees who works for a crawl, and who has fallen silent."""

import json

from thresher.coordination.keys import key_of, store_time
from thresher.coordination.worker_registry import FORGOTTEN_SECONDS, SILENT_SECONDS, Heartbeat, WorkerRegistry

KEY = key_of("solar", "workers")
SIGN = Heartbeat(host="h", mark="abc123", pid=7, since=1.0, pages=3)


async def set_last_seen(connection, name, seconds_ago):
    entry = json.loads(await connection.call("HGET", KEY, name))
    await connection.call(
        "HSET", KEY, name, json.dumps({**entry, "seen": await store_time(connection, KEY) - seconds_ago})
    )


async def test_a_worker_is_seen_until_it_leaves(connection):
    worker_registry = WorkerRegistry(connection, "solar")
    await worker_registry.record_heartbeat("b-w1", SIGN)
    await worker_registry.record_heartbeat("a-w1", SIGN)
    assert [(one.name, one.heartbeat, one.is_silent) for one in await worker_registry.workers()] == [
        ("a-w1", SIGN, False),
        ("b-w1", SIGN, False),
    ]
    await worker_registry.deregister("a-w1")
    assert [one.name for one in await worker_registry.workers()] == ["b-w1"]
    assert await WorkerRegistry(connection, "opera").workers() == []


async def test_a_worker_that_says_nothing_is_silent_and_then_forgotten(connection):
    worker_registry = WorkerRegistry(connection, "solar")
    await worker_registry.record_heartbeat("w1", SIGN)
    await set_last_seen(connection, "w1", SILENT_SECONDS + 1)
    [worker] = await worker_registry.workers()
    assert worker.is_silent
    await set_last_seen(connection, "w1", FORGOTTEN_SECONDS + 1)
    assert await worker_registry.workers() == []


async def test_the_list_goes_away_by_itself(connection):
    await WorkerRegistry(connection, "solar").record_heartbeat("w1", SIGN)
    assert 0 < await connection.call("TTL", KEY) <= FORGOTTEN_SECONDS


async def test_what_nobody_of_us_wrote_is_passed_over(connection):
    worker_registry = WorkerRegistry(connection, "solar")
    await worker_registry.record_heartbeat("w1", SIGN)
    for number, entry in enumerate(["", "[]", "{}", '{"seen": "x"}', '{"seen": 1, "evil": 2}', "\x80"]):
        await connection.call("HSET", KEY, f"x{number}", entry)
    assert [one.name for one in await worker_registry.workers()] == ["w1"]

"""Everybody sees who works for a crawl, and who has fallen silent."""

import json

from thresher.fleet.keys import key_of, store_time
from thresher.fleet.roster import FORGOTTEN_SECONDS, SILENT_SECONDS, Roster, Sign

KEY = key_of("solar", "workers")
SIGN = Sign(host="h", mark="abc123", pid=7, since=1.0, pages=3)


async def heard_of(link, name, seconds_ago):
    entry = json.loads(await link.call("HGET", KEY, name))
    await link.call("HSET", KEY, name, json.dumps({**entry, "seen": await store_time(link, KEY) - seconds_ago}))


async def test_a_worker_is_seen_until_it_leaves(link):
    roster = Roster(link, "solar")
    await roster.beat("b-w1", SIGN)
    await roster.beat("a-w1", SIGN)
    assert [(one.name, one.sign, one.is_silent) for one in await roster.workers()] == [
        ("a-w1", SIGN, False),
        ("b-w1", SIGN, False),
    ]
    await roster.leave("a-w1")
    assert [one.name for one in await roster.workers()] == ["b-w1"]
    assert await Roster(link, "opera").workers() == []


async def test_a_worker_that_says_nothing_is_silent_and_then_forgotten(link):
    roster = Roster(link, "solar")
    await roster.beat("w1", SIGN)
    await heard_of(link, "w1", SILENT_SECONDS + 1)
    [worker] = await roster.workers()
    assert worker.is_silent
    await heard_of(link, "w1", FORGOTTEN_SECONDS + 1)
    assert await roster.workers() == []


async def test_the_list_goes_away_by_itself(link):
    await Roster(link, "solar").beat("w1", SIGN)
    assert 0 < await link.call("TTL", KEY) <= FORGOTTEN_SECONDS


async def test_what_nobody_of_us_wrote_is_passed_over(link):
    roster = Roster(link, "solar")
    await roster.beat("w1", SIGN)
    for number, entry in enumerate(["", "[]", "{}", '{"seen": "x"}', '{"seen": 1, "evil": 2}', "\x80"]):
        await link.call("HSET", KEY, f"x{number}", entry)
    assert [one.name for one in await roster.workers()] == ["w1"]

"""The state machine is worth its time: it finds each of these planted faults."""

from functools import partial

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.contract.frontier_machine import FoundAgainMachine, FreshLinksMachine, FrontierMachine
from tests.contract.frontier_steps import found_again_with_a_lower_score
from tests.contract.frontier_stores import MemoryStore, RedisStore, SqliteStore, TieredStore
from thresher.frontier.base import UrlState
from thresher.frontier.sqlite import database
from thresher.frontier.sqlite import database as database_module
from thresher.frontier.tiered import migrator
from thresher.frontier.tiered.frontier import EndlessMoves
from thresher.reasons.reason import NO_REASON
from thresher_lab.simulation.memory_frontier import schedule
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier
from thresher_lab.simulation.memory_frontier.schedule import HostStage


def assert_killed(open_store, machine=FrontierMachine, histories=400):
    """Run random histories until one shows the fault."""
    with pytest.raises((AssertionError, EndlessMoves, UnicodeDecodeError)):  # the latter from a record that was garbled
        run_state_machine_as_test(
            partial(machine, open_store),
            settings=settings(
                max_examples=histories,
                stateful_step_count=60,
                derandomize=True,
                database=None,
                deadline=None,
                phases=[Phase.generate],
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
            ),
        )


# Faults in SQL: what stands in the file, and what is put in its place.

SQL_FAULTS = {
    "an expired lease commits": ("commit", " AND until > new.now", ""),
    "an old fence commits": ("commit", "WHERE fence = new.settlement ->> 0", "WHERE fence >= new.settlement ->> 0"),
    "an expired lease is given back": ("release", "WHERE lease.until > new.now", "WHERE true"),
    "fences are used again": (
        "lease",
        "SET fence = fence + 1",
        "SET fence = (SELECT coalesce(max(fence), 0) + 1 FROM lease)",
    ),
    "a leased URL is forgotten": (
        "lease",
        "UPDATE url SET state = 1 WHERE",
        "DELETE FROM url WHERE",
    ),
    "the holder of a host is ignored": ("tidy", "leased >= setting.leases_per_host", "false"),
    "no delay after a commit": ("commit", "max(next_time, new.now + new.delay_seconds)", "next_time"),
    "nobody reaps": ("lease", "WHERE until <= new.now ORDER", "WHERE until <= 0 ORDER"),
    "a reaped host stays held": ("lease", "SELECT host FROM lease WHERE fence = new.fence", "SELECT 0 WHERE false"),
    "no delay after a lost lease": ("lease", "max(next_time, lease.until +", "min(next_time, lease.until +"),
    "a lost lease is no try": ("lease", "WHERE fence = new.fence), 1, 8)", "WHERE fence = new.fence), 8, 8)"),
    "a lease without a request is a try": (
        "lease",
        "WHERE fence = new.fence), 1, 8)",
        "WHERE fence = new.fence), 1, 1)",
    ),
    "a request is reported after the end of its lease": ("begin", "WHERE lease.until > :now", "WHERE true"),
    "a URL given back has been tried": ("release", "SET state = 0", "SET state = 0, tries = tries + 1"),
    "other workers' leases are not counted as pages": ("lease", "new.pages - pages - leased", "new.pages - pages"),
    "nobody wakes": ("lease", "WHERE wake <= new.now", "WHERE wake <= 0"),
    "the latest score wins": ("add", "THEN max(score, excluded.score)", "THEN excluded.score"),
    "the kind stays behind": ("add", "max(kind, excluded.kind)", "kind"),
    "the carry stays behind": ("add", "iif(wins, excluded.carry, carry)", "carry"),
    "tunnels grow shorter": ("add", "max(depth_left, excluded.depth_left)", "excluded.depth_left"),
    "what is done comes back": ("add", "WHERE state = 0 AND (", "WHERE ("),
    "the best are pushed out": ("tidy", "ORDER BY score, age DESC", "ORDER BY score DESC, age"),
    "the oldest of equals are pushed out": ("tidy", "ORDER BY score, age DESC", "ORDER BY score, age"),
    "nobody is pushed out": ("tidy", "WHERE waiting > waiting_per_host", "WHERE false"),
    "what was pushed out is not recorded": (
        "schema",
        "UPDATE host SET waiting = waiting - 1 WHERE id = new.host;",
        "UPDATE host SET waiting = waiting - 1 WHERE id = new.host; DELETE FROM evicted;",
    ),
    "what returned is still called evicted": (
        "schema",
        "    DELETE FROM evicted WHERE host = new.host AND fingerprint = new.fingerprint;\n",
        "",
    ),
    "the youngest of equals comes first": ("lease", "best_age LIMIT 1", "best_age DESC LIMIT 1"),
    "a parked host is asked": ("tidy", "WHEN park_end > setting.now THEN 4", ""),
    "the last page owns its content": ("commit", "OR IGNORE INTO content", "OR REPLACE INTO content"),
}


@pytest.mark.parametrize("fault", SQL_FAULTS)
def test_a_fault_in_sql_is_found(fault, monkeypatch):
    file, right, wrong = SQL_FAULTS[fault]
    sql = database._sql
    assert right in sql(file)
    monkeypatch.setattr(
        database_module, "_sql", lambda name: sql(name).replace(right, wrong) if name == file else sql(name)
    )
    assert_killed(SqliteStore)


# Faults in Lua: the same.

LUA_FAULTS = {
    "an expired lease commits": ("parts/leases", "lease.ends > now and lease.ends == ends", "lease.ends == ends"),
    "an old fence commits": (
        "parts/leases",
        "return lease and lease.ends > now and lease.ends == ends and lease or nil",
        "return lease or read_lease(redis.call('HKEYS', prefix .. 'L')[1] or '')",
    ),
    "fences are used again": (
        "parts/leases",
        "redis.call('HINCRBY', prefix .. 'x', 'fence', 1)",
        "redis.call('HLEN', prefix .. 'L') + 1",
    ),
    "a leased URL is forgotten": ("parts/leases", "redis.call('SADD', seen_key(hash), exact(member))", ""),
    "the holder of a host is ignored": ("parts/host", "host.leased >= leases_per_host", "false"),
    "no delay after a commit": ("parts/host", "math.max(host.next_time, now + seconds)", "host.next_time"),
    "nobody reaps": ("parts/leases", "'-inf', exact(now), 'LIMIT'", "'-inf', 0, 'LIMIT'"),
    "a reaped host stays held": (
        "parts/leases",
        "host.leased = host.leased - 1",
        "host.leased = host.leased - (ARGV[7] and 0 or 1)",
    ),
    "no delay after a lost lease": ("parts/leases", "host.next_time = free_time(host, lease.ends)", ""),
    "a lost lease is no try": ("parts/leases", "if lease.begun then", "if false then"),
    "a lease without a request is a try": ("parts/leases", "if lease.begun then", "if true then"),
    "a request is reported after the end of its lease": ("begin", "ends and ends > now and", "ends and"),
    "a begun lease is not held": ("parts/leases", "math.abs(lease.ends)", "lease.ends"),
    "a URL given back has been tried": (
        "release",
        "wait_again(host, lease, lease.record)",
        "count_try(host, lease, read_record(lease.record), '')",
    ),
    "other workers' leases are not counted as pages": (
        "lease",
        "pages - sum('pages') - sum('leased')",
        "pages - sum('pages')",
    ),
    "nobody wakes": ("parts/host", "'-inf', exact(now), 'LIMIT'", "'-inf', 0, 'LIMIT'"),
    "the latest score wins": (
        "parts/insert_links",
        "url.score = math.max(score, found_score)",
        "url.score = found_score",
    ),
    "the kind stays behind": ("parts/insert_links", "math.max(url.kind, again.kind)", "url.kind"),
    "the carry stays behind": (
        "parts/insert_links",
        "url.strategy_data, url.parent, url.redirects = again.strategy_data, again.parent,",
        "url.strategy_data, url.parent, url.redirects = url.strategy_data, again.parent,",
    ),
    "tunnels grow shorter": ("parts/insert_links", "math.max(url.depth_left, again.depth_left)", "again.depth_left"),
    "what is done comes back": (
        "parts/insert_links",
        "if redis.call('SISMEMBER', seen_key(hash), ARGV[at + 1]) == 0 then",
        "if true then",
    ),
    "the oldest of equals are pushed out": (
        "parts/queue",
        "is_before(worst[1].score, worst[1].age, score, age)",
        "is_before(worst[1].score, age, score, worst[1].age)",
    ),
    "nobody is pushed out": ("parts/queue", "host.waiting > waiting_per_host", "false"),
    "what was pushed out is not recorded": ("parts/queue", "redis.call('SADD', evicted_key(hash), member)", ""),
    "what returned is still called evicted": ("parts/queue", "redis.call('SREM', evicted_key(hash), member)", ""),
    "a URL that is leased is still counted as waiting": (
        "parts/queue",
        "    count('waiting', -1)\n    note_chunk",
        "    note_chunk",
    ),
    "the youngest of equals comes first": (
        "parts/host",
        "struct.pack('>I4', YOUNGEST - age)",
        "struct.pack('>I4', age)",
    ),
    "a parked host is asked": ("parts/host", "elseif host.park_end > now then", "elseif false then"),
    "the last page owns its content": ("commit", "'HSETNX'", "'HSET'"),
    "a raised score does not move its host": (
        "parts/insert_links",
        "                note_rank(host, chunk, score, age)\n            end\n        else",
        "            end\n        else",
    ),
    "a lowered score keeps its place": ("rescore", "look_again(host, chunk)", ""),
    "a raised score is not noticed": ("rescore", "note_rank(host, chunk, url.score, url.age)", ""),
}


@pytest.mark.parametrize("fault", LUA_FAULTS)
def test_a_fault_in_lua_is_found(fault, plant):
    plant(LUA_FAULTS[fault])
    assert_killed(RedisStore)


CHUNK_FAULTS = {
    "a split loses what moves": ("parts/queue", "moved[#moved + 1] = flat[n + 1]", "moved[#moved + 1] = flat[2]"),
    "the index forgets a better URL": ("parts/queue", "entry.best, entry.best_age, changed = score, age, true", ""),
    "the best chunk is any": (
        "parts/queue",
        "host.best, host.best_age, host.best_chunk = entry.best, entry.best_age, chunk",
        "host.best, host.best_age, host.best_chunk = entry.best, entry.best_age, host.best_chunk or chunk",
    ),
    "the gate is always shut": (
        "parts/insert_links",
        "return times[rest] == 1 and is_before(bound.worst, bound.worst_age, score, age)",
        "return true",
    ),
    "what the gate keeps out is not recorded": (
        "parts/insert_links",
        "note_evicted(host, hash, ARGV[at + 1])",
        "count('dropped', 1)",
    ),
    "bounds are believed to be exact": (
        "parts/queue",
        "if is_before(entry.worst, entry.worst_age, score, age) then",
        "if false then",
    ),
    "URLs are looked for in another chunk": (
        "parts/queue",
        "return chunk < host.chunks and chunk or chunk - half",
        "return chunk % host.chunks",
    ),
}


@pytest.mark.parametrize("fault", CHUNK_FAULTS)
def test_a_fault_in_the_chunks_of_a_host_is_found(fault, plant):
    plant(CHUNK_FAULTS[fault])
    assert_killed(partial(RedisStore, chunk_size=1))


# Faults in the tiers: in Lua, and in what moves URLs.

TIER_FAULTS = {
    "a spill does not raise best_cold": ("spill", "raise_best_cold(host, rank_of(record))", ""),
    "a better cold URL is not waited for": (
        "parts/tiers",
        "return is_before(host.best_cold, host.best_cold_age, host.best, host.best_age)",
        "return host.waiting == 0 and has_cold(host)",
    ),
    "a host without hot URLs is empty": ("parts/host", "host.waiting == 0 and not has_cold(host)", "host.waiting == 0"),
    "a new score of a cold URL is lost": ("parts/tiers", "redis.call('HSET', field, key,", "local _ = ("),
    "a new score does not raise best_cold": (
        "parts/tiers",
        "host.best_cold, host.best_cold_age = tonumber(score), 0",
        "",
    ),
    "only the last new score counts": ("parts/tiers", "local earlier = was ~= '' and", "local earlier = false and"),
    "a load lowers best_cold too far": ("load", "if ARGV[at + 2] ~= '' then", "if false then"),
}


@pytest.mark.parametrize("fault", TIER_FAULTS)
def test_a_fault_in_the_tiers_is_found(fault, plant):
    plant(TIER_FAULTS[fault])
    assert_killed(TieredStore, FreshLinksMachine)


def test_a_merge_of_runs_that_loses_equal_scores_is_found(monkeypatch):
    monkeypatch.setattr(migrator, "is_loaded", lambda rows, best_colds, best_cold_ages: rows.scores >= best_colds)
    assert_killed(TieredStore, FreshLinksMachine)


FOUND_AGAIN_FAULTS = {
    "a cold URL that is found again counts twice": (
        "parts/insert_links",
        "note_found(host, known)",
        "note_found(host, false)",
    ),
}


@pytest.mark.parametrize("fault", FOUND_AGAIN_FAULTS)
def test_a_fault_with_cold_urls_that_are_found_again_is_found(fault, plant):
    plant(FOUND_AGAIN_FAULTS[fault])
    assert_killed(TieredStore, FoundAgainMachine)


async def test_a_load_that_leaves_two_copies_is_found(plant, tmp_path, clock):
    plant(("load", "if age == cold_age then", "if true then"))  # random histories hardly ever contain what shows it
    store = TieredStore(tmp_path, clock, least_hot=2)
    one, other = store.open(), store.open()
    assert (await found_again_with_a_lower_score(one, other))[-1] == ("http://a.example/4", 2 / 16)
    await one.close()
    await other.close()


# Faults in the memory frontier: each class does one thing wrong.


class LateCommitIsAccepted(MemoryFrontier):
    def _held(self, lease, now):
        return self._leases.get(lease.fence)


class FenceIsNotChecked(MemoryFrontier):
    def _held(self, lease, now):
        fences = [fence for fence, url in self._leases.items() if url.url == lease.url]
        return super()._held(lease, now) or (self._leases[fences[0]] if fences else None)

    def _end_lease(self, fence):
        return super()._end_lease(fence if fence in self._leases else min(self._leases))


class FenceIsNotRaised(MemoryFrontier):
    def _new_lease(self, host, lease_end):
        self._fence = max(self._leases, default=0)
        return super()._new_lease(host, lease_end)


class LeasedUrlIsForgotten(MemoryFrontier):
    def _new_lease(self, host, lease_end):
        lease = super()._new_lease(host, lease_end)
        url = self._leases[lease.fence]
        del self._urls[url.fingerprint]
        self._states[UrlState.LEASED] -= 1
        return lease


class HolderIsIgnored(MemoryFrontier):
    def __init__(self, **arguments):
        super().__init__(**{**arguments, "leases_per_host": 9})


class ReaperSleeps(MemoryFrontier):
    def _reap(self, now):
        pass


class ReapedHostStaysHeld(MemoryFrontier):
    def _reap(self, now):
        leased = {host.key: host.leased for host in self._hosts.values()}
        super()._reap(now)
        for host in self._hosts.values():
            host.leased = leased[host.key]
            self._schedule.place(host, now)


class ReleaseCountsATry(MemoryFrontier):
    async def release(self, leases, *, delay_seconds=0.0):
        for lease in leases:
            if url := self._held(lease, self._clock()):
                url.tries += 1
        await super().release(leases, delay_seconds=delay_seconds)


class LostLeaseIsNoTry(MemoryFrontier):
    async def begin(self, leases):
        pass


class LeaseWithoutRequestIsATry(MemoryFrontier):
    def _new_lease(self, host, lease_end):
        lease = super()._new_lease(host, lease_end)
        self._leases[lease.fence].begun = True
        return lease


class RequestIsThatOfTheNextLease(MemoryFrontier):
    def _new_lease(self, host, lease_end):
        begun = host.waiting.first().begun
        lease = super()._new_lease(host, lease_end)
        self._leases[lease.fence].begun = begun
        return lease


class BatchIsCutShort(MemoryFrontier):
    async def commit(self, settlements):
        return await super().commit(settlements[:2]) + [False for _ in settlements[2:]]


class HostOnlyForgetsItsPark(MemoryFrontier):
    async def unpark(self, host):
        if known := self._hosts.get(host):
            known.parked = NO_REASON


class EvictionIsNotRecorded(MemoryFrontier):
    def _trim(self, host):
        super()._trim(host)
        self._evicted.clear()


class ReturnedUrlIsCalledEvicted(MemoryFrontier):
    def _add(self, candidate, touched):
        before = set(self._evicted)
        new = super()._add(candidate, touched)
        self._evicted |= before
        return new


MEMORY_FAULTS = (
    EvictionIsNotRecorded,
    ReturnedUrlIsCalledEvicted,
    LateCommitIsAccepted,
    FenceIsNotChecked,
    FenceIsNotRaised,
    LeasedUrlIsForgotten,
    HolderIsIgnored,
    ReaperSleeps,
    ReapedHostStaysHeld,
    ReleaseCountsATry,
    LostLeaseIsNoTry,
    LeaseWithoutRequestIsATry,
    RequestIsThatOfTheNextLease,
    BatchIsCutShort,
    HostOnlyForgetsItsPark,
)


@pytest.mark.parametrize("fault", MEMORY_FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_in_memory_is_found(fault, monkeypatch):
    monkeypatch.setattr("tests.contract.frontier_stores.MemoryFrontier", fault)
    assert_killed(MemoryStore, histories=2_000)  # hashes of texts, and so the histories, differ in each process


def test_a_host_without_delay_is_found(monkeypatch):
    monkeypatch.setattr(schedule.Host, "leave_alone", lambda host, now, seconds: None)
    assert_killed(MemoryStore)


def test_a_host_that_never_wakes_is_found(monkeypatch):
    monkeypatch.setattr(schedule.Schedule, "wake", lambda schedule, now: None)
    assert_killed(MemoryStore)


def test_a_stage_that_forgets_parking_is_found(monkeypatch):
    stage = schedule.Schedule._stage

    def forgetful(self, host, now):
        right = stage(self, host, now)
        return HostStage.READY if right is HostStage.PARKED else right

    monkeypatch.setattr(schedule.Schedule, "_stage", forgetful)
    assert_killed(MemoryStore)

"""Promises of `thresher.frontier.base` on hosts and gates, and what people and engines ask; on every frontier."""

from tests.contract.frontier_steps import A1, A2, A3, B1, B2, link, settlement, urls_leased
from thresher.frontier.base import Counts, FailureCount
from thresher.reasons.legacy import legacy_reason
from thresher.records import Outcome

# 3. Host


async def test_a_host_has_one_open_lease(frontier):
    await frontier.add([link(A1), link(A2)])
    [lease] = await frontier.lease(5, seconds=60)
    assert await frontier.lease(5, seconds=60) == []
    await frontier.commit([settlement(lease)])
    assert await urls_leased(frontier) == [A2]


async def test_a_host_has_as_many_open_leases_as_allowed(open_frontier):
    frontier = open_frontier(leases_per_host=2)
    await frontier.add([link(A1, 0.9), link(A2, 0.8), link(A3, 0.7), link(B1, 0.1)])
    assert await urls_leased(frontier) == [A1, A2, B1]


async def test_a_host_rests_for_its_delay_after_a_commit(frontier, clock):
    await frontier.add([link(A1), link(A2)])
    [lease] = await frontier.lease(1, seconds=60)
    clock.now += 7  # the delay begins where the fetch ends
    await frontier.commit([settlement(lease, delay_seconds=5)])
    clock.now += 4.9
    assert await frontier.lease(1, seconds=60) == []
    clock.now += 0.1
    assert await urls_leased(frontier) == [A2]


async def test_a_retry_makes_the_host_rest_too(frontier, clock):
    await frontier.add([link(A1)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease, Outcome.RETRY, delay_seconds=30)])
    clock.now += 29
    assert await frontier.lease(1, seconds=60) == []
    clock.now += 1
    assert await urls_leased(frontier) == [A1]


async def test_a_shorter_delay_does_not_cut_a_longer_one(open_frontier, clock):
    frontier = open_frontier(leases_per_host=2)
    await frontier.add([link(A1), link(A2), link(A3)])
    [one, two] = await frontier.lease(2, seconds=60)
    await frontier.commit([settlement(one, delay_seconds=30)])
    await frontier.commit([settlement(two, delay_seconds=1)])
    clock.now += 29
    assert await frontier.lease(1, seconds=60) == []
    clock.now += 1
    assert await urls_leased(frontier) == [A3]


async def test_a_clock_that_steps_back_shortens_no_wait(frontier, clock):
    await frontier.add([link(A1), link(A2)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease, delay_seconds=10)])
    rested = clock.now + 10
    clock.now -= 3_600
    assert await frontier.lease(1, seconds=60) == []
    clock.now = rested - 0.1
    assert await frontier.lease(1, seconds=60) == []
    clock.now = rested
    assert await urls_leased(frontier) == [A2]


async def test_a_lost_lease_counts_as_a_fetch_until_its_very_end(frontier, clock):
    await frontier.add([link(A1), link(A2), link(A3)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease, delay_seconds=5)])
    clock.now += 5
    [lost] = await frontier.lease(1, seconds=60)
    clock.now = lost.until + 4.9
    assert await frontier.lease(1, seconds=60) == []
    clock.now = lost.until + 5
    assert await urls_leased(frontier) == [A2]


async def test_a_host_never_settled_rests_for_the_given_delay_after_a_loss(open_frontier, clock):
    frontier = open_frontier(delay_seconds=8)
    await frontier.add([link(A1)])
    [lost] = await frontier.lease(1, seconds=60)
    clock.now = lost.until + 7.9
    assert await frontier.lease(1, seconds=60) == []
    clock.now = lost.until + 8
    assert await urls_leased(frontier) == [A1]


async def test_a_release_without_a_delay_leaves_the_host_ready(frontier):
    await frontier.add([link(A1)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.release([lease])
    assert await urls_leased(frontier) == [A1]


async def test_a_release_with_a_delay_makes_the_host_rest(frontier, clock):
    await frontier.add([link(A1)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.release([lease], delay_seconds=20)
    clock.now += 19
    assert await frontier.lease(1, seconds=60) == []
    clock.now += 1
    assert await urls_leased(frontier) == [A1]


async def test_one_resting_host_does_not_hold_up_the_others(frontier):
    await frontier.add([link(A1, 0.9), link(A2, 0.9), link(B1, 0.1)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease, delay_seconds=100)])
    assert await urls_leased(frontier) == [B1]


async def test_ports_are_hosts_of_their_own(frontier):
    await frontier.add([link("http://a.example:8080/"), link(A1)])
    assert len(await frontier.lease(5, seconds=60)) == 2


async def test_a_parked_host_is_not_asked_until_it_is_unparked(frontier, clock):
    await frontier.add([link(A1, 0.9), link(B1, 0.1)])
    await frontier.park("a.example", legacy_reason("enough pages"))
    clock.now += 1e9
    assert await urls_leased(frontier) == [B1]
    await frontier.unpark("a.example")
    assert await urls_leased(frontier) == [A1]


async def test_a_timed_park_ends_by_itself(frontier, clock):
    await frontier.add([link(A1)])
    await frontier.park("a.example", legacy_reason("robots.txt unreachable"), seconds=30)
    clock.now += 29
    assert await frontier.lease(1, seconds=60) == []
    assert str((await frontier.hosts())[0].parked) == "robots.txt unreachable"
    clock.now += 1
    assert str((await frontier.hosts())[0].parked) == ""
    assert await urls_leased(frontier) == [A1]


async def test_the_end_of_a_park_does_not_cut_a_delay(frontier, clock):
    await frontier.add([link(A1), link(A2)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease, delay_seconds=50)])
    await frontier.park("a.example", legacy_reason("for a moment"), seconds=10)
    await frontier.unpark("a.example")
    clock.now += 49
    assert await frontier.lease(1, seconds=60) == []
    clock.now += 1
    assert await urls_leased(frontier) == [A2]


async def test_a_host_can_be_parked_before_it_is_known(frontier):
    await frontier.park("a.example", legacy_reason("asked us to stay away"))
    await frontier.add([link(A1)])
    assert await frontier.lease(1, seconds=60) == []
    assert (await frontier.counts()).parked == 1


async def test_unparking_an_unknown_host_does_nothing(frontier):
    await frontier.unpark("a.example")
    assert await frontier.counts() == Counts()


# 11. Verdicts


async def take_page(frontier, url, *, relevant):
    await frontier.add([link(url)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease, page=True, relevant=relevant)])


async def test_pages_that_are_judged_again_change_the_numbers_of_their_host_and_of_the_crawl(frontier):
    await take_page(frontier, A1, relevant=True)
    await take_page(frontier, B1, relevant=False)
    await frontier.adjust_relevant({"a.example": -1, "b.example": 1, "never.example": 1})
    hosts = {entry.host: (entry.pages, entry.relevant) for entry in await frontier.hosts()}
    assert hosts == {"a.example": (1, 0), "b.example": (1, 1)}
    assert (await frontier.counts()).relevant == 1


async def test_a_host_has_never_more_relevant_pages_than_pages_nor_fewer_than_none(frontier):
    await take_page(frontier, A1, relevant=True)
    await take_page(frontier, B1, relevant=False)
    await frontier.adjust_relevant({"a.example": 5, "b.example": -5})
    assert (await frontier.counts()).relevant == 1


async def test_a_settlement_can_park_its_host(frontier):
    await frontier.add([link(A1), link(A2)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease, park=legacy_reason("1,000 pages"))])
    assert await frontier.lease(1, seconds=60) == []
    assert [str(host.parked) for host in await frontier.hosts()] == ["1,000 pages"]


async def test_a_lease_of_a_parked_host_can_still_be_settled(frontier):
    await frontier.add([link(A1)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.park("a.example", legacy_reason("enough"))
    assert await frontier.commit([settlement(lease, page=True)]) == [True]
    assert (await frontier.counts()).pages == 1


# 12. Locks


async def test_through_a_gate_goes_one_at_a_time(frontier):
    assert await frontier.acquire_lock("192.0.2.1", seconds=30) == 0.0
    assert await frontier.acquire_lock("192.0.2.1", seconds=30) == 30.0
    assert await frontier.acquire_lock("192.0.2.2", seconds=30) == 0.0


async def test_a_gate_opens_when_its_delay_is_over(frontier, clock):
    await frontier.acquire_lock("192.0.2.1", seconds=30)
    await frontier.release_lock("192.0.2.1", delay_seconds=2)
    assert await frontier.acquire_lock("192.0.2.1", seconds=30) == 2.0
    clock.now += 2
    assert await frontier.acquire_lock("192.0.2.1", seconds=30) == 0.0


async def test_a_gate_that_nobody_leaves_opens_by_itself(frontier, clock):
    await frontier.acquire_lock("192.0.2.1", seconds=30)
    clock.now += 30
    assert await frontier.acquire_lock("192.0.2.1", seconds=30) == 0.0


# What people and engines ask


async def test_an_empty_frontier_is_all_zeros(frontier):
    assert await frontier.counts() == Counts()
    assert await frontier.hosts() == []
    assert await frontier.peek(9) == []
    assert await frontier.lease(9, seconds=60) == []
    assert await frontier.seconds_to_next() is None


async def test_the_counts_say_where_urls_and_hosts_stand(frontier, clock):
    hosts = ["ready", "rests", "parked", "held"]
    await frontier.add([link(f"http://{host}.example/{n}", 1 - n / 10) for host in hosts for n in range(2)])
    leases = {lease.host: lease for lease in await frontier.lease(9, seconds=60)}
    await frontier.release([leases["ready.example"]])
    await frontier.commit(
        [
            settlement(leases["rests.example"], page=True, relevant=True, delay_seconds=10),
            settlement(
                leases["parked.example"], Outcome.FAILED, reason=legacy_reason("gone"), park=legacy_reason("gone")
            ),
        ]
    )
    expected = Counts(waiting=5, leased=1, done=1, failed=1, pages=1, relevant=1, hosts=4, ready=1, delayed=1, parked=1)
    assert await frontier.counts() == expected
    clock.now += 10
    counts = await frontier.counts()
    assert (counts.ready, counts.delayed, counts.parked) == (2, 0, 1)


async def test_a_lease_knows_how_its_host_did_so_far(frontier):
    await frontier.add([link(f"http://a.example/{n}") for n in range(4)])
    for relevant in (True, False, True):
        [lease] = await frontier.lease(1, seconds=60)
        await frontier.commit([settlement(lease, page=True, relevant=relevant)])
    [lease] = await frontier.lease(1, seconds=60)
    assert (lease.host_pages, lease.host_relevant) == (3, 2)


async def test_hosts_are_listed_with_most_pages_first(frontier):
    await frontier.add([link(A1, 0.9), link(A2, 0.3), link(B1, 0.8), link(B2, 0.4)])
    [a, b] = await frontier.lease(2, seconds=60)
    await frontier.commit([settlement(b, page=True, relevant=True, delay_seconds=2.5)])
    [second, first] = [*reversed(await frontier.hosts())][:2]
    assert (first.host, first.pages, first.relevant, first.best) == ("b.example", 1, 1, 0.4)
    assert (first.waiting, first.leased, first.failed) == (1, 0, 0)
    assert (first.delay_seconds, first.next_seconds, str(first.parked)) == (2.5, 2.5, "")
    assert (second.host, second.leased, second.best) == (a.host, 1, 0.3)
    assert [host.host for host in await frontier.hosts(1)] == ["b.example"]


async def test_the_hosts_to_be_asked_next_are_listed_best_first(frontier, clock):
    await frontier.add([link(A1, 0.2), link(A2, 0.7), link(B1, 0.9), link("http://c.example/", 0.5)])
    assert await frontier.next_hosts(10) == ["b.example", "a.example", "c.example"]
    assert await frontier.next_hosts(1) == ["b.example"]
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.add([link(B2, 0.9)])
    assert await frontier.next_hosts(10) == ["a.example", "c.example"]
    await frontier.commit([settlement(lease, delay_seconds=5)])
    await frontier.park("a.example", legacy_reason("enough"))
    clock.now += 5
    assert await frontier.next_hosts(10) == ["b.example", "c.example"]


async def test_the_next_time_is_now_when_a_host_is_ready(frontier):
    await frontier.add([link(A1)])
    assert await frontier.seconds_to_next() == 0


async def test_the_next_time_is_when_the_first_host_has_rested(frontier, clock):
    await frontier.add([link(A1), link(A2), link(B1), link(B2)])
    [a, b] = await frontier.lease(2, seconds=60)
    await frontier.commit([settlement(a, delay_seconds=30), settlement(b, delay_seconds=20)])
    assert await frontier.seconds_to_next() == 20
    clock.now += 25
    assert await frontier.seconds_to_next() == 0


async def test_the_next_time_is_when_a_lease_may_be_lost(frontier, clock):
    await frontier.add([link(A1)])
    await frontier.lease(1, seconds=60)
    clock.now += 20
    assert await frontier.seconds_to_next() == 40


async def test_nothing_comes_from_a_host_parked_without_end(frontier, clock):
    await frontier.add([link(A1), link(A2)])
    await frontier.lease(1, seconds=60)
    await frontier.park("a.example", legacy_reason("enough"))
    assert await frontier.seconds_to_next() is None
    await frontier.park("a.example", legacy_reason("for a while"), seconds=90)
    clock.now += 61
    assert await frontier.seconds_to_next() == 0  # the lost lease is to be taken back
    await frontier.lease(1, seconds=60)
    assert await frontier.seconds_to_next() == 29


async def test_nothing_comes_when_all_is_done(frontier):
    await frontier.add([link(A1)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease, delay_seconds=30)])
    assert await frontier.seconds_to_next() is None


async def test_no_more_is_handed_out_than_the_crawl_may_take(frontier):
    await frontier.add([link(f"http://{number}.example/") for number in range(5)])
    first = await frontier.lease(10, seconds=60, pages=2)
    assert len(first) == 2
    assert await frontier.lease(10, seconds=60, pages=2) == []
    await frontier.commit([settlement(first[0], page=True), settlement(first[1], Outcome.FAILED)])
    assert len(await frontier.lease(10, seconds=60, pages=2)) == 1
    assert await frontier.lease(10, seconds=60, pages=1) == []


async def test_failures_are_counted_by_host_and_reason(frontier):
    await frontier.add([link(A1), link(A2), link(B1)])
    for reason in ("http 404", "http 404"):
        for lease in await frontier.lease(5, seconds=60):
            await frontier.commit([settlement(lease, Outcome.FAILED, reason=legacy_reason(reason))])
    assert sorted(await frontier.failures()) == [
        FailureCount(host="a.example", reason=legacy_reason("http 404"), urls=2),
        FailureCount(host="b.example", reason=legacy_reason("http 404"), urls=1),
    ]


async def test_urls_of_a_parked_host_are_counted_with_the_time_of_the_next_try(frontier, clock):
    await frontier.add([link(A1), link(A2), link(B1)])
    await frontier.park("a.example", legacy_reason("no such host"), seconds=600)
    await frontier.park("b.example", legacy_reason("blocked by hand"))
    clock.now += 100
    a, b = sorted(await frontier.failures())
    assert (a.host, str(a.reason), a.urls, a.waiting) == ("a.example", "no such host", 2, True)
    assert abs(a.retry_seconds - 500) < 1e-3
    assert b == FailureCount(host="b.example", reason=legacy_reason("blocked by hand"), urls=1, waiting=True)
    clock.now += 500
    assert [count.host for count in await frontier.failures()] == ["b.example"]


async def test_a_retry_is_no_failure_before_the_last_one(frontier):
    await frontier.add([link(A1)])
    for tries in range(5):
        assert await frontier.failures() == []
        [lease] = await frontier.lease(1, seconds=60)
        await frontier.commit([settlement(lease, Outcome.RETRY, reason=legacy_reason(f"timeout {tries}"))])
    assert await frontier.failures() == [FailureCount(host="a.example", reason=legacy_reason("timeout 4"), urls=1)]


async def test_one_host_can_be_found(frontier, clock):
    await frontier.add([link(A1)])
    await frontier.park("a.example", legacy_reason("no such host"), seconds=600)
    clock.now += 60
    found = await frontier.find_host("a.example")
    assert (found.host, found.waiting, str(found.parked)) == ("a.example", 1, "no such host")
    assert abs(found.next_seconds - 540) < 1e-3
    assert await frontier.find_host("unknown.example") is None

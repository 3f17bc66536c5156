"""The promises of `thresher.frontier.base`, one by one, on every frontier."""

import math

import pytest

from thresher.frontier.base import MAX_TRIES, Counts, Merge, UrlState
from thresher.records import Candidate, Outcome, Settlement
from thresher.urls.canonical import fingerprint

A1, A2, A3 = "http://a.example/1", "http://a.example/2", "http://a.example/3"
B1, B2 = "http://b.example/1", "http://b.example/2"


def link(url, score=0.5, **more):
    return Candidate(url=url, score=score, **more)


def settlement(lease, outcome=Outcome.DONE, **more):
    return Settlement(lease=lease, outcome=outcome, **more)


async def urls_leased(frontier, limit=10):
    return [lease.url for lease in await frontier.lease(limit, seconds=60)]


async def state(frontier, url):
    entry = await frontier.find(url)
    return entry and entry.state


# 1. Score


async def test_the_best_url_over_all_hosts_comes_first(frontier):
    await frontier.add([link(A1, 0.2), link(B1, 0.9), link("http://c.example/", 0.5)])
    assert await urls_leased(frontier) == [B1, "http://c.example/", A1]


async def test_among_equals_the_oldest_comes_first(frontier):
    await frontier.add([link(B1), link(A1)])
    await frontier.add([link("http://c.example/")])
    assert await urls_leased(frontier) == [B1, A1, "http://c.example/"]


async def test_a_url_that_comes_back_keeps_its_age(frontier):
    await frontier.add([link(A1), link(A2)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.release([lease])
    assert await urls_leased(frontier) == [A1]


async def test_the_next_best_of_a_host_follows_when_the_best_is_done(frontier):
    await frontier.add([link(A1, 0.1), link(A2, 0.9), link(B1, 0.5)])
    [best, _] = await frontier.lease(2, seconds=60)
    await frontier.commit([settlement(best)])
    assert await urls_leased(frontier) == [A1]


async def test_no_more_urls_are_handed_out_than_were_asked_for(frontier):
    await frontier.add([link(A1), link(B1)])
    assert len(await frontier.lease(1, seconds=60)) == 1
    assert await frontier.lease(0, seconds=60) == []
    assert await frontier.lease(-1, seconds=60) == []


async def test_no_more_urls_are_handed_out_than_the_crawl_may_take_pages(frontier, clock):
    await frontier.add([link(f"http://h{n}.example/") for n in range(9)])
    [first, second] = await frontier.lease(9, seconds=60, pages=2)
    assert await frontier.lease(9, seconds=60, pages=2) == []
    await frontier.commit([settlement(first, page=True), settlement(second, Outcome.FAILED)])
    [third] = await frontier.lease(9, seconds=60, pages=2)  # a failure is no page
    clock.now = third.until
    assert len(await frontier.lease(9, seconds=60, pages=2)) == 1  # and a lost lease leaves room again
    assert await frontier.lease(9, seconds=60, pages=1) == []


async def test_a_lease_brings_back_what_was_stored(frontier):
    carry = {"layer": 2, "words": ["大学", 0.1, None], "deep": {"er": True}}
    found = link(A1, 0.1 + 0.2, carry=carry, depth_left=3, hops=4, redirects=1, parent=-(2**63))
    await frontier.add([found])
    [lease] = await frontier.lease(1, seconds=60, worker="w1")
    assert (lease.url, lease.host, lease.score, lease.carry) == (A1, "a.example", 0.1 + 0.2, carry)
    assert (lease.depth_left, lease.hops, lease.redirects, lease.parent) == (3, 4, 1, -(2**63))
    assert (lease.tries, lease.host_pages, lease.host_relevant) == (0, 0, 0)


async def test_found_again_the_greater_score_wins_and_carry_and_parent_follow(frontier):
    await frontier.add([link(A1, 0.5, carry={"from": "first"}, parent=1)])
    await frontier.add([link(A1, 0.8, carry={"from": "better"}, parent=2)])
    await frontier.add([link(A1, 0.6, carry={"from": "worse"}, parent=3)])
    [lease] = await frontier.lease(1, seconds=60)
    assert (lease.score, lease.carry, lease.parent) == (0.8, {"from": "better"}, 2)


async def test_found_again_with_an_equal_score_the_first_stays(frontier):
    await frontier.add([link(A1, 0.5, carry={"from": "first"}), link(A1, 0.5, carry={"from": "second"})])
    [lease] = await frontier.lease(1, seconds=60)
    assert lease.carry == {"from": "first"}


async def test_merge_first_keeps_the_first_score_and_carry(open_frontier):
    frontier = open_frontier(merge=Merge.FIRST)
    await frontier.add([link(A1, 0.5, carry={"from": "first"}, hops=3)])
    await frontier.add([link(A1, 0.8, carry={"from": "second"}, hops=1)])
    [lease] = await frontier.lease(1, seconds=60)
    assert (lease.score, lease.carry, lease.hops) == (0.5, {"from": "first"}, 1)


async def test_merge_mean_is_the_mean_of_all_scores_found(open_frontier):
    frontier = open_frontier(merge=Merge.MEAN)
    await frontier.add([link(A1, 0.0), link(A1, 0.5)])
    await frontier.add([link(A1, 1.0)])
    [lease] = await frontier.lease(1, seconds=60)
    assert lease.score == 0.5


async def test_depth_left_and_hops_are_merged_on_their_own(frontier):
    await frontier.add([link(A1, 0.9, depth_left=1, hops=5)])
    await frontier.add([link(A1, 0.1, depth_left=3, hops=7), link(A1, 0.1, depth_left=0, hops=2)])
    [lease] = await frontier.lease(1, seconds=60)
    assert (lease.score, lease.depth_left, lease.hops) == (0.9, 3, 2)


async def test_a_better_score_moves_a_url_forward(frontier):
    await frontier.add([link(A1, 0.1), link(B1, 0.5)])
    await frontier.add([link(A1, 0.7)])
    assert await urls_leased(frontier) == [A1, B1]


@pytest.mark.parametrize("outcome", [Outcome.DONE, Outcome.FAILED])
async def test_what_is_settled_is_not_changed_by_finding_it_again(frontier, outcome):
    await frontier.add([link(A1, 0.5)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease, outcome)])
    before = await frontier.find(A1)
    assert await frontier.add([link(A1, 0.9, hops=-1, depth_left=9)]) == 0
    assert await frontier.find(A1) == before
    assert await urls_leased(frontier) == []


async def test_what_is_leased_is_not_changed_by_finding_it_again(frontier):
    await frontier.add([link(A1, 0.5)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.add([link(A1, 0.9)])
    await frontier.release([lease])
    [again] = await frontier.lease(1, seconds=60)
    assert again.score == 0.5


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
async def test_a_score_that_is_no_number_is_refused_and_nothing_changes(frontier, score):
    await frontier.add([link(B1)])
    [lease] = await frontier.lease(1, seconds=60)
    with pytest.raises(ValueError, match="finite"):
        await frontier.add([link(A1), link(A2, score)])
    with pytest.raises(ValueError, match="finite"):
        await frontier.commit([settlement(lease, links=[link(A1), link(A2, score)])])
    with pytest.raises(ValueError, match="finite"):
        await frontier.rescore({B1: score})
    assert await frontier.counts() == Counts(leased=1, hosts=1)


# 2. Lease


async def test_a_leased_url_is_nobody_elses(frontier):
    await frontier.add([link(A1)])
    assert await urls_leased(frontier) == [A1]
    assert await urls_leased(frontier) == []
    assert await state(frontier, A1) is UrlState.LEASED


async def test_a_lost_worker_gives_its_url_back(frontier, clock):
    await frontier.add([link(A1, 0.9)])
    [lost] = await frontier.lease(1, seconds=60)
    clock.now += 59
    assert await frontier.lease(1, seconds=60) == []
    clock.now += 1
    [again] = await frontier.lease(1, seconds=60)
    assert (again.url, again.tries) == (lost.url, 1)


async def test_a_fence_is_greater_than_any_before_it(frontier, clock):
    await frontier.add([link(A1), link(B1)])
    fences = [lease.fence for lease in await frontier.lease(2, seconds=60)]
    clock.now += 61
    fences += [lease.fence for lease in await frontier.lease(2, seconds=60)]
    assert fences == sorted(set(fences))


async def test_fences_go_on_after_reopening(open_frontier):
    frontier = open_frontier()
    await frontier.add([link(A1)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.release([lease])
    await frontier.close()
    frontier = open_frontier()
    [again] = await frontier.lease(1, seconds=60)
    assert again.fence > lease.fence


@pytest.mark.parametrize("outcome", Outcome)
async def test_a_commit_after_the_end_of_its_lease_changes_nothing(frontier, clock, outcome):
    await frontier.add([link(A1), link(A2)])
    [late] = await frontier.lease(1, seconds=60)
    clock.now = late.until
    before = await frontier.counts(), await frontier.hosts()
    late_settlement = settlement(late, outcome, links=[link(B1)], page=True, delay_seconds=99, park="p", content=7)
    assert await frontier.commit([late_settlement]) == [False]
    assert (await frontier.counts(), await frontier.hosts()) == before
    assert await frontier.find(B1) is None
    assert await frontier.first_with(7) == 0


async def test_a_commit_with_an_old_fence_changes_nothing(frontier, clock):
    await frontier.add([link(A1)])
    [old] = await frontier.lease(1, seconds=60)
    clock.now += 61
    [new] = await frontier.lease(1, seconds=60)
    assert new.url == old.url
    assert await frontier.commit([settlement(old, links=[link(B1)])]) == [False]
    assert await state(frontier, A1) is UrlState.LEASED
    assert await frontier.find(B1) is None
    assert await frontier.commit([settlement(new)]) == [True]


async def test_a_result_counts_once(frontier):
    await frontier.add([link(A1)])
    [lease] = await frontier.lease(1, seconds=60)
    settled = settlement(lease, page=True, relevant=True)
    assert await frontier.commit([settled, settled]) == [True, False]
    assert await frontier.commit([settled]) == [False]
    counts = await frontier.counts()
    assert (counts.done, counts.pages, counts.relevant) == (1, 1, 1)


async def test_a_late_release_changes_nothing(frontier, clock):
    await frontier.add([link(A1)])
    [late] = await frontier.lease(1, seconds=60)
    clock.now = late.until
    await frontier.release([late], delay_seconds=99)
    assert await state(frontier, A1) is UrlState.LEASED
    [again] = await frontier.lease(1, seconds=60)
    await frontier.release([late])
    assert await frontier.commit([settlement(again)]) == [True]


async def test_a_released_url_waits_again_with_no_try_counted(frontier):
    await frontier.add([link(A1)])
    for _ in range(MAX_TRIES + 1):
        [lease] = await frontier.lease(1, seconds=60)
        await frontier.release([lease, lease])
    assert (await frontier.find(A1)).tries == 0
    assert (await frontier.counts()).waiting == 1


async def test_retry_puts_a_url_back_with_one_more_try(frontier):
    await frontier.add([link(A1)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease, Outcome.RETRY, reason="timeout")])
    entry = await frontier.find(A1)
    assert (entry.state, entry.tries, entry.reason) == (UrlState.WAITING, 1, "timeout")
    [again] = await frontier.lease(1, seconds=60)
    assert again.tries == 1


async def test_a_url_retried_too_often_has_failed_for_the_last_reason(frontier):
    await frontier.add([link(A1)])
    for number in range(MAX_TRIES):
        [lease] = await frontier.lease(1, seconds=60)
        await frontier.commit([settlement(lease, Outcome.RETRY, reason=f"timeout {number}")])
    entry = await frontier.find(A1)
    assert (entry.state, entry.tries, entry.reason) == (UrlState.FAILED, MAX_TRIES, f"timeout {MAX_TRIES - 1}")
    counts = await frontier.counts()
    assert (counts.failed, counts.waiting) == (1, 0)


async def test_a_url_that_kills_its_workers_fails_in_the_end(frontier, clock):
    await frontier.add([link(A1)])
    for _ in range(MAX_TRIES):
        assert len(await frontier.lease(1, seconds=60)) == 1
        clock.now += 61
    assert await frontier.lease(1, seconds=60) == []
    entry = await frontier.find(A1)
    assert (entry.state, entry.reason) == (UrlState.FAILED, f"lost with its worker {MAX_TRIES} times")
    [host] = await frontier.hosts()
    assert (host.failed, host.leased, host.waiting) == (1, 0, 0)


async def test_a_failure_keeps_its_reason_in_any_language(frontier):
    await frontier.add([link(A1)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease, Outcome.FAILED, reason="读取超时: 'x\"\\\n")])
    entry = await frontier.find(A1)
    assert (entry.state, entry.reason) == (UrlState.FAILED, "读取超时: 'x\"\\\n")


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
    await frontier.park("a.example", "enough pages")
    clock.now += 1e9
    assert await urls_leased(frontier) == [B1]
    await frontier.unpark("a.example")
    assert await urls_leased(frontier) == [A1]


async def test_a_timed_park_ends_by_itself(frontier, clock):
    await frontier.add([link(A1)])
    await frontier.park("a.example", "robots.txt unreachable", seconds=30)
    clock.now += 29
    assert await frontier.lease(1, seconds=60) == []
    assert (await frontier.hosts())[0].parked == "robots.txt unreachable"
    clock.now += 1
    assert (await frontier.hosts())[0].parked == ""
    assert await urls_leased(frontier) == [A1]


async def test_the_end_of_a_park_does_not_cut_a_delay(frontier, clock):
    await frontier.add([link(A1), link(A2)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease, delay_seconds=50)])
    await frontier.park("a.example", "for a moment", seconds=10)
    await frontier.unpark("a.example")
    clock.now += 49
    assert await frontier.lease(1, seconds=60) == []
    clock.now += 1
    assert await urls_leased(frontier) == [A2]


async def test_a_host_can_be_parked_before_anybody_heard_of_it(frontier):
    await frontier.park("a.example", "asked us to stay away")
    await frontier.add([link(A1)])
    assert await frontier.lease(1, seconds=60) == []
    assert (await frontier.counts()).parked == 1


async def test_unparking_an_unknown_host_does_nothing(frontier):
    await frontier.unpark("a.example")
    assert await frontier.counts() == Counts()


async def test_a_settlement_can_park_its_host(frontier):
    await frontier.add([link(A1), link(A2)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease, park="1,000 pages")])
    assert await frontier.lease(1, seconds=60) == []
    assert [host.parked for host in await frontier.hosts()] == ["1,000 pages"]


async def test_a_lease_of_a_parked_host_can_still_be_settled(frontier):
    await frontier.add([link(A1)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.park("a.example", "enough")
    assert await frontier.commit([settlement(lease, page=True)]) == [True]
    assert (await frontier.counts()).pages == 1


# 4. Atomic


async def test_a_commit_settles_and_lets_links_in_as_one(frontier):
    await frontier.add([link(A1)])
    [lease] = await frontier.lease(1, seconds=60)
    links = [link(A2, 0.4, hops=1, parent=fingerprint(A1)), link(B1, 0.6)]
    assert await frontier.commit([settlement(lease, links=links, page=True)]) == [True]
    assert await frontier.counts() == Counts(waiting=2, done=1, pages=1, hosts=2, ready=2)
    assert await urls_leased(frontier) == [B1, A2]


async def test_settlements_of_one_batch_follow_one_another(frontier):
    await frontier.add([link(A1, 0.9), link(B1, 0.8)])
    [first, second] = await frontier.lease(2, seconds=60)
    settlements = [
        settlement(first, links=[link(B1, 1.0), link(B2, 0.1)]),  # B1 is still leased here
        settlement(second, Outcome.RETRY, links=[link(B2, 0.7)]),
    ]
    assert await frontier.commit(settlements) == [True, True]
    assert [(entry.url, entry.score) for entry in await frontier.peek(9)] == [(B1, 0.8), (B2, 0.7)]


async def test_a_page_may_link_to_itself(frontier):
    await frontier.add([link(A1, 0.2)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease, Outcome.RETRY, links=[link(A1, 0.6)])])
    assert [(entry.url, entry.score) for entry in await frontier.peek(9)] == [(A1, 0.6)]


async def test_a_refused_settlement_leaves_the_rest_of_its_batch_alone(frontier, clock):
    await frontier.add([link(A1), link(B1)])
    [short] = await frontier.lease(1, seconds=10)
    [long] = await frontier.lease(1, seconds=60)
    clock.now += 20
    settlements = [settlement(short, links=[link(A2)]), settlement(long, links=[link(B2)])]
    assert await frontier.commit(settlements) == [False, True]
    assert await frontier.find(A2) is None
    assert await state(frontier, B2) is UrlState.WAITING


async def test_empty_batches_do_nothing(frontier):
    assert await frontier.add([]) == 0
    assert await frontier.commit([]) == []
    await frontier.release([])
    assert await frontier.rescore({}) == 0
    assert await frontier.counts() == Counts()


async def test_a_large_batch_is_let_in_whole(frontier):
    links = [link(f"http://h{n % 50}.example/{n}", n / 1_000) for n in range(1_000)]
    assert await frontier.add(links) == 1_000
    assert [entry.url for entry in await frontier.peek(1_000)] == [link.url for link in reversed(links)]


async def test_all_that_was_added_and_committed_is_there_after_reopening(open_frontier):
    frontier = open_frontier()
    await frontier.add([link(A1, 0.9), link(A2, 0.1), link(B1, 0.5)])
    [first, second] = await frontier.lease(2, seconds=60)
    await frontier.commit([settlement(first, page=True, delay_seconds=5, links=[link(B2, 0.7)], content=7)])
    await frontier.park("b.example", "enough")
    await frontier.remember("b.example", "robots", "Disallow: /", seconds=60)
    before = await frontier.counts(), await frontier.hosts(), await frontier.peek(9)
    await frontier.close()
    frontier = open_frontier()
    assert (await frontier.counts(), await frontier.hosts(), await frontier.peek(9)) == before
    assert await frontier.first_with(7) == fingerprint(A1)
    assert await frontier.recall("b.example", "robots") == "Disallow: /"
    assert await frontier.commit([settlement(second)]) == [True]


async def test_a_frontier_may_be_closed_twice(frontier):
    await frontier.close()
    await frontier.close()


# 5. Seen


async def test_a_url_enters_once(frontier):
    assert await frontier.add([link(A1), link(A2), link(A1)]) == 2
    assert await frontier.add([link(A1)]) == 0
    assert (await frontier.counts()).waiting == 2


async def test_a_url_that_was_never_let_in_is_not_found(frontier):
    await frontier.add([link(A1)])
    assert await frontier.find(A2) is None
    assert await frontier.find(B1) is None


async def test_a_url_can_be_looked_up_in_every_state(frontier):
    await frontier.add([link(A1, 0.3, hops=2, depth_left=1, parent=5)])
    waiting = await frontier.find(A1)
    assert (waiting.url, waiting.host, waiting.state, waiting.score) == (A1, "a.example", UrlState.WAITING, 0.3)
    assert (waiting.hops, waiting.depth_left, waiting.parent, waiting.tries, waiting.reason) == (2, 1, 5, 0, "")
    [lease] = await frontier.lease(1, seconds=60)
    assert await state(frontier, A1) is UrlState.LEASED
    await frontier.commit([settlement(lease)])
    assert await state(frontier, A1) is UrlState.DONE


# 6. Bounded


async def test_a_full_host_pushes_out_its_worst(open_frontier):
    frontier = open_frontier(waiting_per_host=2)
    await frontier.add([link(A1, 0.5), link(A2, 0.1), link(B1, 0.0)])
    assert await frontier.add([link(A3, 0.3)]) == 1
    assert [entry.url for entry in await frontier.peek(9)] == [A1, A3, B1]
    assert await frontier.find(A2) is None
    counts = await frontier.counts()
    assert (counts.waiting, counts.dropped) == (3, 1)


async def test_of_equals_the_youngest_is_pushed_out(open_frontier):
    frontier = open_frontier(waiting_per_host=1)
    await frontier.add([link(A1), link(A2)])
    await frontier.add([link(A3)])
    assert [entry.url for entry in await frontier.peek(9)] == [A1]


async def test_what_was_pushed_out_may_return(open_frontier):
    frontier = open_frontier(waiting_per_host=1)
    await frontier.add([link(A1, 0.5), link(A2, 0.1)])
    assert await frontier.add([link(A2, 0.9)]) == 1
    assert [entry.url for entry in await frontier.peek(9)] == [A2]
    assert (await frontier.counts()).dropped == 2


async def test_a_url_that_comes_back_to_a_full_host_may_push_out_another(open_frontier):
    frontier = open_frontier(waiting_per_host=1)
    await frontier.add([link(A1, 0.5)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.add([link(A2, 0.4)])
    await frontier.release([lease])
    assert [entry.url for entry in await frontier.peek(9)] == [A1]


async def test_leased_and_settled_urls_take_no_room(open_frontier):
    frontier = open_frontier(waiting_per_host=1)
    await frontier.add([link(A1)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.add([link(A2)])
    assert (await frontier.counts()).dropped == 0
    await frontier.commit([settlement(lease, links=[link(A3, 0.1)])])
    assert [entry.url for entry in await frontier.peek(9)] == [A2]
    assert await state(frontier, A1) is UrlState.DONE


async def test_a_trap_cannot_fill_the_store(open_frontier):
    frontier = open_frontier(waiting_per_host=10)
    for page in range(20):
        await frontier.add([link(f"http://trap.example/{page}/{n}", n / 30) for n in range(30)])
    counts = await frontier.counts()
    assert (counts.waiting, counts.dropped) == (10, 590)


# 8. Rescore


async def test_waiting_urls_are_listed_best_first_over_all_hosts(frontier):
    await frontier.add([link(A1, 0.1), link(A2, 0.7), link(B1, 0.5), link(B2, 0.6)])
    await frontier.park("a.example", "enough")
    assert [entry.url for entry in await frontier.peek(3)] == [A2, B2, B1]
    assert [entry.url for entry in await frontier.peek(9, below=0.6)] == [B1, A1]
    assert await frontier.peek(9, below=0.1) == []


async def test_a_walk_in_batches_meets_every_url(frontier):
    links = [link(f"http://h{n % 7}.example/{n}", n / 100) for n in range(100)]
    await frontier.add(links)
    met, below = [], None
    while batch := await frontier.peek(9, below=below):
        met += [entry.url for entry in batch]
        below = batch[-1].score
    assert met == [link.url for link in reversed(links)]


async def test_new_scores_change_the_order(frontier):
    await frontier.add([link(A1, 0.1), link(A2, 0.2), link(B1, 0.5)])
    assert await frontier.rescore({A1: 0.9, B1: 0.05}) == 2
    assert [(entry.url, entry.score) for entry in await frontier.peek(9)] == [(A1, 0.9), (A2, 0.2), (B1, 0.05)]
    assert await urls_leased(frontier) == [A1, B1]


@pytest.mark.parametrize("merge", Merge)
async def test_a_new_score_holds_whatever_the_merge(open_frontier, merge):
    frontier = open_frontier(merge=merge)
    await frontier.add([link(A1, 0.5)])
    assert await frontier.rescore({A1: 0.25}) == 1
    assert (await frontier.find(A1)).score == 0.25


async def test_only_waiting_urls_get_new_scores(frontier):
    await frontier.add([link(A1, 0.5), link(B1, 0.4)])
    [leased] = await frontier.lease(1, seconds=60)
    assert await frontier.rescore({A1: 0.9, B1: 0.4, A3: 0.9, "http://unknown.example/": 0.9}) == 1
    await frontier.release([leased])
    assert (await frontier.find(A1)).score == 0.5


async def test_a_score_that_changed_meanwhile_is_left_alone(frontier):
    await frontier.add([link(A1, 0.5), link(B1, 0.4)])
    assert await frontier.rescore({A1: 0.9, B1: 0.8}, was={A1: 0.5, B1: 0.3}) == 2
    assert [(entry.url, entry.score) for entry in await frontier.peek(9)] == [(A1, 0.9), (B1, 0.4)]


async def test_a_score_is_the_same_in_spite_of_rounding(frontier):
    await frontier.add([link(A1, 0.1 + 0.2)])
    await frontier.rescore({A1: 0.9}, was={A1: 0.3})
    assert (await frontier.find(A1)).score == 0.9


async def test_carry_survives_a_new_score(frontier):
    await frontier.add([link(A1, 0.5, carry={"layer": 1})])
    await frontier.rescore({A1: 0.9})
    [lease] = await frontier.lease(1, seconds=60)
    assert (lease.score, lease.carry) == (0.9, {"layer": 1})


# 9. Content


async def test_the_first_url_settled_with_a_content_stays_its_owner(frontier):
    await frontier.add([link(A1, 0.9), link(B1, 0.1)])
    [first, second] = await frontier.lease(2, seconds=60)
    assert await frontier.first_with(42) == 0
    await frontier.commit([settlement(first, content=42)])
    await frontier.commit([settlement(second, content=42)])
    assert await frontier.first_with(42) == fingerprint(A1)


async def test_no_content_has_no_owner(frontier):
    await frontier.add([link(A1)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease)])
    assert await frontier.first_with(0) == 0


# 10. Notes


async def test_what_one_worker_learned_is_there_for_all_until_its_time_ends(frontier, clock):
    await frontier.remember("a.example", "robots", "User-agent: *\nDisallow: /私", seconds=60)
    await frontier.remember("a.example", "sitemap", "", seconds=90)
    clock.now += 59
    assert await frontier.recall("a.example", "robots") == "User-agent: *\nDisallow: /私"
    clock.now += 1
    assert await frontier.recall("a.example", "robots") is None
    assert await frontier.recall("a.example", "sitemap") == ""


async def test_a_newer_note_takes_the_place_of_the_older(frontier, clock):
    await frontier.remember("a.example", "robots", "old", seconds=60)
    await frontier.remember("a.example", "robots", "new", seconds=10)
    assert await frontier.recall("a.example", "robots") == "new"
    clock.now += 10
    await frontier.remember("b.example", "robots", "other", seconds=10)
    assert await frontier.recall("a.example", "robots") is None


async def test_a_note_makes_no_host(frontier):
    await frontier.remember("a.example", "robots", "", seconds=60)
    assert await frontier.recall("a.example", "sitemap") is None
    assert await frontier.counts() == Counts()


# 11. Gates


async def test_through_a_gate_goes_one_at_a_time(frontier):
    assert await frontier.enter("192.0.2.1", seconds=30) == 0.0
    assert await frontier.enter("192.0.2.1", seconds=30) == 30.0
    assert await frontier.enter("192.0.2.2", seconds=30) == 0.0


async def test_a_gate_opens_when_its_delay_is_over(frontier, clock):
    await frontier.enter("192.0.2.1", seconds=30)
    await frontier.leave("192.0.2.1", delay_seconds=2)
    assert await frontier.enter("192.0.2.1", seconds=30) == 2.0
    clock.now += 2
    assert await frontier.enter("192.0.2.1", seconds=30) == 0.0


async def test_a_gate_that_nobody_leaves_opens_by_itself(frontier, clock):
    await frontier.enter("192.0.2.1", seconds=30)
    clock.now += 30
    assert await frontier.enter("192.0.2.1", seconds=30) == 0.0


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
            settlement(leases["parked.example"], Outcome.FAILED, reason="gone", park="gone"),
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
    assert (first.delay_seconds, first.next_seconds, first.parked) == (2.5, 2.5, "")
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
    await frontier.park("a.example", "enough")
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
    await frontier.park("a.example", "enough")
    assert await frontier.seconds_to_next() is None
    await frontier.park("a.example", "for a while", seconds=90)
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

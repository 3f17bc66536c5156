"""Promises of `thresher.frontier.base` on leases and whole steps, on every frontier."""

import pytest

from tests.contract.frontier_steps import A1, A2, B1, B2, link, settlement, state, urls_leased
from thresher.frontier.base import MAX_TRIES, MAX_UNBEGUN, Counts, UrlState
from thresher.reasons.legacy import legacy_reason
from thresher.records import Outcome
from thresher.urls.canonical import fingerprint

# 2. Lease


async def test_a_leased_url_is_nobody_elses(frontier):
    await frontier.add([link(A1)])
    assert await urls_leased(frontier) == [A1]
    assert await urls_leased(frontier) == []
    assert await state(frontier, A1) is UrlState.LEASED


async def test_a_lost_worker_gives_its_url_back(frontier, clock):
    await frontier.add([link(A1, 0.9)])
    [lost] = await frontier.lease(1, seconds=60)
    await frontier.begin([lost])
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
    late_settlement = settlement(
        late, outcome, links=[link(B1)], page=True, delay_seconds=99, park=legacy_reason("p"), content=7
    )
    assert await frontier.commit([late_settlement]) == [False]
    assert (await frontier.counts(), await frontier.hosts()) == before
    assert await frontier.find(B1) is None
    assert await frontier.content_owner(7) == 0


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
    await frontier.commit([settlement(lease, Outcome.RETRY, reason=legacy_reason("timeout"))])
    entry = await frontier.find(A1)
    assert (entry.state, entry.tries, str(entry.reason)) == (UrlState.WAITING, 1, "timeout")
    [again] = await frontier.lease(1, seconds=60)
    assert again.tries == 1


async def test_a_url_retried_too_often_has_failed_for_the_last_reason(frontier):
    await frontier.add([link(A1)])
    for number in range(MAX_TRIES):
        [lease] = await frontier.lease(1, seconds=60)
        await frontier.commit([settlement(lease, Outcome.RETRY, reason=legacy_reason(f"timeout {number}"))])
    entry = await frontier.find(A1)
    assert (entry.state, entry.tries, str(entry.reason)) == (UrlState.FAILED, MAX_TRIES, f"timeout {MAX_TRIES - 1}")
    counts = await frontier.counts()
    assert (counts.failed, counts.waiting) == (1, 0)


# 15. Tries


async def test_a_url_that_kills_its_workers_fails_in_the_end(frontier, clock):
    await frontier.add([link(A1)])
    for _ in range(MAX_TRIES):
        [lease] = await frontier.lease(1, seconds=60)
        await frontier.begin([lease, lease])
        clock.now += 61
    assert await frontier.lease(1, seconds=60) == []
    entry = await frontier.find(A1)
    assert (entry.state, str(entry.reason)) == (UrlState.FAILED, f"lost with its worker {MAX_TRIES} times")
    [host] = await frontier.hosts()
    assert (host.failed, host.leased, host.waiting) == (1, 0, 0)


async def test_a_lease_that_expires_before_its_request_is_no_try(frontier, clock):
    await frontier.add([link(A1)])
    for _ in range(MAX_TRIES + 1):
        assert await urls_leased(frontier) == [A1]
        clock.now += 61
    [lease] = await frontier.lease(1, seconds=60)
    assert lease.tries == 0
    await frontier.release([lease])
    entry = await frontier.find(A1)
    assert (entry.state, entry.tries, str(entry.reason)) == (UrlState.WAITING, 0, "")


async def test_a_url_whose_requests_are_never_reported_fails_in_the_end(frontier, clock):
    await frontier.add([link(A1)])
    for _ in range(MAX_UNBEGUN):
        assert await urls_leased(frontier) == [A1]
        clock.now += 61
    assert await urls_leased(frontier) == []
    entry = await frontier.find(A1)
    reason = f"its lease expired {MAX_UNBEGUN} times before a request was reported"
    assert (entry.state, entry.tries, str(entry.reason)) == (UrlState.FAILED, 0, reason)
    assert (await frontier.counts()).failed == 1


async def test_tries_and_leases_without_a_request_are_counted_apart(frontier, clock):
    await frontier.add([link(A1), link(A2, 0.9)])
    for number in range(MAX_TRIES - 1):
        for is_begun in (False, False, True):
            [lease] = [lease for lease in await frontier.lease(2, seconds=60) if lease.url == A2]
            assert lease.tries == number
            if is_begun:
                await frontier.begin([lease])
            clock.now += 61
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.release([lease])
    [best] = await frontier.peek(1)
    assert (best.url, best.tries) == (A2, MAX_TRIES - 1)
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease, Outcome.RETRY, reason=legacy_reason("timeout"))])
    entry = await frontier.find(A2)
    assert (entry.state, entry.tries, str(entry.reason)) == (UrlState.FAILED, MAX_TRIES, "timeout")


async def test_the_request_of_a_lease_is_not_that_of_the_next(frontier, clock):
    await frontier.add([link(A1)])
    [first] = await frontier.lease(1, seconds=60)
    await frontier.begin([first])
    await frontier.release([first])
    [second] = await frontier.lease(1, seconds=60)
    await frontier.begin([first])  # it is not held any more
    clock.now += 61
    await frontier.begin([second])  # it has expired
    [third] = await frontier.lease(1, seconds=60)
    assert third.tries == 0


async def test_a_reopened_url_begins_to_count_again(frontier, clock):
    await frontier.add([link(A1)])
    for _ in range(MAX_UNBEGUN):
        await frontier.lease(1, seconds=60)
        clock.now += 61
    await frontier.lease(1, seconds=60)
    assert await frontier.reopen([link(A1)]) == 1
    for _ in range(MAX_UNBEGUN):
        assert await urls_leased(frontier) == [A1]
        clock.now += 61


async def test_a_failure_keeps_its_reason_in_any_language(frontier):
    await frontier.add([link(A1)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease, Outcome.FAILED, reason=legacy_reason("读取超时: 'x\"\\\n"))])
    entry = await frontier.find(A1)
    assert (entry.state, str(entry.reason)) == (UrlState.FAILED, "读取超时: 'x\"\\\n")


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
    await frontier.begin([])
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
    await frontier.park("b.example", legacy_reason("enough"))
    await frontier.put_state("b.example", "robots", "Disallow: /", seconds=60)
    before = await frontier.counts(), await frontier.hosts(), await frontier.peek(9)
    await frontier.close()
    frontier = open_frontier()
    assert (await frontier.counts(), await frontier.hosts(), await frontier.peek(9)) == before
    assert await frontier.content_owner(7) == fingerprint(A1)
    assert await frontier.get_state("b.example", "robots") == "Disallow: /"
    assert await frontier.commit([settlement(second)]) == [True]


async def test_a_frontier_may_be_closed_twice(frontier):
    await frontier.close()
    await frontier.close()

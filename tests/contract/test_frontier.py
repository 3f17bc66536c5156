"""Promises of `thresher.frontier.base` on URLs: their order, and what is remembered; on every frontier."""

import math

import pytest

from tests.contract.frontier_steps import A1, A2, A3, B1, B2, link, settlement, state, urls_leased
from thresher.frontier.base import Absence, Counts, Merge, UrlState
from thresher.reasons.legacy import legacy_reason
from thresher.records import Outcome, RequestKind
from thresher.urls.canonical import fingerprint

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
    strategy_data = {"layer": 2, "words": ["大学", 0.1, None], "deep": {"er": True}}
    found = link(A1, 0.1 + 0.2, strategy_data=strategy_data, depth_left=3, hops=4, redirects=1, parent=-(2**63))
    await frontier.add([found])
    [lease] = await frontier.lease(1, seconds=60, worker="w1")
    assert (lease.url, lease.host, lease.score, lease.strategy_data) == (A1, "a.example", 0.1 + 0.2, strategy_data)
    assert (lease.depth_left, lease.hops, lease.redirects, lease.parent) == (3, 4, 1, -(2**63))
    assert (lease.tries, lease.host_pages, lease.host_relevant) == (0, 0, 0)


@pytest.mark.parametrize("kind", RequestKind)
async def test_a_lease_has_the_kind_of_its_candidate(frontier, kind):
    await frontier.add([link(A1, hops=1, kind=kind), link(B1, 0.1, hops=0, for_host="b.example:8080", kind=kind)])
    first, second = await frontier.lease(2, seconds=60)
    assert (first.kind, first.strategy_data, first.for_host) == (kind, {}, "")
    assert (second.kind, second.strategy_data, second.for_host) == (kind, {}, "b.example:8080")


async def test_the_kind_of_a_lease_stays_when_it_is_given_back(frontier, clock):
    await frontier.add([link(A1, hops=3, kind=RequestKind.FEED)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease, Outcome.RETRY)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.release([lease])
    [lease] = await frontier.lease(1, seconds=60)
    assert lease.kind is RequestKind.FEED


@pytest.mark.parametrize("merge", Merge)
@pytest.mark.parametrize("kinds", [(0, 6), (6, 0), (2, 0), (0, 2), (4, 6)])
async def test_found_again_the_greater_kind_wins(open_frontier, merge, kinds):
    frontier = open_frontier(merge=merge)
    await frontier.add([link(A1, 0.5, hops=1, kind=RequestKind(kinds[0]))])
    await frontier.add([link(A1, 0.5, hops=1, kind=RequestKind(kinds[1]))])
    [lease] = await frontier.lease(1, seconds=60)
    assert lease.kind is RequestKind(max(kinds))


async def test_found_again_the_greater_score_wins_and_carry_and_parent_follow(frontier):
    await frontier.add([link(A1, 0.5, strategy_data={"from": "first"}, parent=1)])
    await frontier.add([link(A1, 0.8, strategy_data={"from": "better"}, parent=2)])
    await frontier.add([link(A1, 0.6, strategy_data={"from": "worse"}, parent=3)])
    [lease] = await frontier.lease(1, seconds=60)
    assert (lease.score, lease.strategy_data, lease.parent) == (0.8, {"from": "better"}, 2)


async def test_found_again_with_an_equal_score_the_first_stays(frontier):
    await frontier.add(
        [link(A1, 0.5, strategy_data={"from": "first"}), link(A1, 0.5, strategy_data={"from": "second"})]
    )
    [lease] = await frontier.lease(1, seconds=60)
    assert lease.strategy_data == {"from": "first"}


async def test_merge_first_keeps_the_first_score_and_carry(open_frontier):
    frontier = open_frontier(merge=Merge.FIRST)
    await frontier.add([link(A1, 0.5, strategy_data={"from": "first"}, hops=3)])
    await frontier.add([link(A1, 0.8, strategy_data={"from": "second"}, hops=1)])
    [lease] = await frontier.lease(1, seconds=60)
    assert (lease.score, lease.strategy_data, lease.hops) == (0.5, {"from": "first"}, 1)


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
    assert (waiting.hops, waiting.depth_left, waiting.parent, waiting.tries, str(waiting.reason)) == (2, 1, 5, 0, "")
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


async def test_what_was_pushed_out_is_recorded_until_it_returns(open_frontier):
    frontier = open_frontier(waiting_per_host=1)
    await frontier.add([link(A1, 0.5), link(A2, 0.1), link(B1)])
    assert await frontier.absences([A1, A2, A3, B1]) == [None, Absence.EVICTED, None, None]
    await frontier.add([link(A2, 0.1)])
    assert await frontier.absences([A2]) == [Absence.EVICTED]
    await frontier.add([link(A2, 0.9)])
    assert await frontier.absences([A1, A2]) == [Absence.EVICTED, None]


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
    await frontier.park("a.example", legacy_reason("enough"))
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
    await frontier.add([link(A1, 0.5, strategy_data={"layer": 1})])
    await frontier.rescore({A1: 0.9})
    [lease] = await frontier.lease(1, seconds=60)
    assert (lease.score, lease.strategy_data) == (0.9, {"layer": 1})


# 9. Content


async def test_the_first_url_settled_with_a_content_stays_its_owner(frontier):
    await frontier.add([link(A1, 0.9), link(B1, 0.1)])
    [first, second] = await frontier.lease(2, seconds=60)
    assert await frontier.content_owner(42) == 0
    await frontier.commit([settlement(first, content=42)])
    await frontier.commit([settlement(second, content=42)])
    assert await frontier.content_owner(42) == fingerprint(A1)


async def test_no_content_has_no_owner(frontier):
    await frontier.add([link(A1)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(lease)])
    assert await frontier.content_owner(0) == 0


# 10. State


async def test_what_one_worker_learned_is_there_for_all_until_its_time_ends(frontier, clock):
    await frontier.put_state("a.example", "robots", "User-agent: *\nDisallow: /私", seconds=60)
    await frontier.put_state("a.example", "sitemap", "", seconds=90)
    clock.now += 59
    assert await frontier.get_state("a.example", "robots") == "User-agent: *\nDisallow: /私"
    clock.now += 1
    assert await frontier.get_state("a.example", "robots") is None
    assert await frontier.get_state("a.example", "sitemap") == ""


async def test_a_newer_note_takes_the_place_of_the_older(frontier, clock):
    await frontier.put_state("a.example", "robots", "old", seconds=60)
    await frontier.put_state("a.example", "robots", "new", seconds=10)
    assert await frontier.get_state("a.example", "robots") == "new"
    clock.now += 10
    await frontier.put_state("b.example", "robots", "other", seconds=10)
    assert await frontier.get_state("a.example", "robots") is None


async def test_a_note_makes_no_host(frontier):
    await frontier.put_state("a.example", "robots", "", seconds=60)
    assert await frontier.get_state("a.example", "sitemap") is None
    assert await frontier.counts() == Counts()


# 13. Identity


async def test_the_first_id_that_a_crawl_is_given_stays(frontier):
    assert await frontier.identify("one") == "one"
    assert await frontier.identify("two") == "one"


# 14. Reopen


async def test_a_settled_url_can_be_made_to_wait_again(frontier):
    await frontier.add([link(A1, 0.9), link(B1, 0.8)])
    [first, second] = await frontier.lease(2, seconds=60)
    await frontier.commit(
        [settlement(first, page=True), settlement(second, Outcome.FAILED, reason=legacy_reason("gone"))]
    )
    assert await frontier.reopen([link(A1, 0.9), link(B1, 0.8), link(A2)]) == 2
    counts = await frontier.counts()
    assert (counts.waiting, counts.done, counts.failed, counts.pages) == (2, 0, 0, 0)
    assert [(host.host, host.pages, host.failed) for host in await frontier.hosts()] == [
        ("a.example", 0, 0),
        ("b.example", 0, 0),
    ]
    again = await frontier.lease(2, seconds=60)
    assert [(lease.url, lease.score, lease.tries) for lease in again] == [(A1, 0.9, 0), (B1, 0.8, 0)]


async def test_a_redirect_that_waits_again_takes_no_page_away(frontier):
    await frontier.add([link(A1), link(A2, 0.4)])
    [first] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(first, page=True)])
    [second] = await frontier.lease(1, seconds=60)
    await frontier.commit([settlement(second, reason=legacy_reason("redirects to http://a.example/3"))])
    assert await frontier.reopen([link(A2, 0.4)]) == 1
    assert (await frontier.counts()).pages == 1


async def test_what_waits_or_is_leased_is_not_reopened(frontier):
    await frontier.add([link(A1), link(B1, 0.1)])
    [lease] = await frontier.lease(1, seconds=60)
    assert await frontier.reopen([link(A1), link(B1)]) == 0
    assert await state(frontier, A1) is UrlState.LEASED
    assert await frontier.commit([settlement(lease)]) == [True]

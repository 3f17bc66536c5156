"""What was settled, and every link that was let in, is known to the frontier; what is not is found again."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from tests.unit.verify.conftest import TOPIC, SmallCrawl, page, url
from thresher.errors import CrawlBusy
from thresher.feedback.labels import Label
from thresher.frontier.base import Absence, entry_url
from thresher.frontier.sqlite.frontier import SqliteFrontier
from thresher.reasons.legacy import legacy_reason
from thresher.records import Candidate, Outcome, RequestKind, Settlement
from thresher.storage.page_store import FoundLink
from thresher.urls.canonical import fingerprint
from thresher.verify.crawl import verify
from thresher.verify.findings import FindingState
from thresher.verify.frontier_check import Queue, QueueCheck
from thresher.verify.page_rows import VerifiedRows


def states(report):
    return {(finding.state, finding.number) for finding in report.findings}


async def test_a_crawl_whose_parts_agree_is_clean(small):
    pages = [page(1, [2, 3]), page(2, [3])]
    small.keep(*pages)
    await small.settle(*pages)
    report = await verify(small.crawl)
    assert report.findings == []
    assert report.is_clean
    assert report.looked_at == {"segments": 1, "rows": 2, "links": 2, "done URLs": 2}
    assert report.unchecked == []


async def test_links_that_the_frontier_lost_are_found_again(small):
    small.keep(page(1, [2, 3]))
    await small.settle(page(1, [2]))  # a store that forgot the other link
    report = await verify(small.crawl)
    assert states(report) == {(FindingState.WRONG, 1)}
    assert report.findings[0].examples == (url(3),)
    assert await small.state(3) is None, "a look changes nothing"
    assert (await verify(small.crawl, repair=True)).is_clean
    entry = await small.state(3)
    assert (entry.state, entry.score, entry.hops, entry.parent) == ("waiting", 0.25, 2, fingerprint(url(1)))
    assert (await verify(small.crawl)).findings == []


async def check(small, frontier, *, repair=False, **more):
    """Compare with a frontier of the test's own."""
    try:
        with VerifiedRows(small.crawl.folder.pages) as rows:
            queue = Queue(frontier=frontier, outside=lambda url, hops: "", **more)
            return await QueueCheck(queue, rows, repair=repair).run()
    finally:
        await frontier.close()


def filtering(frontier, monkeypatch, *numbers):
    """Let a frontier say that its filters take these URLs for cold ones."""

    async def absences(urls):
        return [Absence.FILTERED if each in map(url, numbers) else None for each in urls]

    monkeypatch.setattr(frontier, "absences", absences)


async def test_only_links_that_a_filter_takes_for_cold_urls_are_not_wrong(small, monkeypatch):
    small.keep(page(1, list(range(2, 102))))
    await small.settle(page(1, list(range(4, 102))))
    frontier = small.crawl.backend.frontier()
    filtering(frontier, monkeypatch, 2)
    report = await check(small, frontier)
    assert [(finding.state, finding.examples) for finding in report.findings] == [
        (FindingState.WRONG, (url(3),)),
        (FindingState.NOTE, (url(2),)),
    ]


@pytest.mark.parametrize(("filtered", "state"), [([4], FindingState.NOTE), ([], FindingState.LOST)])
async def test_links_that_the_frontier_refuses_are_not_reported_as_repaired(small, monkeypatch, filtered, state):
    small.keep(page(1, [2, 3, 4]))
    await small.settle(page(1, [2]))
    frontier = small.crawl.backend.frontier()
    filtering(frontier, monkeypatch, *filtered)
    add = frontier.add

    async def add_one(candidates):
        return await add(candidates[:1])

    monkeypatch.setattr(frontier, "add", add_one)
    report = await check(small, frontier, repair=True)
    assert {(finding.state, finding.examples) for finding in report.findings} == {
        (FindingState.REPAIRED, (url(3),)),
        (state, (url(4),)),
    }
    assert report.is_clean == (state is FindingState.NOTE)


async def test_links_of_a_full_host_are_not_reported_as_repaired(small):
    small.keep(page(1, [2, 9, 16]))  # of one host
    await small.settle(page(1, [2]))
    frontier = SqliteFrontier(small.crawl.folder.frontier, waiting_per_host=2)
    report = await check(small, frontier, repair=True)
    [repaired, refused] = report.findings
    assert (repaired.state, repaired.number) == (FindingState.REPAIRED, 1)
    assert (refused.state, refused.number) == (FindingState.NOTE, 1)
    assert "the queue of the host is full" in refused.words


FULL = [2, 9, 16, 23, 30]
"""Pages of one host."""


async def settle_on_a_full_host(small, *, often=1):
    """Settle page 1, whose links are more than may wait on their host, and find them again and again."""
    small.keep(page(1, [*FULL, 3, 4]))
    await small.settle(page(1, [3, 4]))
    frontier = SqliteFrontier(small.crawl.folder.frontier, waiting_per_host=2)
    for _ in range(often):
        await frontier.add([Candidate(url=url(number), score=0.25) for number in FULL])
    await frontier.close()


def take(small, *numbers):
    """Delete URLs from the file; return how many there were."""
    with closing(sqlite3.connect(small.crawl.folder.frontier)) as db, db:
        return sum(db.execute("DELETE FROM url WHERE url = ?", [url(number)]).rowcount for number in numbers)


async def test_evictions_explain_the_urls_that_were_evicted_and_no_others(small):
    await settle_on_a_full_host(small, often=20)
    [evicted] = (await verify(small.crawl)).findings
    assert (evicted.state, evicted.number) == (FindingState.NOTE, 3)
    assert take(small, 3) == 1, "of a host that was never full"
    report = await verify(small.crawl)
    assert {(f.state, f.number, f.words.partition(" ")[0]) for f in report.findings} == {
        (FindingState.NOTE, 3, "links"),
        (FindingState.WRONG, 1, "link"),
    }, "a URL that is reported by its name is not counted again"
    assert (await verify(small.crawl, repair=True)).is_clean
    assert (await small.state(3)).state == "waiting"
    assert states(await verify(small.crawl)) == {(FindingState.NOTE, 3)}


async def test_deleted_urls_of_any_state_are_missed_and_found_again(small):
    pages = [page(1, [2, 3, 4]), page(2, [5])]
    small.keep(*pages)
    await small.settle(*pages)
    frontier = small.crawl.backend.frontier()
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.close()
    assert lease.url == url(3)
    assert take(small, 2, 3, 4) == 3, "one is done, one leased, one waits"
    assert not (await verify(small.crawl)).is_clean
    assert (await verify(small.crawl, repair=True)).is_clean
    assert {(await small.state(number)).state for number in (2, 3, 4)} == {"waiting"}
    again = await verify(small.crawl)
    assert states(again) == {(FindingState.NOTE, 1)}, "page 2 is fetched again"
    frontier = small.crawl.backend.frontier()
    counts = await frontier.counts()
    assert (counts.waiting, counts.leased, counts.done, counts.pages) == (4, 0, 1, 1)
    assert len(await frontier.lease(9, seconds=60)) == 4
    await frontier.close()


async def test_a_url_that_nothing_names_is_missed_and_called_lost(small):
    small.keep(page(1, [2]))
    await small.settle(page(1, [2, 3]))  # no row has a link to page 3
    take(small, 3)
    [counted] = (await verify(small.crawl)).findings
    assert (counted.state, counted.number) == (FindingState.WRONG, 1)
    assert counted.examples == ("h3.example: 1 waiting counted, 0 there",)
    repaired = await verify(small.crawl, repair=True)
    assert states(repaired) == {(FindingState.LOST, 1)}
    assert not repaired.is_clean
    assert (await verify(small.crawl)).findings == []


async def test_evictions_that_an_earlier_version_did_not_record_are_named_until_a_repair(small):
    await settle_on_a_full_host(small, often=2)
    take(small, 3)
    with closing(sqlite3.connect(small.crawl.folder.frontier)) as db:
        (dropped,) = db.execute("SELECT dropped FROM tally").fetchone()
        db.executescript("DROP TABLE evicted; UPDATE tally SET waiting = waiting - 1; PRAGMA user_version = 2")
        db.execute("UPDATE host SET waiting = waiting - 1 WHERE key = 'h3.example'")
        db.commit()
    [note] = (await verify(small.crawl)).findings
    assert (note.state, note.number) == (FindingState.NOTE, 4)
    assert f"removed {dropped} URLs from full queues and did not record which" in note.words
    assert states(await verify(small.crawl, repair=True)) == {(FindingState.REPAIRED, 4)}
    assert (await small.state(3)).state == "waiting"
    take(small, 3)
    assert (FindingState.WRONG, 1) in states(await verify(small.crawl)), "from now on every URL is accounted for"


async def test_a_seed_that_is_missing_is_added_by_a_repair(small):
    await small.settle()
    with closing(sqlite3.connect(small.crawl.folder.frontier)) as db, db:
        db.execute("DELETE FROM url")
    report = await verify(small.crawl)
    assert {(finding.state, finding.words) for finding in report.findings} == {
        (FindingState.WRONG, "seed is unknown to the frontier"),
    }
    assert (await verify(small.crawl, repair=True)).is_clean
    assert (await verify(small.crawl)).findings == []


async def test_a_url_that_a_label_queued_is_missed(small):
    await small.settle(page(1))
    small.keep(page(1))
    labels = [Label(url=url(number), relevant=number != 4, at=1.0) for number in (1, 2, 4)]
    await small.crawl.backend.labels().append(labels)
    [finding] = (await verify(small.crawl)).findings
    assert (finding.words, finding.examples) == ("labelled URL is unknown to the frontier", (url(2),))
    assert (await verify(small.crawl, repair=True)).is_clean
    assert (await small.state(2)).state == "waiting"


async def test_a_look_at_pages_that_the_frontier_lost_does_not_say_that_they_are_fetched_again(small):
    small.keep(page(1, []))
    await small.settle(page(5, []))
    assert {"page is unknown to the frontier"} <= {finding.words for finding in (await verify(small.crawl)).findings}
    assert await small.state(1) is None
    repaired = await verify(small.crawl, repair=True)
    assert {"page was unknown to the frontier; now queued again"} <= {f.words for f in repaired.findings}


async def test_pages_that_the_frontier_lost_are_let_in_again(small):
    small.keep(page(1, [2]), page(2, [3]))
    await small.settle(page(5, []))
    report = await verify(small.crawl, repair=True)
    assert {finding.state for finding in report.findings} >= {FindingState.REPAIRED}
    assert (await small.state(1)).state == "waiting"
    assert (await small.state(3)).state == "waiting"
    again = await verify(small.crawl)
    assert again.is_clean
    assert states(again) == {(FindingState.NOTE, 2)}, "they are kept, and are fetched again"


async def test_the_links_of_a_page_that_is_fetched_again_anyway_are_not_missed(small):
    small.keep(page(1, [2, 3]))
    frontier = small.crawl.backend.frontier()
    await frontier.add([Candidate(url=url(1), score=1.0)])
    await frontier.close()
    report = await verify(small.crawl)
    assert states(report) == {(FindingState.NOTE, 1)}
    assert report.is_clean


async def test_pages_that_the_page_store_lost_are_queued_again(small):
    await small.settle(page(1, [2]), page(2, []), page(3, []))  # nothing links to the third
    small.keep(page(1, [2]))
    report = await verify(small.crawl)
    assert states(report) == {(FindingState.WRONG, 2)}
    assert report.findings[0].examples == (url(2), url(3))
    assert (await small.state(2)).state == "done", "a look changes nothing"
    report = await verify(small.crawl, repair=True)
    assert states(report) == {(FindingState.REPAIRED, 2)}
    assert report.is_clean
    assert {(await small.state(number)).state for number in (2, 3)} == {"waiting"}
    frontier = small.crawl.backend.frontier()
    counts = await frontier.counts()
    await frontier.close()
    assert (counts.waiting, counts.done, counts.pages) == (2, 1, 1)


async def test_a_page_that_was_lost_and_is_out_of_scope_now_is_not_queued_again(tmp_path):
    small = SmallCrawl(tmp_path / "small", TOPIC + f'scope: {{deny_hosts: ["{url(2)[7:17]}"]}}\n')
    await small.settle(page(1, []), page(2, []))
    small.keep(page(1, []))
    assert states(await verify(small.crawl, repair=True)) == {(FindingState.NOTE, 1)}
    assert (await small.state(2)).state == "done"


async def test_a_frontier_file_that_is_gone_is_noticed_and_made_anew(small):
    pages = [page(1, [2]), page(2, [])]
    small.keep(*pages)
    await small.settle(*pages)
    small.crawl.folder.frontier.unlink()
    assert states(await verify(small.crawl)) == {(FindingState.WRONG, 0)}, "nothing is counted"
    assert not small.crawl.folder.frontier.exists(), "a look makes nothing"
    assert (await verify(small.crawl, repair=True)).is_clean
    assert {(await small.state(number)).state for number in (1, 2)} == {"waiting"}


async def test_links_outside_of_the_rules_as_they_are_now_are_not_missed(tmp_path):
    small = SmallCrawl(tmp_path / "small", TOPIC + f'scope: {{deny_hosts: ["{url(3)[7:17]}"]}}\n')
    small.keep(page(1, [2, 3]))
    await small.settle(page(1, [2]))
    assert (await verify(small.crawl)).findings == []


async def test_leases_without_an_owner_are_only_reported(small):
    await small.seed()
    frontier = small.crawl.backend.frontier()
    await frontier.add([Candidate(url=url(1), score=1.0)])
    await frontier.lease(1, seconds=60)
    await frontier.close()
    report = await verify(small.crawl, repair=True)
    assert states(report) == {(FindingState.NOTE, 1)}
    assert (await small.state(1)).state == "leased"


async def test_a_redirect_leads_as_far_from_the_seed_as_it_is_itself(small):
    moved = page(1, [2], page=False, status=301, reason=legacy_reason("moved to …"))
    small.keep(moved)
    await small.settle(page(1, [], page=False))
    await verify(small.crawl, repair=True)
    assert (await small.state(2)).hops == 1


async def test_sitemaps_that_a_sitemap_lists_are_not_taken_for_pages(small):
    links = [FoundLink(url=address, anchor="", score=0.1, parts={}) for address in (url(2), "http://h1.example/b.xml")]
    listed = page(1, page=False, reason=legacy_reason("sitemap: 1 of 1 pages, 1 of 1 sitemaps"))
    small.keep(replace(listed, links=links))
    await small.settle(page(1, [], page=False))
    [finding] = (await verify(small.crawl)).findings
    assert finding.examples == (url(2),)


async def test_the_pages_of_a_feed_are_a_link_further_from_the_seed(small):
    small.keep(page(1, [2], page=False, reason=legacy_reason("feed: 1 of 1 entries")))
    await small.settle(page(1, [], page=False))
    await verify(small.crawl, repair=True)
    assert (await small.state(2)).hops == 2


async def test_entries_without_a_row_of_their_own_are_not_missed(small):
    await small.seed()
    frontier = small.crawl.backend.frontier()
    kinds = {RequestKind.ROBOTS: "robots-1", RequestKind.TICKET: "request-1"}
    await frontier.add([Candidate(entry_url(url(1), mark), 1.0, kind=kind) for kind, mark in kinds.items()])
    while leases := await frontier.lease(2, seconds=60):
        await frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE) for lease in leases])
    await frontier.close()
    assert (await verify(small.crawl)).findings == []


async def test_a_crawl_that_runs_is_looked_at_and_not_repaired(small):
    small.keep(page(1, [2]))
    await small.settle(page(1, [2]))
    with small.crawl.folder.only_one_run():
        assert (await verify(small.crawl)).is_clean
        with pytest.raises(CrawlBusy):
            await verify(small.crawl, repair=True)


async def test_a_page_that_is_tried_again_is_nothing_to_speak_of(small):
    small.keep(page(1, outcome=Outcome.RETRY, page=False, status=503, reason=legacy_reason("busy")))
    await small.seed()
    frontier = small.crawl.backend.frontier()
    await frontier.add([Candidate(url=url(1), score=1.0)])
    await frontier.close()
    assert (await verify(small.crawl)).findings == []

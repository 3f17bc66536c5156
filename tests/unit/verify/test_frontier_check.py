"""What was settled, and every link that was let in, is known to the frontier; what is not is found again."""

from dataclasses import replace

import pytest

from tests.unit.verify.conftest import TOPIC, SmallCrawl, page, url
from thresher.errors import CrawlBusy
from thresher.frontier.sqlite.frontier import SqliteFrontier
from thresher.records import Candidate, Outcome
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


@pytest.mark.parametrize(("lost", "state"), [([2], FindingState.NOTE), ([2, 3, 4], FindingState.WRONG)])
async def test_a_few_links_that_filters_of_cold_urls_took_for_known_ones_are_not_wrong(small, lost, state):
    small.keep(page(1, list(range(2, 102))))
    await small.settle(page(1, [number for number in range(2, 102) if number not in lost]))
    frontier = small.crawl.frontier()
    with VerifiedRows(small.crawl.folder.pages) as rows:
        queue = Queue(frontier=frontier, outside=lambda url, hops: "", filter_error=0.02)
        report = await QueueCheck(queue, rows, repair=False).run()
    await frontier.close()
    assert [(finding.state, finding.number) for finding in report.findings] == [(state, len(lost))]


@pytest.mark.parametrize(
    ("filter_error", "state"), [(0.34, FindingState.NOTE), (0.02, FindingState.LOST), (0.0, FindingState.LOST)]
)
async def test_links_that_the_frontier_refuses_are_not_reported_as_repaired(small, monkeypatch, filter_error, state):
    small.keep(page(1, [2, 3, 4]))
    await small.settle(page(1, [2]))
    frontier = small.crawl.frontier()
    add = frontier.add

    async def add_one(candidates):
        return await add(candidates[:1])

    monkeypatch.setattr(frontier, "add", add_one)
    with VerifiedRows(small.crawl.folder.pages) as rows:
        queue = Queue(frontier=frontier, outside=lambda url, hops: "", filter_error=filter_error)
        report = await QueueCheck(queue, rows, repair=True).run()
    await frontier.close()
    assert {(finding.state, finding.examples) for finding in report.findings} == {
        (FindingState.REPAIRED, (url(3),)),
        (state, (url(4),)),
    }
    assert report.is_clean == (state is FindingState.NOTE)


async def test_links_of_a_full_host_are_not_reported_as_repaired(small):
    small.keep(page(1, [2, 9, 16]))  # of one host
    await small.settle(page(1, [2]))
    frontier = SqliteFrontier(small.crawl.folder.frontier, waiting_per_host=2)
    with VerifiedRows(small.crawl.folder.pages) as rows:
        queue = Queue(frontier=frontier, outside=lambda url, hops: "")
        report = await QueueCheck(queue, rows, repair=True).run()
    await frontier.close()
    [repaired, refused] = report.findings
    assert (repaired.state, repaired.number) == (FindingState.REPAIRED, 1)
    assert (refused.state, refused.number) == (FindingState.NOTE, 1)
    assert "the queues of their hosts are full" in refused.words


async def test_a_look_at_pages_that_the_frontier_lost_does_not_say_that_they_are_fetched_again(small):
    small.keep(page(1, []))
    await small.settle(page(5, []))
    assert {"pages are unknown to the frontier"} <= {finding.words for finding in (await verify(small.crawl)).findings}
    assert await small.state(1) is None
    repaired = await verify(small.crawl, repair=True)
    assert {"pages were unknown to the frontier; they are queued again"} <= {f.words for f in repaired.findings}


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
    frontier = small.crawl.frontier()
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
    frontier = small.crawl.frontier()
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
    assert states(await verify(small.crawl)) == {(FindingState.WRONG, 1)}
    assert not small.crawl.folder.frontier.exists(), "a look makes nothing"
    assert (await verify(small.crawl, repair=True)).is_clean
    assert {(await small.state(number)).state for number in (1, 2)} == {"waiting"}


async def test_links_outside_of_the_rules_as_they_are_now_are_not_missed(tmp_path):
    small = SmallCrawl(tmp_path / "small", TOPIC + f'scope: {{deny_hosts: ["{url(3)[7:17]}"]}}\n')
    small.keep(page(1, [2, 3]))
    await small.settle(page(1, [2]))
    assert (await verify(small.crawl)).findings == []


async def test_leases_without_an_owner_are_only_reported(small):
    frontier = small.crawl.frontier()
    await frontier.add([Candidate(url=url(1), score=1.0)])
    await frontier.lease(1, seconds=60)
    await frontier.close()
    report = await verify(small.crawl, repair=True)
    assert states(report) == {(FindingState.NOTE, 1)}
    assert (await small.state(1)).state == "leased"


async def test_a_redirect_leads_as_far_from_the_seed_as_it_is_itself(small):
    moved = page(1, [2], page=False, status=301, reason="moved to …")
    small.keep(moved)
    await small.settle(page(1, [], page=False))
    await verify(small.crawl, repair=True)
    assert (await small.state(2)).hops == 1


async def test_sitemaps_that_a_sitemap_lists_are_not_taken_for_pages(small):
    links = [FoundLink(url=address, anchor="", score=0.1, parts={}) for address in (url(2), "http://h1.example/b.xml")]
    listed = page(1, page=False, reason="sitemap: 1 of 1 pages, 1 of 1 sitemaps")
    small.keep(replace(listed, links=links))
    await small.settle(page(1, [], page=False))
    [finding] = (await verify(small.crawl)).findings
    assert finding.examples == (url(2),)


async def test_a_crawl_that_runs_is_looked_at_and_not_repaired(small):
    small.keep(page(1, [2]))
    await small.settle(page(1, [2]))
    with small.crawl.folder.only_one_run():
        assert (await verify(small.crawl)).is_clean
        with pytest.raises(CrawlBusy):
            await verify(small.crawl, repair=True)


async def test_a_page_that_is_tried_again_is_nothing_to_speak_of(small):
    small.keep(page(1, outcome=Outcome.RETRY, page=False, status=503, reason="busy"))
    frontier = small.crawl.frontier()
    await frontier.add([Candidate(url=url(1), score=1.0)])
    await frontier.close()
    assert (await verify(small.crawl)).findings == []

"""A store that many machines share: what it forgot is found again from the pages of this machine."""

import pytest

from testing.servers.fixtures import redis_server_of_session, redis_url  # noqa: F401
from tests.unit.verify.conftest import TOPIC, SmallCrawl, page
from thresher.coordination.worker_names import machine_mark
from thresher.coordination.worker_registry import register_machine
from thresher.verify.crawl import verify
from thresher.verify.findings import FindingState


@pytest.fixture
def shared(tmp_path, redis_url):  # noqa: F811 - the fixture
    return SmallCrawl(tmp_path / "shared", TOPIC + f"store: {redis_url}\n")


async def test_links_that_the_store_forgot_are_found_again(shared):
    shared.keep(page(1, [2, 3]))
    await shared.settle(page(1, [2]))
    assert not (await verify(shared.crawl)).is_clean
    assert (await verify(shared.crawl, repair=True)).is_clean
    assert (await shared.state(3)).score == 0.25
    assert (await verify(shared.crawl)).findings == []


async def test_a_store_that_was_emptied_gets_back_what_this_machine_keeps(shared):
    shared.keep(*(page(number, [number + 1]) for number in range(1, 150)))
    assert (await verify(shared.crawl, repair=True)).is_clean
    again = await verify(shared.crawl)
    assert [(finding.state, finding.number) for finding in again.findings] == [(FindingState.NOTE, 149)]


async def test_pages_of_other_machines_are_not_called_lost(shared):
    await shared.settle(page(1, [2]), page(2, []))
    shared.keep(page(1, [2]))
    report = await verify(shared.crawl)
    assert report.findings == []
    assert "1 have none here" in report.unchecked[0]


async def test_pages_that_the_only_machine_lost_are_queued_again_as_far_as_a_link_names_them(shared):
    await shared.settle(page(1, [2]), page(2, [3]), page(3, []))
    shared.keep(page(1, [2]))
    connection = shared.crawl.connection(patience_seconds=5)
    await register_machine(connection, shared.crawl.name, machine_mark(shared.crawl.folder))
    await connection.close()
    report = await verify(shared.crawl, repair=True)
    assert [(finding.state, finding.number) for finding in report.findings] == [
        (FindingState.REPAIRED, 1),
        (FindingState.LOST, 1),
    ]
    assert not report.is_clean
    assert (await shared.state(2)).state == "waiting"
    frontier = shared.crawl.frontier()
    counts = await frontier.counts()
    await frontier.close()
    assert (counts.waiting, counts.done, counts.pages) == (1, 2, 2)

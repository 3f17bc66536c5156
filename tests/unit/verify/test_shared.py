"""A store that many machines share: what it forgot is found again from the pages of this machine."""

import pytest

from testing.servers.fixtures import redis_server_of_session, redis_url  # noqa: F401
from tests.unit.verify.conftest import TOPIC, SmallCrawl, page, url
from thresher.coordination.worker_names import machine_id
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
    connection = shared.crawl.backend.connection(patience_seconds=5)
    await register_machine(connection, shared.crawl.name, machine_id(shared.crawl.folder))
    await connection.close()
    report = await verify(shared.crawl, repair=True)
    assert [(finding.state, finding.number) for finding in report.findings] == [
        (FindingState.REPAIRED, 1),
        (FindingState.LOST, 1),
    ]
    assert not report.is_clean
    assert (await shared.state(2)).state == "waiting"
    frontier = shared.crawl.backend.frontier()
    counts = await frontier.counts()
    await frontier.close()
    assert (counts.waiting, counts.done, counts.pages) == (1, 2, 2)


async def keys_of(shared, *command):
    """Send a command to the store of a crawl, past the frontier; the key comes after its first word."""
    connection = shared.crawl.backend.connection(patience_seconds=5)
    try:
        name, key, *more = command
        return await connection.call(name, f"th:{{{shared.crawl.name}:0}}{key}", *more)
    finally:
        await connection.close()


def states(report):
    return {(finding.state, finding.number) for finding in report.findings}


async def leased(shared):
    frontier = shared.crawl.backend.frontier()
    try:
        return {lease.url for lease in await frontier.lease(9, seconds=60)}
    finally:
        await frontier.close()


async def test_waiting_urls_that_were_taken_from_the_store_are_missed_and_found_again(shared):
    shared.keep(page(1, [2, 9, 3]))
    await shared.settle(page(1, [2, 9, 3]))
    assert await keys_of(shared, "HDEL", "qh2.example", "-/2", "-/9") == 2
    report = await verify(shared.crawl)
    assert [(finding.state, finding.number, finding.examples) for finding in report.findings] == [
        (FindingState.WRONG, 2, (url(2), url(9)))
    ]
    assert (await verify(shared.crawl, repair=True)).is_clean
    assert (await verify(shared.crawl)).findings == []
    assert await leased(shared) == {url(2), url(3)}


async def test_a_waiting_url_that_nothing_names_is_missed_in_the_store_too(shared):
    shared.keep(page(1, [2]))
    await shared.settle(page(1, [2, 3]))
    await keys_of(shared, "HDEL", "qh3.example", "-/3")
    assert states(await verify(shared.crawl)) == {(FindingState.WRONG, 1)}
    assert states(await verify(shared.crawl, repair=True)) == {(FindingState.LOST, 1)}
    assert (await verify(shared.crawl)).findings == []
    assert await leased(shared) == {url(2)}


@pytest.mark.parametrize(
    "command",
    [("DEL", "qh2.example"), ("HDEL", "qh2.example", ""), ("DEL", "r"), ("HINCRBY", "x", "waiting", 5)],
    ids=["all of a host", "the record of a host", "the list of ready hosts", "a sum"],
)
async def test_other_losses_of_the_store_are_found_and_repaired(shared, command):
    shared.keep(page(1, [2, 9, 3]))
    await shared.settle(page(1, [2, 9, 3]))
    await keys_of(shared, *command)
    assert not (await verify(shared.crawl)).is_clean
    await verify(shared.crawl, repair=True)
    assert (await verify(shared.crawl)).findings == []
    frontier = shared.crawl.backend.frontier()
    counts = await frontier.counts()
    await frontier.close()
    assert (counts.waiting, counts.leased, counts.hosts) == (3, 0, 4)
    assert await leased(shared) == {url(2), url(3)}


async def test_evictions_that_an_earlier_version_did_not_record_are_named_until_a_repair(shared):
    shared.keep(page(1, [2, 3]))
    await shared.settle(page(1, [2]))
    await keys_of(shared, "HINCRBY", "x", "dropped", 7)
    [note] = (await verify(shared.crawl)).findings
    assert note.state is FindingState.NOTE
    assert "removed 7 URLs from full queues and did not record which" in note.words
    assert states(await verify(shared.crawl, repair=True)) == {(FindingState.REPAIRED, 1)}
    await keys_of(shared, "HDEL", "qh3.example", "-/3")
    assert not (await verify(shared.crawl)).is_clean, "from now on every URL is accounted for"

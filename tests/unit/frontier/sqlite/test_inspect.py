"""A look at a frontier file: what its users see, and nothing that changes it."""

import math
import sqlite3
from contextlib import closing

import pytest

from thresher.errors import StoreError
from thresher.frontier.base import Counts
from thresher.frontier.sqlite.frontier import SqliteFrontier
from thresher.frontier.sqlite.inspect import SqliteFrontierReader
from thresher.reasons.legacy import legacy_reason
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import Candidate, Outcome, Settlement


@pytest.fixture
async def frontier(tmp_path):
    frontier = SqliteFrontier(tmp_path / "frontier.db", delay_seconds=1.0)
    yield frontier
    await frontier.close()


@pytest.fixture
async def look(tmp_path):
    look = SqliteFrontierReader(tmp_path / "frontier.db", delay_seconds=1.0)
    yield look
    await look.close()


def candidates(number, hosts=5):
    return [
        Candidate(url=f"http://h{place % hosts}.example/{place}", score=place / number, parent=7)
        for place in range(number)
    ]


async def test_before_the_file_is_there_nothing_waits_and_none_is_made(look, tmp_path):
    assert await look.counts() == Counts()
    assert (await look.hosts(), await look.peek(5), await look.find("http://a.example/")) == ([], [], None)
    assert await look.get_state("", "wishes") is None
    assert (await look.sample(10)).scores == ()
    assert list(tmp_path.iterdir()) == []


async def test_a_file_that_comes_later_is_seen(look, tmp_path):
    await look.counts()
    frontier = SqliteFrontier(tmp_path / "frontier.db")
    await frontier.add(candidates(3))
    assert (await look.counts()).waiting == 3
    await frontier.close()


async def test_it_sees_what_the_frontier_says(frontier, look):
    await frontier.add(candidates(50))
    leases = await frontier.lease(3, seconds=60)
    done = Settlement(lease=leases[0], outcome=Outcome.DONE, page=True, relevant=True, delay_seconds=9.0)
    failed = Settlement(lease=leases[1], outcome=Outcome.FAILED, reason=legacy_reason("http 404"))
    await frontier.commit([done, failed])
    await frontier.park("h0.example", legacy_reason("too slow"))
    await frontier.put_state("h1.example", "kind", "value", seconds=60)
    assert await look.counts() == await frontier.counts()
    assert await look.peek(10) == await frontier.peek(10)
    assert await look.find(leases[1].url) == await frontier.find(leases[1].url)
    assert [host.host for host in await look.hosts()] == [host.host for host in await frontier.hosts()]
    assert [(host.host, str(host.parked)) for host in await look.hosts(parked=True)] == [("h0.example", "too slow")]
    assert await look.get_states([("h1.example", "kind"), ("h1.example", "other")]) == ["value", None]


async def test_a_short_queue_is_seen_whole(frontier, look):
    await frontier.add(candidates(20))
    sample = await look.sample(20)
    assert sample.whole
    assert sorted(score for score, _ in sample.scores) == [place / 20 for place in range(20)]


async def test_a_sample_stands_for_all_that_waits(frontier, look):
    uneven = [Candidate(url=f"http://big.example/{place}", score=0.9) for place in range(3000)]
    small = [Candidate(url=f"http://s{place % 50}.example/{place}", score=0.1) for place in range(1000)]
    await frontier.add([*uneven, *small])
    sample = await look.sample(400)
    assert not sample.whole
    assert math.isclose(sum(weight for _, weight in sample.scores), 4000)
    high = sum(weight for score, weight in sample.scores if score > 0.5)
    assert 2700 < high < 3300


async def test_what_is_done_is_no_part_of_a_sample(frontier, look):
    await frontier.add(candidates(200))
    leases = await frontier.lease(5, seconds=60)
    await frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE, page=True) for lease in leases])
    left = {place / 200 for place in range(200)} - {lease.score for lease in leases}
    assert {score for score, _ in (await look.sample(100)).scores} <= left


async def test_a_file_of_a_newer_version_is_refused_with_words(frontier, look):
    await frontier.add(candidates(1))
    frontier._file._db.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer Thresher"):
        await look.counts()


async def test_what_is_no_frontier_is_refused_with_words(tmp_path, look):
    (tmp_path / "frontier.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError, match="cannot be read"):
        await look.counts()


async def test_a_file_of_an_earlier_version_is_read_as_it_is(frontier, look):
    await frontier.add(candidates(1))
    frontier._file._db.executescript("DROP TABLE clock; DROP TABLE gate; PRAGMA user_version = 1;")
    assert (await look.counts()).waiting == 1
    assert [entry.score for entry in await look.peek(5)] == [0.0]


OLD = """
ALTER TABLE url DROP COLUMN reason_kind;
ALTER TABLE host DROP COLUMN parked_kind;
UPDATE url SET reason = 'http 404' WHERE state = 3;
UPDATE url SET reason = 'through a browser' WHERE state = 2;
UPDATE host SET parked = 'gave 50 pages, none of them relevant' WHERE park_end > 0;
CREATE INDEX url_failed ON url (host, reason, state) WHERE state = 3;
PRAGMA user_version = 3;
"""


async def test_reasons_that_were_texts_are_shown_and_converted_once(tmp_path, look):
    path = tmp_path / "frontier.db"
    first = SqliteFrontier(path)
    await first.add(candidates(4, hosts=4))
    done, failed, *_ = await first.lease(2, seconds=60)
    await first.commit(
        [
            Settlement(lease=done, outcome=Outcome.DONE, page=True),
            Settlement(lease=failed, outcome=Outcome.FAILED, reason=legacy_reason("timeout")),
        ]
    )
    await first.park("h0.example", legacy_reason("blocked by hand"))
    await first.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP INDEX url_failed")
        db.executescript(OLD)

    async def shown(frontier):
        entries = [await frontier.find(lease.url) for lease in (done, failed)]
        return (
            [entry.reason for entry in entries],
            (await frontier.find_host("h0.example")).parked,
            sorted(await frontier.failures()),
        )

    seen = await shown(look)
    assert [str(reason) for reason in seen[0]] == ["through a browser", "http 404"]
    assert seen[1] == Reason.of(ReasonKind.LOW_HARVEST, 50, 0)
    for _ in range(2):
        frontier = SqliteFrontier(path)
        later = await shown(frontier)
        assert later[:2] == seen[:2]
        assert [count[:4] for count in later[2]] == [count[:4] for count in seen[2]]
        await frontier.close()
    frontier = SqliteFrontier(path)
    assert (await frontier.counts()).pages == 1
    assert await frontier.reopen([Candidate(url=done.url, score=0.0)])
    assert (await frontier.counts()).pages == 0  # it was known for a page by its reason
    await frontier.close()

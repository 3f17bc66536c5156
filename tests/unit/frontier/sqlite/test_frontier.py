"""What only a file has to stand: several processes, kill -9, full disks, other versions."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from itertools import pairwise

import pytest

from testing.clock import Clock
from thresher.errors import DiskFull, StoreError, StoreUnreachable
from thresher.frontier.sqlite import database
from thresher.frontier.sqlite import database as database_module
from thresher.frontier.sqlite.frontier import SqliteFrontier
from thresher.frontier.sqlite.inspect import SqliteFrontierReader
from thresher.reasons.legacy import legacy_reason
from thresher.records import Candidate, Outcome, RequestKind, Settlement

WORKER = """
    import asyncio, json, sys, time
    from pathlib import Path
    from thresher.frontier.sqlite.frontier import SqliteFrontier
    from thresher.records import Candidate, Outcome, Settlement

    def tell(*values):
        print(json.dumps(values), flush=True)

    async def main():
        frontier = SqliteFrontier(Path(sys.argv[1]))
"""


def start_worker(path, work):
    """Run the body `work` in a process of its own, with `frontier` open on the file."""
    code = textwrap.dedent(WORKER) + textwrap.indent(textwrap.dedent(work), "    ") + "\nasyncio.run(main())\n"
    return subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)


def reported(process):
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return [json.loads(line) for line in output.splitlines()]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "frontier.db"


@pytest.fixture
async def open_frontier(path):
    opened = []

    def open_frontier(**settings):
        opened.append(SqliteFrontier(path, **settings))
        return opened[-1]

    yield open_frontier
    for frontier in opened:
        await frontier.close()


# Several processes


async def test_four_processes_never_hold_the_same_url_or_host(path, open_frontier):
    frontier = open_frontier()
    links = [Candidate(url=f"http://h{n % 100}.example/{n}", score=n % 7 / 7) for n in range(2_000)]
    await frontier.add(links)
    work = """
        while leases := await frontier.lease(3, seconds=600):
            start = time.monotonic()
            await asyncio.sleep(0.001)
            end = time.monotonic()
            settled = await frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE) for lease in leases])
            assert all(settled)
            for lease in leases:
                tell(lease.fence, lease.url, lease.host, start, end)
        await frontier.close()
    """
    log = [line for process in [start_worker(path, work) for _ in range(4)] for line in reported(process)]
    fences, urls, *_ = zip(*log, strict=True)
    assert len(set(fences)) == len(fences)
    assert sorted(urls) == sorted(link.url for link in links)
    for host in {line[2] for line in log}:
        held = sorted((start, end) for _, _, key, start, end in log if key == host)
        assert all(end < next_start for (_, end), (next_start, _) in pairwise(held))
    assert (await frontier.counts()).done == len(links)


async def test_processes_may_open_a_new_file_at_the_same_time(path, open_frontier):
    work = """
        tell(await frontier.add([Candidate(url="http://a.example/", score=0.5)]))
        await frontier.close()
    """
    new = [line for process in [start_worker(path, work) for _ in range(6)] for line in reported(process)]
    assert sorted(new) == [[0]] * 5 + [[1]]
    assert (await open_frontier().counts()).waiting == 1


async def test_a_reader_sees_whole_changes_while_a_writer_works(path, open_frontier):
    writer, reader = open_frontier(), open_frontier()
    await writer.add([Candidate(url=f"http://h{n}.example/0", score=0.5) for n in range(50)])
    seen = []

    async def read():
        while len(seen) < 1 or seen[-1].done < 50:
            seen.append(await reader.counts())

    async def write():
        for lease in await writer.lease(50, seconds=60):
            links = [Candidate(url=f"http://{lease.host}/{n}", score=0.1) for n in range(1, 4)]
            await writer.commit([Settlement(lease=lease, outcome=Outcome.DONE, links=links, page=True)])

    await asyncio.gather(read(), write())
    for counts in seen:
        assert counts.waiting + counts.leased + counts.done == 50 + 3 * counts.done
        assert counts.pages == counts.done


# Sudden death


async def test_kill_9_loses_nothing_that_add_or_commit_returned_for(path, open_frontier):
    work = """
        for n in range(100_000):
            await frontier.add([Candidate(url=f"http://h{n % 10}.example/{n}", score=0.5)])
            tell("waiting", f"http://h{n % 10}.example/{n}")
            [lease] = await frontier.lease(1, seconds=600)
            link = Candidate(url=lease.url + "/link", score=0.1)
            await frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE, links=[link])])
            tell("done", lease.url)
            tell("waiting", link.url)
    """
    for _ in range(3):
        process = start_worker(path, work)
        lines = [process.stdout.readline() for _ in range(300)]
        os.kill(process.pid, signal.SIGKILL)
        rest, _ = process.communicate()
        lines += [line for line in rest.splitlines() if line.endswith("]")]
        frontier = open_frontier()
        for state, url in map(json.loads, lines):
            entry = await frontier.find(url)
            assert entry is not None
            assert entry.state == state or state == "waiting"
        await frontier.close()
        with sqlite3.connect(path) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        db.close()


async def test_the_sums_are_right_after_kill_9(path, open_frontier):
    work = """
        for n in range(100_000):
            links = [Candidate(url=f"http://h{n * i % 97}.example/{n}/{i}", score=i / 30) for i in range(30)]
            await frontier.add(links)
            leases = await frontier.lease(5, seconds=600)
            await frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE, page=True) for lease in leases[1:]])
            tell(n)
    """
    process = start_worker(path, work)
    for _ in range(20):
        process.stdout.readline()
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    counts = await open_frontier().counts()
    db = sqlite3.connect(path)
    states = [db.execute("SELECT count(*) FROM url WHERE state = ?", (state,)).fetchone()[0] for state in range(4)]
    hosts = db.execute("SELECT count(*), sum(waiting), sum(leased), sum(pages) FROM host").fetchone()
    db.close()
    assert [counts.waiting, counts.leased, counts.done, counts.failed] == states
    assert hosts == (counts.hosts, counts.waiting, counts.leased, counts.pages)


# Files of earlier versions


VERSION_2 = """
    DROP TRIGGER lease_ended;
    DROP TABLE begun;
    PRAGMA user_version = 2;
"""


async def test_a_file_without_reported_requests_is_upgraded_with_its_leases_and_tries(path):
    frontier = SqliteFrontier(path)
    await frontier.add([Candidate(url=f"http://{name}.example/", score=0.5) for name in "ab"])
    held, lost = await frontier.lease(2, seconds=60)
    await frontier.commit([Settlement(lease=held, outcome=Outcome.RETRY, reason=legacy_reason("timeout"))])
    [held] = await frontier.lease(1, seconds=60)
    await frontier.close()
    with closing(sqlite3.connect(path)) as db:
        db.executescript(VERSION_2)
    reader = SqliteFrontierReader(path)
    assert ((await reader.find(held.url)).tries, (await reader.counts()).leased) == (1, 2)
    await reader.close()
    clock = Clock(now=lost.until + 1)
    frontier = SqliteFrontier(path, clock=clock)
    assert {lease.url: lease.tries for lease in await frontier.lease(2, seconds=60)} == {held.url: 1, lost.url: 0}
    await frontier.close()


VERSION_3 = """
    ALTER TABLE url DROP COLUMN kind;
    UPDATE url SET carry = '{"sitemap":1,"for":"b.example"}' WHERE url LIKE '%sitemap%';
    PRAGMA user_version = 3;
"""


async def test_the_urls_of_a_file_without_kinds_get_theirs_once(path):
    frontier = SqliteFrontier(path)
    urls = {f"http://a.example{path}": hops for path, hops in {"/": 0, "/x": 1, "/sitemap.xml": 0}.items()}
    await frontier.add([Candidate(url=url, score=0.5, hops=hops) for url, hops in urls.items()])
    await frontier.close()
    with closing(sqlite3.connect(path)) as db:
        db.executescript(VERSION_3)
    frontier = SqliteFrontier(path, leases_per_host=3)
    leases = {lease.url.rpartition("/")[2]: lease for lease in await frontier.lease(3, seconds=60)}
    await frontier.close()
    kinds = {"": RequestKind.SEED, "x": RequestKind.PAGE, "sitemap.xml": RequestKind.SITEMAP}
    assert {name: lease.kind for name, lease in leases.items()} == kinds
    sitemap = leases["sitemap.xml"]
    assert (sitemap.for_host, sitemap.strategy_data, sitemap.depth_left) == ("b.example", {}, 2)


# Files that cannot be used


def test_a_file_of_a_newer_version_is_refused_with_words(path):
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {database.VERSION + 1}")
    db.close()
    with pytest.raises(StoreError, match="newer Thresher"):
        SqliteFrontier(path)


def test_a_file_that_is_no_database_is_refused_with_words(path):
    path.write_text("a diary, not a frontier; " * 100)
    with pytest.raises(StoreError, match="is not a usable frontier"):
        SqliteFrontier(path)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StoreUnreachable, match="nowhere"):
        SqliteFrontier(tmp_path / "nowhere" / "frontier.db")


def test_an_unknown_way_to_write_is_refused(path):
    with pytest.raises(ValueError, match="synchronous"):
        SqliteFrontier(path, synchronous="SOMETIMES")


async def test_a_store_that_stays_locked_is_unreachable_and_may_come_back(path, open_frontier, monkeypatch):
    monkeypatch.setattr(database_module, "_BUSY_SECONDS", 0.05)
    frontier = open_frontier()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnreachable, match="locked"):
        await frontier.add([Candidate(url=f"http://a.example/{n}", score=0.5) for n in range(100)])
    other.execute("ROLLBACK")
    other.close()
    assert await frontier.add([Candidate(url="http://b.example/", score=0.5)]) == 1
    assert (await frontier.counts()).hosts == 1


async def test_a_full_disk_changes_nothing_and_work_goes_on_when_there_is_room(open_frontier):
    frontier = open_frontier()
    await frontier.add([Candidate(url="http://a.example/", score=0.5)])
    db = frontier._file._db
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.execute(f"PRAGMA max_page_count = {pages}")
    links = [Candidate(url=f"http://b.example/{n}", score=0.5) for n in range(2_000)]
    before = await frontier.counts()
    with pytest.raises(DiskFull):
        await frontier.add(links)
    assert await frontier.counts() == before
    db.execute("PRAGMA max_page_count = 1000000")
    assert await frontier.add(links) == 2_000


async def test_words_that_are_no_text_do_not_stop_a_commit(open_frontier):
    frontier = open_frontier()
    await frontier.add([Candidate(url="http://a.example/", score=0.5)])
    [lease] = await frontier.lease(1, seconds=60)
    settlement = Settlement(
        lease=lease, outcome=Outcome.FAILED, reason=legacy_reason("bad header \udcff"), park=legacy_reason("\ud800")
    )
    assert await frontier.commit([settlement]) == [True]
    assert str((await frontier.find(lease.url)).reason) == "bad header ?"
    await frontier.park("a.example", legacy_reason("\udcff"))
    await frontier.put_state("a.example", "robots", "\udcff", seconds=60)
    assert await frontier.get_state("a.example", "robots") == "?"


async def test_a_carry_that_is_no_json_is_refused_before_anything_changes(open_frontier):
    frontier = open_frontier()
    for strategy_data in ({"score": float("nan")}, {"parser": object()}):
        with pytest.raises((ValueError, TypeError), match="JSON"):
            await frontier.add([Candidate(url="http://a.example/", score=0.5, strategy_data=strategy_data)])
    assert (await frontier.counts()).waiting == 0


# Promise 7: flat


async def steps_of_a_cycle(frontier, pages):
    """Count what SQLite executes for `pages` cycles; the same on every machine."""
    steps = 0

    def count():
        nonlocal steps
        steps += 1

    frontier._file._db.set_progress_handler(count, 10)
    for page in range(pages):
        [lease] = await frontier.lease(1, seconds=60)
        links = [Candidate(url=f"http://h{n * 7}.example/new/{page}/{n}", score=n / 60) for n in range(60)]
        await frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE, links=links, page=True)])
    frontier._file._db.set_progress_handler(None, 0)
    return steps / pages


@pytest.mark.parametrize(("hosts", "per_host"), [(10_000, 3), (500, 60)])
async def test_a_cycle_takes_as_many_steps_with_20_times_as_many_urls(tmp_path, hosts, per_host):
    taken = []
    for name, host_count, urls in [("small", 500, 3), ("large", hosts, per_host)]:
        frontier = SqliteFrontier(tmp_path / name, synchronous="OFF")
        for number in range(urls):
            links = [Candidate(url=f"http://h{n}.example/{number}", score=n % 83 / 83) for n in range(host_count)]
            await frontier.add(links)
        taken.append(await steps_of_a_cycle(frontier, 20))
        await frontier.close()
    assert taken[1] < 1.1 * taken[0]


async def test_a_host_whose_urls_were_deleted_is_not_offered_for_ever(path, open_frontier):
    frontier = open_frontier(delay_seconds=0.0)
    await frontier.add([Candidate(url=f"http://a.example/{number}", score=0.9) for number in range(3)])
    await frontier.add([Candidate(url="http://b.example/", score=0.5)])
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM url WHERE url LIKE '%a.example%'")
    assert [lease.host for lease in await frontier.lease(5, seconds=30)] == ["b.example"]
    assert await frontier.lease(5, seconds=30) == []
    assert await frontier.seconds_to_next() > 20  # until the lease ends; not at once

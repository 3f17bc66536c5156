"""Damaged, missing and foreign objects of a cold storage, on a real server."""

import shutil

import pytest

from tests.contract.frontier_steps import link, settlement
from tests.contract.frontier_stores import server_url
from thresher.frontier.base import LOST_WITH_FILES
from thresher.frontier.tiered import cold, migrator, runs
from thresher.frontier.tiered import frontier as frontier_module
from thresher.frontier.tiered.frontier import TieredFrontier
from thresher.frontier.tiered.runs import ColdRun
from thresher.monitoring.failures import failure_report
from thresher.objects.base import FolderObjects

URLS = [f"http://h{n % 40}.example/{n}" for n in range(400)]
LINKS = [link(url, n * 7919 % 1000 / 1000) for n, url in enumerate(URLS)]


async def drained(frontier):
    urls = []
    while leases := await frontier.lease(10, seconds=60):
        urls += [lease.url for lease in leases]
        await frontier.commit([settlement(lease) for lease in leases])
    return urls


async def lost_of(frontier):
    groups = (await failure_report(frontier)).groups
    return sum(group.urls for group in groups if group.reason == str(LOST_WITH_FILES))


def files_in(folder):
    return sorted(folder.rglob("*.parquet"))


def truncate(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def zero(path):
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 64] = bytes(64)
    path.write_bytes(content)


def empty(path):
    path.write_bytes(b"")


def swap(path):
    """Put a healthy run of the same crawl in its place."""
    shutil.copy(next(each for each in files_in(path.parent) if each != path), path)


def delete(path):
    path.unlink()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cold"


@pytest.fixture
async def with_runs(open_tiers, folder, monkeypatch):
    """A frontier with several runs that it has not read yet."""
    monkeypatch.setattr(migrator, "first_to_merge", lambda runs: len(runs) - 1)  # never
    tiers = open_tiers(partitions=2)
    await tiers.add(LINKS[:200])
    await tiers.add(LINKS[200:])
    assert len(files_in(folder)) >= 4
    return open_tiers(partitions=2)


@pytest.mark.parametrize("damage", [truncate, zero, empty, swap, delete])
async def test_a_damaged_run_is_left_out_and_the_crawl_goes_on(with_runs, folder, caplog, damage):
    damaged = files_in(folder)[0]
    damage(damaged)
    fetched = await drained(with_runs)
    counts, lost = await with_runs.counts(), await lost_of(with_runs)
    assert len(fetched) == len(set(fetched)) == counts.done == len(URLS) - lost < len(URLS)
    assert (counts.waiting, counts.failed, await with_runs.seconds_to_next()) == (0, 0, None)
    [error] = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert f"has lost {lost} waiting URLs: {damaged.relative_to(folder)}: it" in error


async def test_of_several_damaged_runs_all_lost_urls_are_counted(with_runs, folder):
    for path in files_in(folder):
        truncate(path)
    fetched = await drained(with_runs)
    assert 0 < len(fetched) == len(URLS) - await lost_of(with_runs) < 50
    assert await with_runs.seconds_to_next() is None


async def test_links_to_lost_urls_are_new(with_runs, open_tiers, folder):
    truncate(files_in(folder)[0])
    fetched = await drained(with_runs)
    successor = open_tiers()
    assert await successor.add(LINKS) == len(URLS) - len(fetched)
    assert sorted(fetched + await drained(successor)) == sorted(URLS)


async def test_a_merge_of_damaged_runs_leaves_out_only_these(with_runs, folder, monkeypatch):
    damaged = files_in(folder)[-1]
    zero(damaged)
    monkeypatch.setattr(migrator, "first_to_merge", lambda runs: 0)
    await with_runs.add([link(f"http://h{n % 40}.example/more{n}", 0.001 * n) for n in range(200)])
    lost = await lost_of(with_runs)
    assert (await with_runs.counts()).waiting == 600 - lost < 600
    assert len(await drained(with_runs)) == 600 - lost


async def test_a_damaged_run_is_kept_when_old_objects_are_deleted(with_runs, folder, clock):
    damaged = files_in(folder)[0]
    truncate(damaged)
    await drained(with_runs)
    for hours in (0, 2, 4):
        clock.now += 3600 * hours
        with_runs._swept = -frontier_module.SWEEP_SECONDS
        with_runs._migrator._swept.clear()
        await with_runs.add([link(f"http://a.example/{hours}-{n}", n / 64) for n in range(30)])
    assert damaged.exists()


async def test_a_check_without_repair_changes_nothing(with_runs, open_tiers, folder):
    before = await with_runs.counts()
    zero(files_in(folder)[0])
    check = await with_runs.check_runs()
    assert (check.runs, len(check.damaged), check.damaged_left, check.lost) == (len(files_in(folder)), 1, 1, {})
    assert await with_runs.counts() == before
    repaired = await open_tiers().check_runs(repair=True)
    assert (repaired.damaged, repaired.damaged_left) == (check.damaged, 0)
    assert (await with_runs.counts()).waiting == before.waiting - check.damaged_urls
    assert await lost_of(with_runs) == sum(repaired.lost.values()) == check.damaged_urls > 0
    await with_runs.forget_loss(repaired)
    assert await lost_of(with_runs) == 0
    assert (await open_tiers().check_runs()).damaged == []


async def test_while_another_worker_moves_urls_damaged_runs_stay_listed(with_runs, open_tiers, folder):
    truncate(files_in(folder)[0])
    other = open_tiers()
    await other.counts()
    async with other._migrator.lock(0):
        assert (await with_runs.check_runs(repair=True)).damaged_left == 1


async def test_a_run_that_can_be_read_again_is_not_left_out(with_runs, folder, monkeypatch):
    unseal, failed = runs.unseal, []

    def unseal_once_wrong(content, name):
        if not failed:
            failed.append(name)
            raise runs.RunDamaged("a bit was flipped on the way")
        return unseal(content, name)

    monkeypatch.setattr(cold, "unseal", unseal_once_wrong)
    assert sorted(await drained(with_runs)) == sorted(URLS)
    assert await lost_of(with_runs) == 0


async def test_urls_of_a_file_that_is_back_are_queued_again(with_runs, open_tiers, folder):
    path = files_in(folder)[0]
    path.rename(folder / "away")
    fetched = await drained(with_runs)
    assert len(fetched) < len(URLS)
    (folder / "away").rename(path)
    check = await (successor := open_tiers()).check_runs(repair=True)
    assert (check.restored, check.lost) == (len(URLS) - len(fetched), {})
    assert await lost_of(successor) == 0
    assert sorted(fetched + await drained(successor)) == sorted(URLS)


async def test_two_crawls_of_one_name_in_two_stores_may_share_a_cold_storage(folder, clock, monkeypatch):
    url = server_url("redis").rpartition("/")[0]
    settings = {"hot_urls": 1, "least_hot": 3, "background": False, "clock": clock}
    one, other = (
        TieredFrontier(f"{url}/{n}", "twin", objects=FolderObjects(folder, durable=False), **settings) for n in (1, 2)
    )
    await one.add(LINKS)
    for start in range(0, 400, 50):  # the number of its migrator passes that of the first
        await other.add(LINKS[start : start + 50])
    for hours in (0, 2, 4):
        clock.now += 3600 * hours
        other._swept = -frontier_module.SWEEP_SECONDS
        other._migrator._swept.clear()
        await other.add([link(f"http://a.example/{hours}-{n}", n / 64) for n in range(30)])
    assert sorted(await drained(one)) == sorted(URLS)
    assert (await one.check_runs()).damaged == []
    await one.close()
    await other.close()


@pytest.fixture
def earlier(monkeypatch):
    """Runs are written as version 0.2.0 does; call it to write them as they are now."""
    with monkeypatch.context() as patch:
        patch.setattr(runs, "_SEALED", 0)
        patch.setattr(cold, "seal", lambda content, name: content)
        yield patch.undo


async def test_runs_of_an_earlier_version_are_read_merged_and_deleted(open_tiers, folder, clock, earlier):
    tiers = open_tiers(partitions=2)
    await tiers.add(LINKS[:200])
    earlier()
    old, name = files_in(folder), tiers._crawl
    foreign = folder / name / "0" / "0000000100000fff.parquet"
    foreign.write_bytes(b"of another store")
    assert {path.parent.parent.name for path in old} == {name}
    successor = open_tiers(partitions=2)
    await successor.add(LINKS[200:])
    assert {path.parent.parent.name for path in set(files_in(folder)) - set(old)} > {name}
    for hours in (0, 2):
        clock.now += 3600 * hours
        successor._swept = -frontier_module.SWEEP_SECONDS
        await successor.add([link(f"http://h1.example/{hours}-{n}", n / 64) for n in range(30)])
    assert not any(path.exists() for path in old)
    assert foreign.exists()
    assert set(URLS) <= set(await drained(successor))


@pytest.mark.parametrize("damage", [truncate, empty, delete])
async def test_a_damaged_run_of_an_earlier_version_is_left_out(open_tiers, folder, earlier, damage):
    await open_tiers(partitions=2).add(LINKS)
    earlier()
    damage(files_in(folder)[0])
    successor = open_tiers(partitions=2)
    fetched = await drained(successor)
    assert len(fetched) == len(URLS) - await lost_of(successor) < len(URLS)
    assert await successor.seconds_to_next() is None


async def test_a_parquet_file_of_something_else_is_no_run(open_tiers, folder, earlier):
    import pyarrow as pa
    import pyarrow.parquet as pq

    await open_tiers(partitions=2).add(LINKS)
    earlier()
    pq.write_table(pa.table({"host": ["a"]}), files_in(folder)[0])
    assert await lost_of(successor := open_tiers(partitions=2)) == 0
    assert len(await drained(successor)) == len(URLS) - await lost_of(successor) < len(URLS)


async def test_an_orphan_of_an_earlier_version_may_be_of_another_store_and_is_kept(open_tiers, objects, clock):
    tiers = open_tiers()
    await tiers.add(LINKS)
    orphan = tiers._cold.object_name(0, ColdRun(b"\0\0\0\1\0\0\xff\xff", 0))
    objects.put_new(orphan, b"written, never listed")
    for hours in (0, 2, 4):
        clock.now += 3600 * hours
        tiers._swept = -frontier_module.SWEEP_SECONDS
        tiers._migrator._swept.clear()
        await tiers.add([link(f"http://b.example/{hours}-{n}", n / 64) for n in range(10)])
    assert orphan in objects.sizes("")

"""Worker processes are started with their order, counted out when they end, and never left behind."""

import asyncio
import signal

import pytest

from thresher.build import Crawl
from thresher.engine.staff import EARLY_DEATHS, Staff, WorkerFailed


@pytest.fixture
async def staff(tmp_path):
    (tmp_path / "topic.yaml").write_text("title: {en: solar cells}\nseeds: [http://127.0.0.1:9/]\n")
    staff = Staff(Crawl.open(tmp_path), metrics=("127.0.0.1", 19_000))
    yield staff
    await staff.end_all()


async def dead(staff):
    for _ in range(1000):
        if found := list(staff.take_dead()):
            return found
        await asyncio.sleep(0.01)
    return []


async def test_a_worker_that_is_killed_again_and_again_is_not_started_again(staff):
    await staff.start("w1", pages=5)
    for _ in range(EARLY_DEATHS - 1):
        staff.tell(signal.SIGKILL)
        [(worker, code, url)] = await dead(staff)
        assert (worker.name, code, url, len(staff)) == ("w1", -signal.SIGKILL, "", 0)
        await staff.start_again(worker)
    staff.tell(signal.SIGKILL)
    [(worker, _, _)] = await dead(staff)
    with pytest.raises(WorkerFailed, match="killed by signal 9 again and again"):
        await staff.start_again(worker)


async def test_nobody_is_left_behind(staff):
    await staff.start("w1", pages=None)
    await staff.start("w2", pages=None)
    await staff.end_all()
    assert [code for _, code, _ in staff.take_dead()] == [-signal.SIGKILL] * 2


def test_every_worker_has_a_port_of_its_own_and_keeps_it(staff):
    assert [staff._place_of(name) for name in ("w1", "w2", "w1")] == [
        ("127.0.0.1", 19_000),
        ("127.0.0.1", 19_001),
        ("127.0.0.1", 19_000),
    ]

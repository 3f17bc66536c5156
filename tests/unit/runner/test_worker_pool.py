"""Worker processes are started with their order, counted out when they end, and never left behind."""

import asyncio
import signal

import pytest

from thresher.crawl import CrawlSetup
from thresher.runner.worker_pool import EARLY_DEATHS, WorkerFailed, WorkerPool


@pytest.fixture
async def worker_pool(tmp_path):
    (tmp_path / "topic.yaml").write_text("title: {en: solar cells}\nseeds: [http://127.0.0.1:9/]\n")
    worker_pool = WorkerPool(CrawlSetup.open(tmp_path), metrics=("127.0.0.1", 19_000))
    yield worker_pool
    await worker_pool.end_all()


async def dead(worker_pool):
    for _ in range(1000):
        if found := list(worker_pool.reap()):
            return found
        await asyncio.sleep(0.01)
    return []


async def test_a_worker_that_is_killed_again_and_again_is_not_started_again(worker_pool):
    await worker_pool.start("w1", pages=5)
    for _ in range(EARLY_DEATHS - 1):
        worker_pool.send_signal(signal.SIGKILL)
        [(worker, code, url)] = await dead(worker_pool)
        assert (worker.name, code, url, len(worker_pool)) == ("w1", -signal.SIGKILL, "", 0)
        await worker_pool.start_again(worker)
    worker_pool.send_signal(signal.SIGKILL)
    [(worker, _, _)] = await dead(worker_pool)
    with pytest.raises(WorkerFailed, match="killed by signal 9 again and again"):
        await worker_pool.start_again(worker)


async def test_nobody_is_left_behind(worker_pool):
    await worker_pool.start("w1", pages=None)
    await worker_pool.start("w2", pages=None)
    workers = list(worker_pool._workers.values())
    await worker_pool.end_all()
    assert [worker.process.returncode for worker in workers] == [-signal.SIGKILL] * 2
    assert all(worker.current_url.closed for worker in workers)
    assert len(worker_pool) == 0


def test_every_worker_has_a_port_of_its_own_and_keeps_it(worker_pool):
    assert [worker_pool._metrics_address(name) for name in ("w1", "w2", "w1")] == [
        ("127.0.0.1", 19_000),
        ("127.0.0.1", 19_001),
        ("127.0.0.1", 19_000),
    ]

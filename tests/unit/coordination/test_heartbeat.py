"""A worker says that it lives, and takes itself off the list when it leaves."""

import asyncio
import os

import pytest

from testing.servers.fixtures import redis_server_of_session, redis_url  # noqa: F401
from thresher.coordination.connection import connect_store
from thresher.coordination.heartbeat import HeartbeatTask
from thresher.coordination.worker_registry import WorkerRegistry


@pytest.fixture
async def worker_registry(redis_url):  # noqa: F811 - the fixture that is imported
    connection = connect_store(redis_url)
    yield WorkerRegistry(connection, "solar")
    await connection.close()


async def listed(worker_registry):
    for _ in range(200):
        if workers := await worker_registry.workers():
            return workers
        await asyncio.sleep(0.01)
    return []


@pytest.mark.parametrize(("released", "left"), [(True, []), (False, ["blue-w1"])])
async def test_a_worker_is_on_the_list_while_it_works(worker_registry, redis_url, released, left):  # noqa: F811
    heartbeat_task = HeartbeatTask(connect_store(redis_url, patience_seconds=0.0), "solar", "blue-w1", mark="abc123")
    heartbeat_task.start(lambda: (7, "waiting"))
    [worker] = await listed(worker_registry)
    heartbeat = worker.heartbeat
    assert (worker.name, heartbeat.mark, heartbeat.pid, heartbeat.pages, heartbeat.state) == (
        "blue-w1",
        "abc123",
        os.getpid(),
        7,
        "waiting",
    )
    heartbeat_task.stop()
    await heartbeat_task.deregister(released=released)
    assert [one.name for one in await worker_registry.workers()] == left


async def test_a_store_that_is_away_is_no_trouble():
    heartbeat_task = HeartbeatTask(
        connect_store("redis://127.0.0.1:1/0", patience_seconds=0.0), "solar", "w1", mark="abc123"
    )
    heartbeat_task.start(lambda: (0, "waiting"))
    await asyncio.sleep(0.1)
    heartbeat_task.stop()
    await heartbeat_task.deregister(released=True)

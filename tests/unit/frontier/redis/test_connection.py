import asyncio
import gc

import pytest

from testing.servers import store_server
from thresher.errors import ConfigError, StoreError, StoreUnreachable
from thresher.frontier.redis.connection import RedisConnection
from thresher.frontier.redis.frontier import RedisFrontier
from thresher.records import Candidate


@pytest.fixture
def server(tmp_path):
    with store_server("redis", tmp_path) as server:
        yield server


@pytest.mark.parametrize("url", ["http://a.example", "sqlite", "redis://", "redis:///0", "file:///etc/passwd"])
def test_what_is_no_store_is_refused(url):
    with pytest.raises(ConfigError):
        RedisConnection(url)


def test_a_password_is_not_shown():
    assert RedisConnection("redis://user:secret@127.0.0.1:1/3").name == "redis://127.0.0.1:1/3"


async def test_a_call_waits_for_a_store_that_is_down(server):
    connection = RedisConnection(server.url)
    await connection.call("SET", "a", 1)
    server.kill()
    waiting = asyncio.create_task(connection.call("GET", "a"))
    await asyncio.sleep(0.5)
    assert not waiting.done()
    assert not connection.is_up
    server.restart()
    assert await asyncio.wait_for(waiting, 10) == b"1"
    assert connection.is_up
    await connection.close()


async def test_many_calls_at_once_survive_a_restart(server):
    frontier = RedisFrontier(server.url, "c")

    async def add(n):
        await frontier.add([Candidate(url=f"https://h{n}.example/", score=0.5)])

    tasks = [asyncio.create_task(add(n)) for n in range(200)]
    await asyncio.sleep(0.01)
    server.kill()
    await asyncio.sleep(0.3)
    server.restart()
    await asyncio.wait_for(asyncio.gather(*tasks), 20)
    await frontier.close()


async def test_patience_ends(server):
    connection = RedisConnection(server.url, patience_seconds=0.3)
    server.kill()
    with pytest.raises(StoreUnreachable):
        await asyncio.wait_for(connection.call("PING"), 10)
    await connection.close()


async def test_what_the_store_refuses_is_reported_at_once(server):
    connection = RedisConnection(server.url)
    with pytest.raises(StoreError, match="refused"):
        await connection.call("HGET")
    secured = RedisConnection(server.url.replace("redis://", "redis://user:wrong@"))
    with pytest.raises(StoreError, match="rejects the credentials"):
        await asyncio.wait_for(secured.call("GET", "a"), 5)
    await connection.close()
    await secured.close()


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_link_serves_one_event_loop_after_another(server):
    connection = RedisConnection(server.url)
    assert asyncio.run(connection.call("SET", "a", 1))
    assert asyncio.run(connection.call("GET", "a")) == b"1"
    del connection
    gc.collect()  # connections of a loop that has ended are closed by nobody else


async def test_what_a_crashed_store_lost_can_be_added_again(server):
    frontier = RedisFrontier(server.url, "c")
    found = [Candidate(url="https://a.example/", score=0.5)]
    assert await frontier.add(found) == 1
    server.kill()
    for part in server.folder.glob("appendonlydir/*"):
        part.unlink()
    server.restart()
    assert (await frontier.counts()).waiting == 0
    assert await frontier.add(found) == 1
    await frontier.close()

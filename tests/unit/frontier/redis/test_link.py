import asyncio
import gc

import pytest

from tests.servers import store_server
from thresher.errors import ConfigError, StoreError, StoreUnreachable
from thresher.frontier.redis.frontier import RedisFrontier
from thresher.frontier.redis.link import StoreLink
from thresher.records import Candidate


@pytest.fixture
def server(tmp_path):
    with store_server("redis", tmp_path) as server:
        yield server


@pytest.mark.parametrize("url", ["http://a.example", "sqlite", "redis://", "redis:///0", "file:///etc/passwd"])
def test_what_is_no_store_is_refused(url):
    with pytest.raises(ConfigError):
        StoreLink(url)


def test_a_password_is_not_shown():
    assert StoreLink("redis://user:secret@127.0.0.1:1/3").name == "redis://127.0.0.1:1/3"


async def test_a_call_waits_for_a_store_that_is_down(server):
    link = StoreLink(server.url)
    await link.call("SET", "a", 1)
    server.kill()
    waiting = asyncio.create_task(link.call("GET", "a"))
    await asyncio.sleep(0.5)
    assert not waiting.done()
    assert not link.is_up
    server.restart()
    assert await asyncio.wait_for(waiting, 10) == b"1"
    assert link.is_up
    await link.close()


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
    link = StoreLink(server.url, patience_seconds=0.3)
    server.kill()
    with pytest.raises(StoreUnreachable):
        await asyncio.wait_for(link.call("PING"), 10)
    await link.close()


async def test_what_will_not_pass_is_said_at_once(server):
    link = StoreLink(server.url)
    with pytest.raises(StoreError, match="refused"):
        await link.call("HGET")
    secured = StoreLink(server.url.replace("redis://", "redis://user:wrong@"))
    with pytest.raises(StoreError, match="does not let us in"):
        await asyncio.wait_for(secured.call("GET", "a"), 5)
    await link.close()
    await secured.close()


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_link_serves_one_event_loop_after_another(server):
    link = StoreLink(server.url)
    assert asyncio.run(link.call("SET", "a", 1))
    assert asyncio.run(link.call("GET", "a")) == b"1"
    del link
    gc.collect()  # connections of a loop that has ended are closed by nobody else


async def test_what_a_crashed_store_forgot_is_told_again(server):
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

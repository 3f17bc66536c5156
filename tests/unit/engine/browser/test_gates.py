"""One request per host at a time, over all pages of a worker."""

import asyncio

from thresher.engine.browser.proxy import HostLocks


async def test_requests_to_one_host_follow_each_other():
    host_locks, open_, most = HostLocks(), 0, 0

    async def ask():
        nonlocal open_, most
        async with host_locks.at("a.example"):
            open_ += 1
            most = max(most, open_)
            await asyncio.sleep(0)
            open_ -= 1

    await asyncio.gather(*(ask() for _ in range(5)))
    assert most == 1
    assert len(host_locks) == 0


async def test_hosts_do_not_wait_for_each_other():
    host_locks = HostLocks()
    async with host_locks.at("a.example"), host_locks.at("b.example"):
        assert len(host_locks) == 2


async def test_a_task_that_gives_up_waiting_leaves_the_gate_to_others():
    host_locks = HostLocks()
    async with host_locks.at("a.example"):
        waiting = asyncio.ensure_future(_pass_through(host_locks))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    await asyncio.wait_for(_pass_through(host_locks), 1)
    assert len(host_locks) == 0


async def _pass_through(host_locks):
    async with host_locks.at("a.example"):
        pass

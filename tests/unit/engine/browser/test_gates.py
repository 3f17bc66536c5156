"""One request per host at a time, over all pages of a worker."""

import asyncio

from thresher.engine.browser.gates import Gates


async def test_requests_to_one_host_follow_each_other():
    gates, open_, most = Gates(), 0, 0

    async def ask():
        nonlocal open_, most
        async with gates.at("a.example"):
            open_ += 1
            most = max(most, open_)
            await asyncio.sleep(0)
            open_ -= 1

    await asyncio.gather(*(ask() for _ in range(5)))
    assert most == 1
    assert len(gates) == 0


async def test_hosts_do_not_wait_for_each_other():
    gates = Gates()
    async with gates.at("a.example"), gates.at("b.example"):
        assert len(gates) == 2


async def test_whoever_gives_up_waiting_leaves_the_gate_to_others():
    gates = Gates()
    async with gates.at("a.example"):
        waiting = asyncio.ensure_future(_pass_through(gates))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    await asyncio.wait_for(_pass_through(gates), 1)
    assert len(gates) == 0


async def _pass_through(gates):
    async with gates.at("a.example"):
        pass

"""A slow store does not hold up the code that polls it."""

import asyncio

import pytest

from thresher.runner.supervisor import Poller


async def test_an_answer_that_comes_in_time_is_returned():
    answers = iter([1, 2])

    async def ask():
        return next(answers)

    poller = Poller(ask, seconds=1.0)
    assert [await poller.poll(), await poller.poll()] == [1, 2]


async def test_a_late_answer_is_taken_the_next_time_and_asked_for_once():
    asked, answer = [], asyncio.Event()

    async def ask():
        asked.append(1)
        await answer.wait()
        return len(asked)

    poller = Poller(ask, seconds=0.01)
    assert [await poller.poll(), await poller.poll()] == [None, None]
    answer.set()
    assert await poller.poll() == 1
    assert await poller.poll() == 2


async def test_an_error_is_passed_on():
    async def ask():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await Poller(ask, seconds=1.0).poll()


async def test_nothing_is_left_behind():
    ended = []

    async def ask():
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(1)

    poller = Poller(ask, seconds=0.01)
    await poller.poll()
    await poller.close()
    assert ended

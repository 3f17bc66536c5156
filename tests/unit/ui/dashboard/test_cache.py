"""Answers are shared for a moment, and asked for anew after it."""

import asyncio

import pytest

from thresher_ui.dashboard.open_crawl import MAX_ENTRIES, SharedCache


@pytest.fixture
def fresh(clock):
    return SharedCache(clock=clock)


class Asked:
    def __init__(self, answers):
        self.answers = iter(answers)
        self.times = 0

    async def __call__(self):
        self.times += 1
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def test_a_young_answer_is_given_again(fresh):
    ask = Asked([1, 2])
    assert [await fresh.get("a", ask, seconds=1) for _ in range(3)] == [1, 1, 1]


async def test_an_old_one_is_asked_for_anew(fresh, clock):
    ask = Asked([1, 2])
    await fresh.get("a", ask, seconds=1)
    clock.now += 1.5
    assert await fresh.get("a", ask, seconds=1) == 2


async def test_all_who_ask_at_once_share_one_question(fresh):
    ask = Asked([1, 2])
    assert await asyncio.gather(*(fresh.get("a", ask, seconds=0) for _ in range(5))) == [1] * 5
    assert ask.times == 1


async def test_one_who_leaves_takes_nothing_from_the_others(fresh):
    gate = asyncio.Event()

    async def ask():
        await gate.wait()
        return 1

    leaving = asyncio.ensure_future(fresh.get("a", ask, seconds=1))
    staying = asyncio.ensure_future(fresh.get("a", ask, seconds=1))
    await asyncio.sleep(0)
    leaving.cancel()
    gate.set()
    assert await staying == 1


async def test_an_error_is_raised_and_not_kept(fresh):
    ask = Asked([OSError("away"), 2])
    with pytest.raises(OSError, match="away"):
        await fresh.get("a", ask, seconds=1)
    assert await fresh.get("a", ask, seconds=1) == 2


async def test_what_was_changed_is_asked_for_anew(fresh):
    ask = Asked([1, 2])
    await fresh.get("a", ask, seconds=9)
    fresh.clear()
    assert await fresh.get("a", ask, seconds=9) == 2


async def test_no_more_answers_are_kept_than_it_may_hold(fresh):
    first = Asked([0, 1])
    await fresh.get("first", first, seconds=9)
    for number in range(MAX_ENTRIES):
        await fresh.get(number, Asked([number]), seconds=9)
    assert await fresh.get("first", first, seconds=9) == 1

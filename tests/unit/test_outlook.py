import pytest

from thresher.frontier.base import EVERYBODY
from thresher.frontier.memory import MemoryFrontier
from thresher.outlook import KIND, TELL_PAGES, Outlook, look_ahead
from thresher.records import Candidate, Forecast, Outcome, Settlement
from thresher.strategies.best_first import BestFirst


class Foreseeing(BestFirst):
    def __init__(self):
        super().__init__()
        self.ahead, self.asked = None, 0

    def forecast(self):
        self.asked += 1
        return self.ahead


async def test_what_a_strategy_expects_is_told_to_whoever_watches():
    strategy, frontier = Foreseeing(), MemoryFrontier()
    outlook = Outlook(strategy, frontier)
    await outlook.page_done()
    assert await look_ahead(frontier) is None
    strategy.ahead = Forecast(found=3.0, left=1.0, next_yield=0.5)
    await outlook.page_done()
    assert await look_ahead(frontier) == strategy.ahead
    assert strategy.ahead.share_found == 0.75


async def test_what_others_and_earlier_runs_have_found_counts():
    strategy, frontier = Foreseeing(), MemoryFrontier()
    await frontier.add([Candidate(url=f"http://a{number}.example/", score=1.0) for number in range(3)])
    leases = await frontier.lease(3, seconds=60.0)
    await frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE, page=True, relevant=True) for lease in leases])
    strategy.ahead = Forecast(found=1.0, left=1.0, next_yield=0.5)
    await Outlook(strategy, frontier).page_done()
    assert (await look_ahead(frontier)).share_found == 0.75


async def test_it_is_told_every_now_and_then():
    strategy, frontier = Foreseeing(), MemoryFrontier()
    strategy.ahead = Forecast(found=3.0, left=1.0, next_yield=0.5)
    outlook = Outlook(strategy, frontier)
    for _ in range(2 * TELL_PAGES + 1):
        await outlook.page_done()
    assert strategy.asked == 3


async def test_a_strategy_that_cannot_tell_is_not_asked():
    frontier = MemoryFrontier()
    await Outlook(BestFirst(), frontier).page_done()
    assert await look_ahead(frontier) is None


@pytest.mark.parametrize("note", ["{", "[]", "3", '{"found": 1}', '{"found": "x", "left": 1, "next_yield": 1}'])
async def test_a_note_that_cannot_be_read_is_no_forecast(note):
    frontier = MemoryFrontier()
    await frontier.remember(EVERYBODY, KIND, note, seconds=60.0)
    assert await look_ahead(frontier) is None

"""Events: one poller for all who listen, news only, and an end to it."""

import asyncio
import json

import pytest

from thresher.errors import StoreUnreachable
from thresher_ui.dashboard.api import events
from thresher_ui.dashboard.api.events import Announcer
from thresher_ui.dashboard.errors import Refused


class Service:
    def __init__(self):
        self.pages = 0
        self.looks = 0
        self.is_away = False

    async def status(self, name):
        self.looks += 1
        if self.is_away:
            raise StoreUnreachable("away")
        minutes = {"limit": None, "used": float(self.looks)}
        return {"name": name, "counts": {"pages": self.pages}, "budgets": {"minutes": minutes}}


@pytest.fixture
def service():
    return Service()


@pytest.fixture
async def announcer(service):
    announcer = Announcer(service, poll_seconds=0.005, heartbeat_seconds=0.1)
    yield announcer
    await announcer.close()


def pages_of(item):
    kind, data = item.decode().strip().split("\n")
    assert kind == "event: status"
    return json.loads(data.removeprefix("data: "))["counts"]["pages"]


async def test_news_come_and_no_news_do_not(announcer, service):
    mailbox = announcer.subscribe("a")
    assert pages_of(await mailbox.get()) == 0
    service.pages = 1
    assert pages_of(await mailbox.get()) == 1
    looks = service.looks
    while service.looks < looks + 5:
        await asyncio.sleep(0.005)
    assert mailbox.empty()


async def test_all_listeners_share_one_poller_and_a_late_one_receives_the_last(announcer, service):
    first = announcer.subscribe("a")
    assert pages_of(await first.get()) == 0
    second = announcer.subscribe("a")
    assert pages_of(second.get_nowait()) == 0
    assert len(announcer._pollers) == 1


async def test_one_who_is_slow_receives_only_the_newest(announcer, service):
    slow = announcer.subscribe("a")
    quick = announcer.subscribe("a")
    for number in range(1, 4):
        service.pages = number
        while pages_of(await quick.get()) != number:
            pass
    assert pages_of(slow.get_nowait()) == 3
    assert slow.empty()


async def test_with_the_last_listener_the_poller_goes(announcer, service):
    mailbox = announcer.subscribe("a")
    await mailbox.get()
    announcer.leave("a", mailbox)
    await asyncio.sleep(0.02)
    looks = service.looks
    await asyncio.sleep(0.05)
    assert service.looks == looks
    assert pages_of(await announcer.subscribe("a").get()) == 0


async def test_a_store_that_is_away_ends_nothing(announcer, service, caplog):
    service.is_away = True
    mailbox = announcer.subscribe("a")
    while service.looks < 3:
        await asyncio.sleep(0.005)
    service.is_away = False
    assert pages_of(await mailbox.get()) == 0
    assert "cannot be read now" in caplog.text


async def test_when_nothing_happens_a_comment_comes(announcer):
    mailbox = announcer.subscribe("a")
    stream = announcer.stream("a", mailbox)
    printed = [await anext(stream) for _ in range(3)]
    assert [item.split(b":")[0] for item in printed] == [b"retry", b"event", b""]
    await stream.aclose()
    assert announcer._pollers == {}


async def test_no_more_may_listen_than_there_is_room_for(announcer, monkeypatch):
    monkeypatch.setattr(events, "MAX_LISTENERS", 2)
    announcer.subscribe("a")
    mailbox = announcer.subscribe("b")
    with pytest.raises(Refused):
        announcer.subscribe("a")
    announcer.leave("b", mailbox)
    announcer.subscribe("a")

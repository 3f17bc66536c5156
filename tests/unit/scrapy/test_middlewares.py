"""A page is done when its items are through the pipelines, whatever became of them."""

import asyncio

import pytest
from scrapy import signals
from scrapy.http import Response
from scrapy.signalmanager import SignalManager

from thresher_scrapy.middlewares import ItemWatch


@pytest.fixture
def sent():
    return SignalManager()


@pytest.fixture
def response():
    return Response("http://a.example/")


async def is_done(waiting):
    await asyncio.sleep(0)
    return waiting.done()


async def test_a_page_waits_for_the_end_of_each_of_its_items(sent, response):
    watch = ItemWatch(sent)
    for _ in range(3):
        watch.begins(response)
    waiting = asyncio.ensure_future(watch.all_ended(response))
    for signal in (signals.item_scraped, signals.item_dropped):
        sent.send_catch_log(signal, item={}, response=response)
    assert not await is_done(waiting)
    sent.send_catch_log(signals.item_scraped, item={}, response=Response("http://b.example/"))
    assert not await is_done(waiting)
    sent.send_catch_log(signals.item_error, item={}, response=response, failure=None)
    assert await is_done(waiting)


async def test_a_page_without_items_is_done_at_once(sent, response):
    await ItemWatch(sent).all_ended(response)

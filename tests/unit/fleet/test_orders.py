"""An order to stop and the beginning of a run reach all machines."""

import pytest

from thresher.fleet.keys import key_of
from thresher.fleet.orders import OrderBook, Orders


async def test_the_beginning_of_a_run_is_everybodys(link):
    await OrderBook(link, "solar").begin()
    orders = await OrderBook(link, "solar").read()
    assert 0 <= orders.seconds < 5
    assert orders.stop == ""


async def test_the_first_reason_to_stop_stays_until_the_next_run_begins(link):
    book = OrderBook(link, "solar")
    await book.begin()
    await book.stop("RELEVANT")
    await book.stop("STOPPED")
    assert (await book.read()).stop == "RELEVANT"
    await book.begin()
    assert (await book.read()).stop == ""


@pytest.mark.parametrize("entry", [b"", b"[]", b"\x80", b'{"since": "x"}', b'{"since": true}', b"{}"])
async def test_a_beginning_that_cannot_be_read_is_now(link, entry):
    await link.call("SET", key_of("solar", "run"), entry)
    assert (await OrderBook(link, "solar").read()).seconds == 0


async def test_a_crawl_without_orders_has_none(link):
    assert await OrderBook(link, "solar").read() == Orders(0.0, "")

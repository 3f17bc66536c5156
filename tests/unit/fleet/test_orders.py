"""An order to stop and the limits of a run reach all machines."""

import pytest

from thresher.fleet.keys import key_of
from thresher.fleet.orders import OrderBook, Orders


async def test_limits_and_the_beginning_of_a_run_are_everybodys(link):
    await OrderBook(link, "solar").begin({"pages": 100, "minutes": None})
    orders = await OrderBook(link, "solar").read()
    assert orders.limits == {"pages": 100, "minutes": None}
    assert 0 <= orders.seconds < 5
    assert orders.stop == ""


async def test_the_first_reason_to_stop_stays_until_the_next_run_begins(link):
    book = OrderBook(link, "solar")
    await book.begin({})
    await book.stop("RELEVANT")
    await book.stop("STOPPED")
    assert (await book.read()).stop == "RELEVANT"
    await book.begin({})
    assert (await book.read()).stop == ""


@pytest.mark.parametrize(
    "entry", [b"", b"[]", b"\x80", b'{"limits": 7, "since": "x"}', b'{"limits": {"pages": "many"}}']
)
async def test_orders_that_cannot_be_read_limit_nothing(link, entry):
    await link.call("SET", key_of("solar", "run"), entry)
    orders = await OrderBook(link, "solar").read()
    assert orders.seconds == 0
    assert not any(orders.limits.values())


async def test_a_crawl_without_orders_has_none(link):
    assert await OrderBook(link, "solar").read() == Orders({}, 0.0, "")

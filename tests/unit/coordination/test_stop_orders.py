"""An order to stop and the beginning of a run reach all machines."""

import pytest

from thresher.coordination.keys import key_of
from thresher.coordination.stop_orders import OrderSnapshot, StopOrders


async def test_the_beginning_of_a_run_is_everybodys(connection):
    await StopOrders(connection, "solar").begin()
    orders = await StopOrders(connection, "solar").read()
    assert 0 <= orders.seconds < 5
    assert orders.stop == ""


async def test_the_first_reason_to_stop_stays_until_the_next_run_begins(connection):
    stop_orders = StopOrders(connection, "solar")
    await stop_orders.begin()
    await stop_orders.stop("RELEVANT")
    await stop_orders.stop("STOPPED")
    assert (await stop_orders.read()).stop == "RELEVANT"
    await stop_orders.begin()
    assert (await stop_orders.read()).stop == ""


@pytest.mark.parametrize("entry", [b"", b"[]", b"\x80", b'{"since": "x"}', b'{"since": true}', b"{}"])
async def test_a_beginning_that_cannot_be_read_is_now(connection, entry):
    await connection.call("SET", key_of("solar", "run"), entry)
    assert (await StopOrders(connection, "solar").read()).seconds == 0


async def test_a_crawl_without_orders_has_none(connection):
    assert await StopOrders(connection, "solar").read() == OrderSnapshot(0.0, "")

"""Downloads are tested on the loop of workers, and on asyncio's own."""

import asyncio

import uvloop


def pytest_asyncio_loop_factories(config, item):
    return {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}

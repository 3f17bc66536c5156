"""How many pages per second the recording server can give: a client that does nothing but ask."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from time import perf_counter

from testing.recording_server.process import Recorder


async def _ask(numbers: Iterator[int], recorder: Recorder) -> None:
    """Fetch pages one after the other, each over a connection of its own, until no numbers are left."""
    assert recorder.site is not None
    for page in numbers:
        address, _, path = recorder.site.key(page).partition("/")
        reader, writer = await asyncio.open_connection(address, recorder.port, limit=1 << 20)
        writer.write(f"GET /{path} HTTP/1.1\r\nHost: {address}\r\n\r\n".encode("ascii"))
        await _read_response(reader)
        writer.close()
        await writer.wait_closed()


async def _read_response(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
    await reader.readexactly(length)


async def _measure(recorder: Recorder, count: int, connections: int) -> float:
    numbers = iter(range(count))
    started = perf_counter()
    await asyncio.gather(*(_ask(numbers, recorder) for _ in range(connections)))
    return count / (perf_counter() - started)


def max_pages_per_second(recorder: Recorder, *, count: int = 2000, connections: int = 16) -> float:
    """Return the rate at which a trivial client gets the first `count` pages."""
    assert recorder.site is not None
    return asyncio.run(_measure(recorder, min(count, recorder.site.pages), connections))

"""A server on loopback that sends what a test wants, byte for byte."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class RawServer:
    """A running server, and what it received."""

    port: int = 0
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://site.test:{self.port}/"


@asynccontextmanager
async def raw_server(
    *pieces: bytes,
    keep: bool = True,
    wait_seconds: float = 0.0,
    address: str = "127.0.0.1",
    certificate: ssl.SSLContext | None = None,
) -> AsyncIterator[RawServer]:
    """Answer each request with the same pieces.

    Args:
        keep: Whether the connection stays open after an answer.
        wait_seconds: Time before each piece but the first.
    """
    server = RawServer()
    conversations: set[asyncio.Task[None]] = set()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            server.requests.append(await reader.readuntil(b"\r\n\r\n"))
            await _send(writer, pieces, wait_seconds)
            if not keep:
                return

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        conversation = asyncio.create_task(converse(reader, writer))
        conversations.add(conversation)
        await asyncio.wait([conversation])
        conversations.discard(conversation)
        server.closed.set()
        await _end(conversation, writer)

    listening = await asyncio.start_server(serve, address, 0, ssl=certificate)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        for conversation in conversations:
            conversation.cancel()
        await asyncio.sleep(0.01)


async def _send(writer: asyncio.StreamWriter, pieces: Sequence[bytes], wait_seconds: float) -> None:
    for number, piece in enumerate(pieces):
        await asyncio.sleep(wait_seconds if number else 0)
        writer.write(piece)
        await writer.drain()


async def _end(conversation: asyncio.Task[None], writer: asyncio.StreamWriter) -> None:
    if not conversation.cancelled():
        conversation.exception()  # the client has gone
    with suppress(OSError):
        writer.close()
        await writer.wait_closed()

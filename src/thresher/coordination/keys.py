"""Keys of the shared store, and helpers to read its replies."""

from __future__ import annotations

from typing import Any, Protocol
from urllib.parse import quote


class StoreConnection(Protocol):
    """A connection that retries; a command may be sent more than once, so each must be idempotent."""

    async def call(self, *command: Any) -> Any:
        """Send one command, and wait for its reply."""
        ...

    async def close(self) -> None: ...


def key_of(crawl: str, *parts: str) -> str:
    """Return a key that all machines of a crawl share; all keys of a crawl are in one slot of a cluster."""
    return ":".join([f"th:{{{quote(crawl, safe='')}}}", "fleet", *parts])


def text_of(reply: Any) -> str:
    """Return a reply of the store as text; empty for none."""
    return reply.decode("utf-8", "replace") if isinstance(reply, bytes) else str(reply or "")


def pairs_of(reply: Any) -> dict[str, str]:
    """Return a hash from a reply: a mapping, or a list of alternating names and values."""
    if not isinstance(reply, dict):
        row = list(reply or ())
        reply = dict(zip(row[::2], row[1::2], strict=True))
    return {text_of(name): text_of(value) for name, value in reply.items()}


async def store_time(connection: StoreConnection, key: str) -> float:
    """Return the time in seconds by the clock of the node that holds a key."""
    seconds, millionths = await connection.call("EVAL", "return redis.call('TIME')", 1, key)
    return int(seconds) + int(millionths) / 1e6

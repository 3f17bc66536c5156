"""Names of things in the store, and how a worker speaks to it."""

from __future__ import annotations

from typing import Any, Protocol
from urllib.parse import quote


class Link(Protocol):
    """A patient connection to the store; every command may be repeated, so each must bear that."""

    async def call(self, *command: Any) -> Any:
        """Send one command, and wait until it is answered."""
        ...

    async def close(self) -> None:
        """Let the connection go."""
        ...


def key_of(crawl: str, *parts: str) -> str:
    """Return the key of something that all machines of a crawl share; all of them lie in one slot of a cluster."""
    return ":".join([f"th:{{{quote(crawl, safe='')}}}", "fleet", *parts])


def text_of(answer: Any) -> str:
    """Return what the store answered as text; empty for nothing."""
    return answer.decode("utf-8", "replace") if isinstance(answer, bytes) else str(answer or "")


def pairs_of(answer: Any) -> dict[str, str]:
    """Return a hash that the store answered with: as a mapping, or as a row of names and values in turn."""
    if not isinstance(answer, dict):
        row = list(answer or ())
        answer = dict(zip(row[::2], row[1::2], strict=True))
    return {text_of(name): text_of(value) for name, value in answer.items()}


async def store_time(link: Link, key: str) -> float:
    """Return the time in seconds by the clock of the node that has a key."""
    seconds, millionths = await link.call("EVAL", "return redis.call('TIME')", 1, key)
    return int(seconds) + int(millionths) / 1e6

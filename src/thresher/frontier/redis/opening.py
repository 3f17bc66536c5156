"""Opening a crawl in the store: how it was cut into shards when it began, and whether it is still there."""

from __future__ import annotations

from thresher.errors import StoreError, StoreLost
from thresher.frontier.redis.link import StoreLink
from thresher.frontier.redis.shards import Shards

LAYOUT = 1
"""Counts the changes of the keys that an older Thresher cannot read."""
_ID = "id"


async def open_shards(link: StoreLink, crawl: str, wanted: int, seen_keys: int, crawl_id: str) -> tuple[Shards, int]:
    """Return the shards of a crawl and over how many sets its seen URLs are spread, as they were cut when it began.

    Raises:
        StoreLost: The store does not hold the crawl of that id; nothing is written into it then.
        StoreError: Another version of Thresher made the crawl.
    """
    await refuse_lost(link, crawl, crawl_id)
    settings = {"layout": LAYOUT, "shards": wanted, "seen_keys": seen_keys}
    for name, value in settings.items():
        await link.call("HSETNX", _key(crawl), name, value)
    layout, number, kept_keys = map(int, await link.call("HMGET", _key(crawl), *settings))
    if layout != LAYOUT:
        raise StoreError(f"crawl {crawl} in {link.name} was made by another version of Thresher")
    return Shards(crawl, number), kept_keys


async def refuse_lost(link: StoreLink, crawl: str, crawl_id: str) -> None:
    """Check that the store holds the crawl of this id; any will do for an empty one.

    Raises:
        StoreLost: It does not: it was emptied, or holds another crawl of the same name.
    """
    if not crawl_id:
        return
    kept = await link.call("HGET", _key(crawl), _ID)
    if kept != crawl_id.encode():
        what = f"it holds another crawl called {crawl!r}" if kept else f"nothing of {crawl!r} is there any more"
        raise StoreLost(f"the store {link.name}", what)


async def keep_id(link: StoreLink, crawl: str, crawl_id: str) -> str:
    """Keep the id of a crawl unless the store has one; return the one that it has."""
    await link.call("HSETNX", _key(crawl), _ID, crawl_id)
    kept: bytes = await link.call("HGET", _key(crawl), _ID)
    return kept.decode()


def _key(crawl: str) -> bytes:
    """Return the key of what holds for the whole crawl."""
    return b"th:{%s}" % crawl.encode()

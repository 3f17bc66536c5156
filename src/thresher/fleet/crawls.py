"""Which crawls a store holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from thresher.errors import ConfigError
from thresher.fleet.keys import text_of

if TYPE_CHECKING:
    from thresher.frontier.redis.link import StoreLink

_DEFINITION = re.compile(r"th:\{([^{}]*)\}:fleet:definition")
_AT_ONCE = 1000


async def crawls_in(link: StoreLink) -> list[str]:
    """Return the names of the crawls whose definitions lie in a store, by looking through its keys.

    Raises:
        ConfigError: It is a cluster, whose keys nobody looks through.
    """
    if link.is_cluster:
        raise ConfigError("which crawls of the cluster? Name them: --crawl NAME")
    names: set[str] = set()
    cursor: bytes | int = 0
    while True:
        cursor, keys = await link.call("SCAN", cursor, "MATCH", "th:*:fleet:definition", "COUNT", _AT_ONCE)
        names |= _names(keys)
        if int(cursor) == 0:
            return sorted(names)


def _names(keys: Any) -> set[str]:
    found = (_DEFINITION.fullmatch(text_of(key)) for key in keys)
    return {unquote(match[1]) for match in found if match}

"""List the crawls in a store."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from thresher.coordination.keys import text_of
from thresher.errors import ConfigError

if TYPE_CHECKING:
    from thresher.frontier.redis.connection import RedisConnection

_DEFINITION = re.compile(r"th:\{([^{}]*)\}:fleet:definition")
_AT_ONCE = 1000


async def crawls_in(connection: RedisConnection) -> list[str]:
    """Return the names of the crawls that have a definition in a store, by scanning its keys.

    Raises:
        ConfigError: It is a cluster, whose keys are not scanned.
    """
    if connection.is_cluster:
        raise ConfigError("which crawls of the cluster? Name them: --crawl NAME")
    names: set[str] = set()
    cursor: bytes | int = 0
    while True:
        cursor, keys = await connection.call("SCAN", cursor, "MATCH", "th:*:fleet:definition", "COUNT", _AT_ONCE)
        names |= _names(keys)
        if int(cursor) == 0:
            return sorted(names)


def _names(keys: Any) -> set[str]:
    found = (_DEFINITION.fullmatch(text_of(key)) for key in keys)
    return {unquote(match[1]) for match in found if match}

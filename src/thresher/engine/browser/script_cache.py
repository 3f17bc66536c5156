"""A cache of scripts: pages of a site share them, and its server is requested once."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

MAX_BYTES = 32 << 20
MAX_SCRIPT_BYTES = 4 << 20
KEPT_SECONDS = 600.0
_NOT_KEPT = frozenset({"content-encoding", "content-length", "transfer-encoding", "set-cookie", "connection"})
_FORBIDS = ("no-store", "no-cache", "private")


@dataclass(frozen=True)
class CachedScript:
    """A cached script with its expiry time."""

    headers: Mapping[str, str]
    body: bytes
    until: float


class ScriptCache:
    """The scripts of one worker; the least recently used are evicted."""

    def __init__(self, *, max_bytes: int = MAX_BYTES, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        self._scripts: OrderedDict[str, CachedScript] = OrderedDict()
        self._bytes = 0

    def get(self, url: str) -> CachedScript | None:
        """Return a script that has not expired."""
        script = self._scripts.get(url)
        if script and script.until <= self._clock():
            self._drop(url)
            return None
        if script:
            self._scripts.move_to_end(url)
        return script

    def put(self, url: str, headers: Mapping[str, str], body: bytes) -> None:
        """Cache a script, unless it is too large or its server forbids it."""
        control = headers.get("cache-control", "").lower()
        if len(body) > MAX_SCRIPT_BYTES or any(word in control for word in _FORBIDS) or headers.get("vary", "") == "*":
            return
        self._drop(url)
        kept = {name: value for name, value in headers.items() if name not in _NOT_KEPT}
        self._scripts[url] = CachedScript(kept, body, self._clock() + KEPT_SECONDS)
        self._bytes += len(body)
        while self._bytes > self._max_bytes:
            self._drop(next(iter(self._scripts)))

    def _drop(self, url: str) -> None:
        if script := self._scripts.pop(url, None):
            self._bytes -= len(script.body)

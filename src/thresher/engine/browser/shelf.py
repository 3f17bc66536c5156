"""Scripts that one page loaded, at hand for the next: pages of a site share them, and its server is asked once."""

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
class Script:
    """A script as it came."""

    headers: Mapping[str, str]
    body: bytes
    until: float


class Shelf:
    """The scripts of one worker; the ones that were not wanted for longest make room."""

    def __init__(self, *, max_bytes: int = MAX_BYTES, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        self._scripts: OrderedDict[str, Script] = OrderedDict()
        self._bytes = 0

    def get(self, url: str) -> Script | None:
        """Return a script that is still good."""
        script = self._scripts.get(url)
        if script and script.until <= self._clock():
            self._drop(url)
            return None
        if script:
            self._scripts.move_to_end(url)
        return script

    def put(self, url: str, headers: Mapping[str, str], body: bytes) -> None:
        """Keep a script, unless its server forbids that."""
        asked = headers.get("cache-control", "").lower()
        if len(body) > MAX_SCRIPT_BYTES or any(word in asked for word in _FORBIDS) or headers.get("vary", "") == "*":
            return
        self._drop(url)
        kept = {name: value for name, value in headers.items() if name not in _NOT_KEPT}
        self._scripts[url] = Script(kept, body, self._clock() + KEPT_SECONDS)
        self._bytes += len(body)
        while self._bytes > self._max_bytes:
            self._drop(next(iter(self._scripts)))

    def _drop(self, url: str) -> None:
        if script := self._scripts.pop(url, None):
            self._bytes -= len(script.body)

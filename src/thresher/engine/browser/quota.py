"""The network quota of one rendered page: connections and bytes, until its rendering ends.

Only hosts of requests that the router saw and allowed can be reached. A browser sends more than that: from sockets and
workers of pages, and from Chromium itself to its maker's servers. These connections are dropped.
"""

from __future__ import annotations

import secrets
from base64 import b64encode
from collections.abc import Callable

USER = "page"


class NetworkQuota:
    """The right of one page to use the proxy, by a secret.

    Args:
        max_connections: Connections in all.
        max_bytes: Bytes in both directions over all of them together.
    """

    def __init__(self, *, max_connections: int, max_bytes: int) -> None:
        self.secret = secrets.token_urlsafe(24)
        self.refused: list[str] = []
        self.is_spent = False
        self._expected: set[tuple[str, int]] = set()
        self._connections_left = max_connections
        self._bytes_left = max_bytes
        self._over = False
        self._open: dict[int, Callable[[], None]] = {}

    @property
    def authorization(self) -> str:
        return f"Basic {b64encode(f'{USER}:{self.secret}'.encode()).decode('ascii')}"

    def expect(self, name: str, port: int) -> None:
        """Allow a host and port, as far as the address guard does."""
        self._expected.add((name, port))

    def expects(self, name: str, port: int) -> bool:
        return (name.rstrip(".").lower(), port) in self._expected

    def enter(self, number: int, cut: Callable[[], None]) -> bool:
        """Count a connection that `cut` closes; False when no more are allowed."""
        if self._over or self._connections_left <= 0:
            self.is_spent = True
            return False
        self._connections_left -= 1
        self._open[number] = cut
        return True

    def leave(self, number: int) -> None:
        self._open.pop(number, None)

    def spend(self, count: int) -> bool:
        """Count bytes; False when no more are allowed."""
        self._bytes_left -= count
        if self._bytes_left < 0:
            self.is_spent = True
        return not self._over and self._bytes_left >= 0

    def refuse(self, place: str) -> None:
        """Record a host and port that were refused."""
        if len(self.refused) < 100:
            self.refused.append(place)

    def end(self) -> None:
        """Close all connections, and allow no more."""
        self._over = True
        for cut in list(self._open.values()):
            cut()

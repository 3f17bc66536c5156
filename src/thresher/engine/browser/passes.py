"""What one page may have of the network while it is rendered: so many connections and bytes, until it is over.

Only places that the page was seen to ask for are open to it. A browser asks for more than its pages do, and pages have
ways to ask that nobody sees: sockets, workers, what Chromium looks for on its maker's servers. These lead nowhere.
"""

from __future__ import annotations

import secrets
from base64 import b64encode
from collections.abc import Callable

USER = "page"


class Pass:
    """Lets one page through the proxy. Whoever does not know its secret goes nowhere.

    Args:
        max_connections: How many it may open in all.
        max_bytes: How much may come and go over all of them together.
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
        """What a request with this pass says in Proxy-Authorization."""
        return f"Basic {b64encode(f'{USER}:{self.secret}'.encode()).decode('ascii')}"

    def expect(self, name: str, port: int) -> None:
        """Open a place to the page, as far as the guard lets it be dialled."""
        self._expected.add((name, port))

    def expects(self, name: str, port: int) -> bool:
        """Tell whether a place is open."""
        return (name.rstrip(".").lower(), port) in self._expected

    def enter(self, number: int, cut: Callable[[], None]) -> bool:
        """Open a connection that `cut` ends; False when there may be no more of them."""
        if self._over or self._connections_left <= 0:
            self.is_spent = True
            return False
        self._connections_left -= 1
        self._open[number] = cut
        return True

    def leave(self, number: int) -> None:
        """Say that a connection is over."""
        self._open.pop(number, None)

    def spend(self, count: int) -> bool:
        """Count bytes; False when there may be no more of them."""
        self._bytes_left -= count
        if self._bytes_left < 0:
            self.is_spent = True
        return not self._over and self._bytes_left >= 0

    def refuse(self, place: str) -> None:
        """Note a place that was not dialled."""
        if len(self.refused) < 100:
            self.refused.append(place)

    def end(self) -> None:
        """Cut what is open, and let nothing through from now on."""
        self._over = True
        for cut in list(self._open.values()):
            cut()

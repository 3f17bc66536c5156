"""Ports for servers that come back: below those that the system lends to clients."""

from __future__ import annotations

import random
import socket

LOWEST, HIGHEST = 15_000, 22_000
"""A port of a dead server must not be lent to a client, or the server could not return. A node of a cluster also
listens 10,000 ports higher, and that must stay below 32,768 for the same reason."""
BUS_OFFSET = 10_000
ADDRESS = "127.0.0.1"
TRIES = 200


def free_port() -> int:
    """Return a port on which nobody listens, nor 10,000 higher."""
    for _ in range(TRIES):
        port = random.randrange(LOWEST, HIGHEST)
        if _is_free(port) and _is_free(port + BUS_OFFSET):
            return port
    raise OSError(f"no free port between {LOWEST} and {HIGHEST} after {TRIES} tries")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
        except OSError:
            return False
    return True

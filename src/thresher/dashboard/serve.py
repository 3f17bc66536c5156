"""The dashboard served: by a server on an address of this machine, until Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field

import uvicorn

from thresher.dashboard.app import make_app
from thresher.dashboard.desk import Desk, by_name
from thresher.dashboard.guard import Guard, names_of, new_secret
from thresher.errors import ConfigError

__all__ = ["Desk", "Place", "Served", "by_name", "serve"]

TOKEN_VARIABLE = "THRESHER_UI_TOKEN"  # noqa: S105 - a name, not a secret
"""May hold the token, where a program must know it before the dashboard starts."""
LEAST_TOKEN = 32
_GOODBYE_SECONDS = 2


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where the dashboard is served.

    Args:
        port: 0 for any that is free.
        names: Further names under which browsers may ask.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    names: tuple[str, ...] = field(default=())


@dataclass(frozen=True, kw_only=True)
class Served:
    """What a user must know of a dashboard that is served.

    Args:
        address: What to open in a browser; works once.
        token: For programs.
    """

    address: str
    token: str


def serve(make_desk: Callable[[], Desk], place: Place, tell: Callable[[Served], None]) -> None:
    """Serve until Ctrl-C.

    Args:
        make_desk: Makes the desk, in the event loop that will use it.
        tell: Told when the dashboard can be opened.

    Raises:
        ConfigError: The address cannot be used.
    """
    token = _token()
    with contextlib.suppress(KeyboardInterrupt), _listen(place) as listening:  # Ctrl-C is heard by the server first
        port = listening.getsockname()[1]
        guard = Guard(names_of(place.host, port, place.names), cookie=f"thresher-{port}", token=token)
        asyncio.run(_serve(make_desk, guard, listening, lambda: tell(_served(place, port, guard))))


def _served(place: Place, port: int, guard: Guard) -> Served:
    shown = next(iter(place.names), "localhost") if place.host in ("0.0.0.0", "::") else place.host  # noqa: S104
    name = f"[{shown}]" if shown.count(":") > 1 else shown
    there = name if ":" in name.removeprefix("[").rpartition("]")[2] else f"{name}:{port}"
    return Served(address=f"http://{there}/login?key={guard.key}", token=guard.token)


async def _serve(
    make_desk: Callable[[], Desk], guard: Guard, listening: socket.socket, tell: Callable[[], None]
) -> None:
    config = uvicorn.Config(
        make_app(make_desk(), guard),
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=_GOODBYE_SECONDS,
        h11_max_incomplete_event_size=32 << 10,
        limit_concurrency=500,
    )
    await _Server(config, tell).serve(sockets=[listening])


class _Server(uvicorn.Server):
    """Tells when it can be asked."""

    def __init__(self, config: uvicorn.Config, tell: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell = tell

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self._tell()


def _listen(place: Place) -> socket.socket:
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((place.host, place.port))
    except OSError as error:
        listening.close()
        raise ConfigError(
            f"{place.host}:{place.port} cannot be listened on: {error.strerror}; choose another: --port 0"
        ) from error
    return listening


def _token() -> str:
    token = os.environ.get(TOKEN_VARIABLE) or new_secret()
    if len(token) < LEAST_TOKEN:
        raise ConfigError(f"{TOKEN_VARIABLE} has {len(token)} characters, expected {LEAST_TOKEN} or more")
    return token

"""The server of the dashboard."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field

import uvicorn
from starlette.types import ASGIApp

from thresher.errors import ConfigError
from thresher_ui.dashboard.app import make_app
from thresher_ui.dashboard.guard import LOGIN, Guard, names_of, new_secret
from thresher_ui.dashboard.service import CrawlService, by_name

__all__ = ["CrawlService", "ListenAddress", "Served", "by_name", "serve", "serve_guarded"]

TOKEN_VARIABLE = "THRESHER_UI_TOKEN"  # noqa: S105 - a name, not a secret
"""Environment variable with the token, for programs that must know it before the dashboard starts."""
MIN_TOKEN = 32
_SHUTDOWN_SECONDS = 2


@dataclass(frozen=True, kw_only=True)
class ListenAddress:
    """Where the dashboard is served.

    Args:
        port: 0 for any free port.
        names: Further host names that browsers may use.
        public_url: Where browsers reach it, if a proxy is before it: its scheme and host.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    names: tuple[str, ...] = field(default=())
    public_url: str = ""


@dataclass(frozen=True, kw_only=True)
class Served:
    """How to reach a running dashboard.

    Args:
        address: The URL to open in a browser. It logs in once, unless the user has set a token and a public URL.
        token: For programs, to be printed; one that the environment set is named, not repeated.
    """

    address: str
    token: str


def serve(make_service: Callable[[], CrawlService], address: ListenAddress, announce: Callable[[Served], None]) -> None:
    """Serve until Ctrl-C.

    Args:
        make_service: Makes the service, in the event loop that will use it.
        announce: Called when the dashboard accepts requests.

    Raises:
        ConfigError: The address cannot be used, or the token is too short.
    """
    serve_guarded(lambda guard: make_app(make_service(), guard), address, announce)


def serve_guarded(make: Callable[[Guard], ASGIApp], address: ListenAddress, announce: Callable[[Served], None]) -> None:
    """Serve an application until Ctrl-C.

    Args:
        make: Makes the application, in the event loop that will run it.
        announce: Called when it accepts requests.

    Raises:
        ConfigError: The address cannot be used, or the token is too short.
    """
    token = _token()
    with contextlib.suppress(KeyboardInterrupt), _listen(address) as listening:  # the server handles Ctrl-C first
        port = listening.getsockname()[1]
        public = address.public_url.partition("://")[2]
        names = names_of(address.host, port, (*address.names, *filter(None, [public])))
        guard = Guard(names, cookie=f"thresher-{port}", token=token, secure=address.public_url.startswith("https://"))
        asyncio.run(_serve(make, guard, listening, lambda: announce(_served(address, port, guard))))


def _served(address: ListenAddress, port: int, guard: Guard) -> Served:
    is_token_known = bool(os.environ.get(TOKEN_VARIABLE))
    login = LOGIN if is_token_known and address.public_url else f"{LOGIN}?key={guard.key}"  # logs are kept, and read
    return Served(
        address=(address.public_url or f"http://{_netloc(address, port)}") + login,
        token=f"${TOKEN_VARIABLE}" if is_token_known else guard.token,
    )


def _netloc(address: ListenAddress, port: int) -> str:
    shown = next(iter(address.names), "localhost") if address.host in ("0.0.0.0", "::") else address.host  # noqa: S104
    name = f"[{shown}]" if shown.count(":") > 1 else shown
    return name if ":" in name.removeprefix("[").rpartition("]")[2] else f"{name}:{port}"


async def _serve(
    make: Callable[[Guard], ASGIApp], guard: Guard, listening: socket.socket, announce: Callable[[], None]
) -> None:
    config = uvicorn.Config(
        make(guard),
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        h11_max_incomplete_event_size=32 << 10,
        limit_concurrency=500,
    )
    await _Server(config, announce).serve(sockets=[listening])


class _Server(uvicorn.Server):
    """A server that calls `announce` when it accepts requests."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()


def _listen(address: ListenAddress) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address.host, address.port))
    except OSError as error:
        listening.close()
        raise ConfigError(
            f"{address.host}:{address.port} cannot be listened on: {error.strerror}; choose another: --port 0"
        ) from error
    return listening


def _token() -> str:
    token = os.environ.get(TOKEN_VARIABLE) or new_secret()
    if len(token) < MIN_TOKEN:
        raise ConfigError(f"{TOKEN_VARIABLE} has {len(token)} characters, expected {MIN_TOKEN} or more")
    return token

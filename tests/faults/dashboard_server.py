"""The dashboard on a real socket, over a small crawl of its own."""

from __future__ import annotations

import asyncio
import http.client
import socket
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from testing.screens import crawls as world
from thresher.config.run_options import RunOptions
from thresher.crawl import CrawlSetup
from thresher.reasons.legacy import legacy_reason
from thresher_ui.dashboard.app import make_app
from thresher_ui.dashboard.guard import Guard, names_of
from thresher_ui.dashboard.service import CrawlService

NAME = "small"
PAGES, WAITING, HOSTS = 60, 200, 6
ANSWER_SECONDS = 60.0


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Served:
    """A dashboard that can be asked."""

    app: Starlette
    guard: Guard
    port: int
    folder: Path
    statuses: Counter[int] = field(default_factory=Counter)
    """How often each status was answered."""

    @property
    def place(self) -> str:
        """Where it listens, as a browser writes it."""
        return f"127.0.0.1:{self.port}"

    @property
    def bearer(self) -> dict[str, str]:
        """What a program sends."""
        return {"Authorization": f"Bearer {self.guard.token}"}

    @property
    def cookie(self) -> dict[str, str]:
        """What a browser sends that has logged in."""
        return {"Cookie": f"{self.guard.cookie}={self.guard.token}"}

    def ask(self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes | None = None) -> Reply:
        """Send one request with exactly these headers, and Host."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS)
        try:
            given = {"Host": self.place, **(headers or {})}
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in given.items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            streams = answer.headers.get_content_type() == "text/event-stream"
            content = answer.readline() if streams else answer.read()
            return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, content)
        finally:
            connection.close()


def small_crawl(folder: Path) -> CrawlSetup:
    """Write a crawl with some pages and URLs; it cannot be started, so nobody is ever dialled."""
    crawl = world.write(folder, pages=PAGES, hosts=HOSTS)
    asyncio.run(_fill(crawl))
    crawl.folder.join(RunOptions())
    return CrawlSetup.open(folder)


async def _fill(crawl: CrawlSetup) -> None:
    frontier = crawl.backend.frontier()
    try:
        await world.fill(frontier, pages=PAGES, waiting=WAITING, hosts=HOSTS)
        await frontier.park("h1.example", legacy_reason("gave 50 pages, none of them relevant"))
    finally:
        await frontier.close()


@dataclass
class _Thread:
    server: uvicorn.Server
    listening: socket.socket
    thread: threading.Thread = field(init=False)

    def __enter__(self) -> None:
        self.thread = threading.Thread(target=lambda: self.server.run(sockets=[self.listening]))
        self.thread.start()
        while not self.server.started and self.thread.is_alive():
            self.thread.join(0.01)

    def __exit__(self, *_: object) -> None:
        self.server.should_exit = True
        self.thread.join()


@contextmanager
def served(crawl: CrawlSetup) -> Iterator[Served]:
    """Serve a crawl on a free port of loopback for as long as the block lasts."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        guard = Guard(names_of("127.0.0.1", port), cookie=f"thresher-{port}")
        app = make_app(CrawlService({NAME: crawl}), guard)
        statuses: Counter[int] = Counter()
        config = uvicorn.Config(
            _counting(app, statuses), log_level="error", lifespan="on", ws="none", timeout_graceful_shutdown=1
        )
        with _Thread(uvicorn.Server(config), listening):
            yield Served(app, guard, port, crawl.folder.root, statuses)


def _counting(app: Starlette, statuses: Counter[int]) -> ASGIApp:
    async def counting(scope: Scope, receive: Receive, send: Send) -> None:
        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses[message["status"]] += 1
            await send(message)

        await app(scope, receive, counted)

    return counting

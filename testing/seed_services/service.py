"""A service on loopback: answers GET requests by a function, records them, and can be set to fail."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Parameters = dict[str, list[str]]


class Service:
    """A stand-in; `answer` is written by each kind.

    Attributes:
        requests: Path and parameters of every request, in order.
        broken: Status, headers and body that answer every request instead; None when it works.
    """

    path = "/"

    def __init__(self) -> None:
        self.requests: list[tuple[str, Parameters]] = []
        self.broken: tuple[int, dict[str, str], bytes] | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.path}"

    def answer(self, path: str, parameters: Parameters) -> tuple[int, Any]:
        """Return the status and the body: bytes as they are, anything else as JSON."""
        raise NotImplementedError

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve while the block lasts; give the address of the interface."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield self.url
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def _handler(service: Service) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            split = urlsplit(self.path)
            parameters = parse_qs(split.query)
            service.requests.append((split.path, parameters))
            status, headers, body = service.broken or self._answer(split.path, parameters)
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _answer(self, path: str, parameters: Parameters) -> tuple[int, dict[str, str], bytes]:
            status, value = service.answer(path, parameters)
            body = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
            return status, {}, body

        def log_message(self, *_: object) -> None:
            pass

    return Handler

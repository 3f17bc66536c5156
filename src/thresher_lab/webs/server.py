"""A frozen web over HTTP, on loopback: for crawlers that need sockets.

One server answers for all hosts of the web, by the Host header; a crawl reaches it through ``network.connect_to`` in
its topic.yaml. Pages come in their original charset, dead links are 404, robots.txt is a 404: all may be fetched.
"""

from __future__ import annotations

import asyncio
import datetime
import ssl
import tempfile
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from random import Random
from typing import Protocol

from thresher.urls.canonical import canonicalize
from thresher_lab.webs.open_web import open_web
from thresher_lab.webs.virtualweb import Web, WebPage

MAX_REQUEST_BYTES = 65_536
_ADDRESS = "127.0.0.1"


class PageSource(Protocol):
    """A web, or several."""

    def get(self, url: str) -> WebPage | None:
        """Return the page at a URL; None where the server responds 404."""
        ...


class WebServer:
    """Answers for every host of a web.

    Args:
        latency_seconds: How long each answer takes.
        asked: Called with every requested URL, in order.
        fault_share: Share of the requests that fail: half of them with a 503, half with a connection that is cut.
        with_https: Whether it speaks https too, for which the package cryptography makes a certificate. Without it,
            a request by https fails.
    """

    def __init__(
        self,
        web: PageSource,
        *,
        latency_seconds: float = 0.0,
        asked: Callable[[str], None] | None = None,
        fault_share: float = 0.0,
        with_https: bool = True,
    ) -> None:
        self._web = web
        self._latency_seconds = latency_seconds
        self._asked = asked
        self._fault_share = fault_share
        self._with_https = with_https
        self._random = Random(1)  # noqa: S311 - a repeatable sequence
        self._servers: list[asyncio.Server] = []

    async def start(self, port: int = 0) -> dict[str, str]:
        """Listen; return the value for ``network.connect_to``."""
        certificate = _certificate() if self._with_https else None
        plain = await self._listen("http", port, None)
        secure = await self._listen("https", port + 1 if port else 0, certificate) if certificate else plain
        return {"*:80": f"{_ADDRESS}:{plain}", "*:443": f"{_ADDRESS}:{secure}"}

    async def _listen(self, scheme: str, port: int, certificate: ssl.SSLContext | None) -> int:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._converse(scheme, reader, writer)

        server = await asyncio.start_server(answer, _ADDRESS, port, ssl=certificate, limit=MAX_REQUEST_BYTES)
        self._servers.append(server)
        number: int = server.sockets[0].getsockname()[1]
        return number

    async def close(self) -> None:
        for server in self._servers:
            server.close()

    async def _converse(self, scheme: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer requests until the client disconnects."""
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                url = _asked_url(scheme, request)
                if self._latency_seconds:
                    await asyncio.sleep(self._latency_seconds)
                writer.write(self._answer(url))
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ssl.SSLError):
            pass
        finally:
            writer.close()

    def _answer(self, url: str | None) -> bytes:
        if url and self._asked:
            self._asked(url)
        if self._fault_share and (drawn := self._random.random()) < self._fault_share:
            if drawn < self._fault_share / 2:
                return http_response(HTTPStatus.SERVICE_UNAVAILABLE, "text/plain", b"Try again later.\n")
            raise ConnectionResetError
        page = self._web.get(url) if url else None
        if page is None:
            return http_response(HTTPStatus.NOT_FOUND, "text/plain", b"There is no such page in this web.\n")
        return http_response(HTTPStatus.OK, page.content_type, page.body)


def _asked_url(scheme: str, request: bytes) -> str | None:
    first, *lines = request.decode("latin-1").split("\r\n")
    words = first.split(" ")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return canonicalize(f"{scheme}://{headers.get('host', '')}{words[1]}") if len(words) == 3 else None


def http_response(status: HTTPStatus, content_type: str, body: bytes) -> bytes:
    """Return a whole response, with its length."""
    head = f"HTTP/1.1 {status} {status.phrase}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode("latin-1") + body


def _certificate() -> ssl.SSLContext:
    """Make a short-lived certificate; crawlers do not check it."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "thresher lab")])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    signed = builder.sign(key, hashes.SHA256())
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.pem"
        path.write_bytes(secret + signed.public_bytes(serialization.Encoding.PEM))
        context.load_cert_chain(path)
    return context


async def serve_forever(
    web: Web, *, port: int, latency_seconds: float, on_start: Callable[[dict[str, str], str], None]
) -> None:
    """Serve a web until the task is cancelled.

    Args:
        on_start: Called with the value for ``network.connect_to`` and the URL of a page.
    """
    server = WebServer(web, latency_seconds=latency_seconds)
    on_start(await server.start(port), example_seed(web))
    try:
        await asyncio.Event().wait()
    finally:
        await server.close()


def example_seed(web: Web) -> str:
    """Return a page of the first topic, or the first page of a web without topics."""
    topics = sorted(web.topics())
    return web.url_of(min(web.targets(topics[0]))) if topics else next(web.urls())


def serve_web(
    name: str, *, port: int = 0, latency_seconds: float = 0.0, on_start: Callable[[dict[str, str], str], None] = print
) -> None:
    """Serve a web by its name until Ctrl-C."""
    web = open_web(name)
    try:
        asyncio.run(serve_forever(web, port=port, latency_seconds=latency_seconds, on_start=on_start))
    except KeyboardInterrupt:
        return

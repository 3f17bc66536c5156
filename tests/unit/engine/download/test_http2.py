"""HTTP/2 over TLS has the limits of HTTP/1.1, whatever a server sends."""

import asyncio
import resource
import time
from contextlib import asynccontextmanager, suppress

import pytest

from testing.forward_proxy import trusted_certificate
from thresher.engine.download import transfer as transfer_module
from thresher.engine.download.downloader import CurlClient
from thresher.engine.download.errors import FetchFailed
from thresher.engine.download.transfer import BodyMemoryLimit, Transfer, TransferRequest

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, CONTINUATION = 0, 1, 3, 4, 6, 7, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
PREFACE_BYTES = 24
MIB = 1 << 20


def frame(kind, payload=b"", *, flags=0, stream=1):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def _text(text):
    """A string of HPACK without Huffman codes."""
    raw = text.encode()
    if len(raw) < 127:
        return bytes([len(raw)]) + raw
    left, length = len(raw) - 127, bytearray([127])
    while left >= 128:
        length.append(left % 128 + 128)
        left //= 128
    return bytes([*length, left]) + raw


def fields(*pairs):
    return b"".join(b"\x00" + _text(name) + _text(value) for name, value in pairs)


def head(*pairs, status="200", flags=END_HEADERS, stream=1):
    return frame(HEADERS, fields((":status", status), *pairs), flags=flags, stream=stream)


class Server:
    """Sends the frames of a script for each request; counts connections and requests."""

    def __init__(self, script):
        self.script, self.connections, self.requests, self.port = script, 0, 0, 0

    async def serve(self, reader, writer):
        self.connections += 1
        with suppress(OSError, asyncio.IncompleteReadError):
            await reader.readexactly(PREFACE_BYTES)
            writer.write(frame(SETTINGS, stream=0))
            while True:
                kind, flags, stream = await self._read(reader)
                if kind == SETTINGS and not flags & ACK:
                    writer.write(frame(SETTINGS, flags=ACK, stream=0))
                elif kind == HEADERS:
                    self.requests += 1
                    sent = 0
                    for piece in self.script(stream):
                        writer.write(piece)
                        sent += len(piece)
                        await writer.drain()
                        if sent > 80 * MIB:
                            return
        with suppress(OSError):
            writer.close()

    async def _read(self, reader):
        start = await reader.readexactly(9)
        await reader.readexactly(int.from_bytes(start[:3], "big"))
        return start[3], start[4], int.from_bytes(start[5:], "big")


@asynccontextmanager
async def serving(tmp_path, script):
    context, _ = trusted_certificate(tmp_path, "site.test")
    context.set_alpn_protocols(["h2"])
    server = Server(script)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()


@pytest.fixture
async def client():
    client = CurlClient()
    yield client
    client.close()
    await asyncio.sleep(0.01)


def transfer_of(server, **changes):
    values = {
        "url": f"https://site.test:{server.port}/",
        "lines": [("User-Agent", "test")],
        "endpoints": [("127.0.0.1", server.port)],
        "refusal": lambda address: "",
        "max_bytes": MIB,
        "timeout_seconds": 5.0,
        "is_verified": False,
    }
    return Transfer(TransferRequest(**{**values, **changes}), BodyMemoryLimit())


async def fetched(client, server, **changes):
    transfer = transfer_of(server, **changes)
    checks = asyncio.create_task(_check(transfer))
    try:
        is_complete = await client.run(transfer)
    finally:
        checks.cancel()
    return transfer.head, transfer.body(), is_complete


async def _check(transfer):
    while True:
        await asyncio.sleep(0.1)
        transfer.check(time.monotonic())


def page(stream):
    yield head(("content-type", "text/html"), stream=stream)
    yield frame(DATA, b"solar", stream=stream)
    yield frame(HEADERS, fields(("x-trailer", "1")), flags=END_HEADERS | END_STREAM, stream=stream)


@pytest.mark.skipif(not transfer_module._HAS_HTTP2, reason="this libcurl has no HTTP/2")
class TestHttp2:
    async def test_a_page_is_fetched_and_its_connection_kept(self, client, tmp_path):
        async with serving(tmp_path, page) as server:
            for _ in range(3):
                response, body, is_complete = await fetched(client, server)
                assert (response.status, body, is_complete) == (200, b"solar", True)
                assert response.lines == [("content-type", "text/html")]
        assert (server.connections, server.requests) == (1, 3)

    async def test_frames_between_requests_do_not_end_a_connection(self, client, tmp_path):
        def restless(stream):
            yield from page(stream)
            yield frame(PING, b"12345678", stream=0)
            yield frame(SETTINGS, stream=0)

        async with serving(tmp_path, restless) as server:
            for _ in range(3):
                assert (await fetched(client, server))[1] == b"solar"
                await asyncio.sleep(0.05)
        assert server.connections == 1

    async def test_a_connection_that_was_given_up_is_replaced(self, client, tmp_path):
        def leaving(stream):
            yield from page(stream)
            yield frame(GOAWAY, stream.to_bytes(4, "big") + bytes(4), stream=0)

        async with serving(tmp_path, leaving) as server:
            for _ in range(2):
                assert (await fetched(client, server))[1] == b"solar"
                await asyncio.sleep(0.05)
        assert server.connections == 2

    async def test_a_body_without_end_is_cut_at_its_limit(self, client, tmp_path):
        def endless(stream):
            yield head(stream=stream)
            for _ in range(5000):
                yield frame(DATA, bytes(16_000), stream=stream)

        async with serving(tmp_path, endless) as server:
            _, body, is_complete = await fetched(client, server)
        assert (len(body), is_complete) == (MIB, False)

    @pytest.mark.parametrize(
        "script",
        [
            pytest.param(lambda stream: [head(("x", "y" * 300_000), stream=stream)], id="one long field"),
            pytest.param(
                lambda stream: [
                    frame(HEADERS, fields((":status", "200")), stream=stream),
                    *[frame(CONTINUATION, fields(("x", "y" * 10_000)), stream=stream)] * 3000,
                ],
                id="a flood of continuations",
            ),
            pytest.param(
                lambda stream: [
                    frame(HEADERS, fields((":status", "200")), stream=stream),
                    *[frame(CONTINUATION, b"", stream=stream)] * 100_000,
                ],
                id="empty continuations",
            ),
            pytest.param(lambda stream: [head(status="103", stream=stream)] * 100_000, id="interim responses"),
            pytest.param(lambda stream: [frame(RST_STREAM, bytes(3) + b"\x02", stream=stream)], id="reset"),
            pytest.param(lambda stream: [frame(GOAWAY, bytes(8), stream=0)], id="goaway"),
            pytest.param(lambda stream: [frame(DATA, b"no head", stream=stream)], id="body first"),
            pytest.param(lambda stream: [b"HTTP/1.1 200 OK\r\n\r\n"], id="another protocol"),
            pytest.param(
                lambda stream: [head(("transfer-encoding", "chunked"), stream=stream), frame(DATA, b"5\r\nsolar")],
                id="chunked",
            ),
            pytest.param(lambda stream: [frame(PING, b"12345678", stream=0)] * 200_000, id="pings"),
        ],
    )
    async def test_what_is_no_response_fails_within_bounds(self, client, tmp_path, script):
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        async with serving(tmp_path, script) as server:
            with pytest.raises(FetchFailed):
                await fetched(client, server, timeout_seconds=3.0)
        assert time.monotonic() - began < 6.0
        assert server.requests <= 4
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024

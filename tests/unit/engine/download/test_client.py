"""libcurl connects to pinned addresses only, sends when it may, and no fetch is without an end."""

import asyncio
import contextlib
import gzip
import ipaddress
import os
import socket
import time

import pycurl
import pytest

from testing.raw_server import raw_server
from thresher.engine.download import transfer as transfer_module
from thresher.engine.download.downloader import ClientClosed, CurlClient
from thresher.engine.download.errors import AddressRefused, CertificateInvalid, FetchFailed, NotHttp, failure_for
from thresher.engine.download.transfer import MAX_HEAD_LINES, BodyMemoryLimit, Transfer, TransferRequest
from thresher_lab.webs.server import _certificate

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture
async def client():
    client = CurlClient()
    yield client
    if not client._is_closed:
        client.close()


def allow_loopback(address):
    return "" if ipaddress.ip_address(address).is_loopback else "not of this machine"


def transfer_of(server, *, body_memory=None, address="127.0.0.1", **changes):
    values = {
        "url": server.url,
        "lines": [("User-Agent", "test"), ("Accept", "*/*")],
        "endpoints": [(address, server.port)],
        "refusal": allow_loopback,
        "max_bytes": 1 << 20,
        "timeout_seconds": 5.0,
    }
    return Transfer(TransferRequest(**{**values, **changes}), body_memory or BodyMemoryLimit())


async def fetched(client, server, **changes):
    transfer = transfer_of(server, **changes)
    is_complete = await client.run(transfer)
    return transfer.head.status, transfer.body(), is_complete


async def test_a_page_is_fetched_and_its_connection_kept(client):
    async with raw_server(OK) as server:
        for _ in range(3):
            assert await fetched(client, server) == (200, b"ok", True)
    assert server.connections == 1
    request = f"GET / HTTP/1.1\r\nHost: site.test:{server.port}\r\nUser-Agent: test\r\nAccept: */*\r\n\r\n"
    assert server.requests == [request.encode()] * 3


async def test_environment_and_cookies_change_no_request(client, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("all_proxy", "http://127.0.0.1:9")
    async with raw_server(OK.replace(b"OK\r\n", b"OK\r\nSet-Cookie: a=b\r\n")) as server:
        for _ in range(2):
            await fetched(client, server)
    assert server.requests[0] == server.requests[1]


async def test_a_packed_body_in_chunks_is_read(client):
    packed = gzip.compress(b"solar " * 1000)
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (packed[:10], packed[10:])) + b"0\r\nX: y\r\n\r\n"
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with raw_server(head, chunks[:20], chunks[20:], wait_seconds=0.01) as server:
        for _ in range(2):
            assert await fetched(client, server) == (200, b"solar " * 1000, True)
    assert server.connections == 1


async def test_a_body_may_end_with_its_connection(client):
    async with raw_server(b"HTTP/1.0 200 OK\r\n\r\nsolar", keep=False) as server:
        assert await fetched(client, server) == (200, b"solar", True)


async def test_a_certificate_is_verified_unless_the_request_says_otherwise(client):
    async with raw_server(OK, certificate=_certificate()) as server:
        url = f"https://site.test:{server.port}/"
        with pytest.raises(CertificateInvalid, match=r"its certificate is .*; network\.tls: record") as failed:
            await fetched(client, server, url=url)
        assert (server.requests, failed.value.retry) == ([], False)
        assert await fetched(client, server, url=url, is_verified=False) == (200, b"ok", True)


async def test_a_verified_fetch_never_uses_a_connection_that_was_not(client):
    async with raw_server(OK, certificate=_certificate()) as server:
        url = f"https://site.test:{server.port}/"
        await fetched(client, server, url=url, is_verified=False)
        with pytest.raises(CertificateInvalid):
            await fetched(client, server, url=url)
    assert len(server.requests) == 1


async def test_a_header_line_of_60_kilobytes_is_taken(client):
    async with raw_server(OK.replace(b"OK\r\n", b"OK\r\nX: %s\r\n" % (b"x" * 60_000), 1)) as server:
        assert await fetched(client, server) == (200, b"ok", True)


async def test_ipv6_is_spoken(client):
    async with raw_server(OK, address="::1") as server:
        assert await fetched(client, server, address="::1") == (200, b"ok", True)


async def test_the_next_address_is_tried_when_one_refuses(client):
    async with raw_server(OK) as server:
        endpoints = [("127.0.0.2", server.port), ("127.0.0.1", server.port)]
        assert await fetched(client, server, endpoints=endpoints) == (200, b"ok", True)


@pytest.mark.parametrize("address", ["127.0.0.2", "::1", "::ffff:127.0.0.2"])
def test_no_socket_is_opened_for_another_address(address):
    transfer = Transfer(
        TransferRequest(
            url="http://site.test/",
            lines=[],
            endpoints=[("127.0.0.1", 80)],
            refusal=allow_loopback,
            max_bytes=1,
            timeout_seconds=1.0,
        ),
        BodyMemoryLimit(),
    )
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    assert transfer.open_socket(0, (family, socket.SOCK_STREAM, 0, (address, 80))) == pycurl.SOCKET_BAD
    assert transfer.open_socket(0, (socket.AF_INET, socket.SOCK_STREAM, 0, ("127.0.0.1", 81))) == pycurl.SOCKET_BAD
    assert transfer.before_send(address, "127.0.0.1", 80, 50_000) == pycurl.PREREQFUNC_ABORT
    mapped = transfer.open_socket(0, (socket.AF_INET6, socket.SOCK_STREAM, 0, (b"::ffff:127.0.0.1", 80, 0, 0)))
    mapped.close()


async def test_the_guard_is_asked_again_when_a_socket_is_opened(client):
    async with raw_server(OK) as server:
        with pytest.raises(AddressRefused, match="refused: by the guard"):
            await fetched(client, server, refusal=lambda address: "by the guard")
    assert server.connections == 0


async def test_sockets_are_not_inherited(client):
    async with raw_server(OK) as server:
        await fetched(client, server)
        own = [descriptor for descriptor in _descriptors() if _remote_port(descriptor) == server.port]
        assert own
        assert not any(os.get_inheritable(descriptor) for descriptor in own)


def _descriptors():
    return [int(name) for name in os.listdir("/proc/self/fd")]


def _remote_port(descriptor):
    with contextlib.suppress(OSError):
        connection = socket.socket(fileno=descriptor)
        try:
            return connection.family in (socket.AF_INET, socket.AF_INET6) and connection.getpeername()[1]
        finally:
            connection.detach()
    return None


async def test_an_answer_that_nobody_asked_for_is_not_taken_for_the_next_one(client):
    bad = OK.replace(b"ok", b"no")
    async with raw_server(OK, bad, wait_seconds=0.02) as server:
        assert (await fetched(client, server))[1] == b"ok"
        await asyncio.sleep(0.1)
        assert (await fetched(client, server))[1] == b"ok"
    assert (server.connections, len(server.requests)) == (2, 2)


async def test_a_request_over_a_connection_that_was_closed_is_repeated(client):
    async with raw_server(OK, keep=False) as server:
        for _ in range(2):
            assert (await fetched(client, server))[1] == b"ok"
    assert (server.connections, len(server.requests)) == (2, 2)


async def test_a_request_leaves_twice_at_most():
    async with raw_server(OK) as server:
        transfer = transfer_of(server)
        transfer.begin()
        sent = [transfer.before_send("127.0.0.1", "127.0.0.1", server.port, 50_000) for _ in range(3)]
    assert sent == [pycurl.PREREQFUNC_OK, pycurl.PREREQFUNC_OK, pycurl.PREREQFUNC_ABORT]


async def test_a_worker_that_slept_while_it_connected_sends_nothing(client):
    async with raw_server(OK) as server:
        transfer = transfer_of(server)
        run = asyncio.create_task(client.run(transfer))
        await asyncio.sleep(0)
        transfer.end = time.monotonic() - 0.01
        with pytest.raises(FetchFailed, match="timeout"):
            await run
        await asyncio.wait_for(server.closed.wait(), 5)
    assert (server.connections, server.requests) == (1, [])


@pytest.mark.parametrize(
    ("pieces", "reason", "retry"),
    [
        ([b"SSH-2.0-OpenSSH_9\r\n"], "does not speak HTTP", False),
        ([b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n"], "sends a header line without a colon", False),
        ([b"HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\n\r\n"], "redirects to two addresses", False),
        ([b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nraw"], "does not speak HTTP", False),
        ([b""], "connection failed", True),
        ([b"HTTP/1.1 200 OK\r\nContent-Le"], "connection failed", True),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"], "truncated before its first byte", False),
        ([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"], "truncated before its first byte", False),
        ([b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nplain"], "cannot be decompressed", False),
        ([b"HTTP/1.1 200 OK\r\nContent-Encoding: br, br, br, br\r\n\r\nplain"], "cannot be decompressed", False),
        ([b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * MAX_HEAD_LINES], "too many headers", False),
        ([b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000], "too many headers", False),
        ([b"HTTP/1.1 200 OK\r\n" + b"X: %s\r\n" % (b"x" * 10_000) * 40], "too many headers", False),
        ([b"HTTP/1.1 100 Continue\r\n\r\n" * MAX_HEAD_LINES], "too many headers", False),
    ],
)
async def test_a_bad_response_fails_with_its_reason(client, pieces, reason, retry):
    async with raw_server(*pieces, keep=False) as server:
        with pytest.raises(FetchFailed) as failed:
            await fetched(client, server)
    assert (str(failed.value.reason), failed.value.retry) == (reason, retry)


async def test_a_port_without_a_server_refuses(client):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    async with raw_server(OK) as server:
        with pytest.raises(FetchFailed, match="connection refused"):
            await fetched(client, server, url=f"http://site.test:{port}/", endpoints=[("127.0.0.1", port)])


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/", "http://user:word@site.test/"])
async def test_only_plain_urls_of_http_are_requested(client, url):
    async with raw_server(OK) as server:
        with pytest.raises(FetchFailed):
            await fetched(client, server, url=url)
    assert server.requests == []


async def test_a_body_that_breaks_off_is_kept_as_truncated(client):
    async with raw_server(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nsolar", keep=False) as server:
        assert await fetched(client, server) == (200, b"solar", False)


async def test_a_body_is_not_counted_as_a_head(client):
    body = b"x\n" * 300_000
    async with raw_server(b"HTTP/1.1 200 OK\r\n\r\n" + body, keep=False) as server:
        assert await fetched(client, server) == (200, body, True)


async def test_a_body_is_cut_at_its_limit_and_the_connection_closed(client):
    async with raw_server(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 100_000) as server:
        status, body, is_complete = await fetched(client, server, max_bytes=1000)
        await asyncio.wait_for(server.closed.wait(), 5)
    assert (status, len(body), is_complete) == (200, 1000, False)


async def test_large_bodies_are_cut_when_all_together_are_too_large(client, monkeypatch):
    monkeypatch.setattr(transfer_module, "SMALL_BYTES", 1000)
    body_memory = BodyMemoryLimit(5000)
    async with (
        raw_server(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n" + b"x" * 900) as small,
        raw_server(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 100_000, keep=False) as large,
    ):
        transfer = transfer_of(large, body_memory=body_memory)
        assert not await client.run(transfer)
        assert await fetched(client, small, body_memory=body_memory) == (200, b"x" * 900, True)
        transfer.release()


async def test_time_that_is_up_keeps_what_arrived(client):
    async with raw_server(b"HTTP/1.1 200 OK\r\n\r\nsolar", b" cells", wait_seconds=60) as server:
        transfer = transfer_of(server)
        run = asyncio.create_task(client.run(transfer))
        await _until(lambda: transfer._held)
        transfer.check(transfer.end - 0.01)
        assert not run.done()
        transfer.check(transfer.end)
        assert await run is False
        assert transfer.body() == b"solar"


async def test_a_body_that_drips_is_broken_off(client):
    async with raw_server(b"HTTP/1.1 200 OK\r\n\r\nsolar", b" cells", wait_seconds=60) as server:
        transfer = transfer_of(server, timeout_seconds=60.0)
        run = asyncio.create_task(client.run(transfer))
        await _until(lambda: transfer._held)
        transfer.check(transfer.start + 9.9)
        assert not run.done()
        transfer.check(transfer.start + 10.1)
        assert await run is False


async def test_nothing_within_the_time_is_a_timeout(client):
    async with raw_server(b"", b"HTTP/1.1 200 OK\r\n", wait_seconds=60) as server:
        transfer = transfer_of(server)
        run = asyncio.create_task(client.run(transfer))
        await _until(lambda: server.requests)
        transfer.check(transfer.end)
        with pytest.raises(FetchFailed, match="timeout"):
            await run


async def test_libcurl_ends_a_fetch_that_nobody_checks(client, monkeypatch):
    monkeypatch.setattr(transfer_module, "_SPARE_SECONDS", 0.0)
    async with raw_server(b"", b"HTTP/1.1 200 OK\r\n", wait_seconds=60) as server:
        with pytest.raises(FetchFailed, match="timeout"):
            await fetched(client, server, timeout_seconds=0.1)


@pytest.mark.parametrize("part", ["open_socket", "_send_refusal", "_add", "take"])
async def test_an_error_of_ours_fails_the_fetch_and_no_other(client, monkeypatch, part):
    async with raw_server(OK) as server:
        transfer = transfer_of(server)
        owner = transfer.head if part == "take" else transfer
        target = "_address_refusal" if part == "open_socket" else part
        monkeypatch.setattr(owner, target, lambda *_: 1 / 0)
        with pytest.raises(FetchFailed, match="ZeroDivisionError"):
            await client.run(transfer)
        assert (await fetched(client, server))[1] == b"ok"


async def test_an_error_while_a_socket_is_watched_stops_no_other_fetch(client, monkeypatch):
    async with raw_server(OK) as server:
        with monkeypatch.context() as patch:
            patch.setattr(client, "_watch", lambda *_: 1 / 0)
            transfer = transfer_of(server)
            run = asyncio.create_task(client.run(transfer))
            await asyncio.sleep(0.05)
            transfer.check(transfer.end)
            with pytest.raises(FetchFailed, match="timeout"):
                await run
        assert (await fetched(client, server))[1] == b"ok"


async def test_a_fetch_that_is_cancelled_closes_its_connection(client):
    async with raw_server(b"HTTP/1.1 200 OK\r\n\r\nsolar") as server:
        run = asyncio.create_task(client.run(transfer_of(server)))
        await _until(lambda: server.requests)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await asyncio.wait_for(server.closed.wait(), 5)
    assert client._running == client._events == {}


async def test_a_client_that_is_closed_ends_all_fetches(client):
    async with raw_server(b"", b"late", wait_seconds=60) as server:
        runs = [asyncio.create_task(client.run(transfer_of(server))) for _ in range(3)]
        await _until(lambda: len(server.requests) == 3)
        client.close()
        results = await asyncio.gather(*runs, return_exceptions=True)
        assert [type(result) for result in results] == [ClientClosed] * 3
        assert [descriptor for descriptor in _descriptors() if _remote_port(descriptor) == server.port] == []
        with pytest.raises(ClientClosed):
            await fetched(client, server)


async def test_many_fetches_leave_no_sockets_behind(client):
    async with raw_server(OK, keep=False) as server:
        for _ in range(5):
            await asyncio.gather(*(fetched(client, server) for _ in range(20)))
        await asyncio.sleep(0.05)
        assert len(client._unused) <= 20
        assert client._running == {}


async def _until(condition):
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.005)


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("SSL certificate problem: certificate has expired", "has expired"),
        ("SSL certificate problem: certificate is not yet valid", "is not valid yet"),
        ("SSL: no alternative certificate subject name matches target host name 'a.test'", "is for another host"),
        ("SSL certificate problem: self-signed certificate", "is self-signed"),
        ("SSL certificate problem: unable to get local issuer certificate", "is not from a trusted authority"),
        ("anything else", "is not trusted"),
    ],
)
def test_the_problem_of_a_certificate_is_named(message, problem):
    failure = failure_for(pycurl.E_PEER_FAILED_VERIFICATION, 0, message)
    assert (failure.problem, failure.retry) == (problem, False)


@pytest.mark.parametrize(
    ("message", "retry"),
    [
        ("TLS connect error: error:0A000102:SSL routines::unsupported protocol", False),
        ("TLS connect error: error:0A00042E:SSL routines::tlsv1 alert protocol version", False),
        ("OpenSSL SSL_connect: Connection reset by peer", True),
    ],
)
def test_tls_that_is_too_old_is_not_tried_again(message, retry):
    assert failure_for(pycurl.E_SSL_CONNECT_ERROR, 0, message).retry is retry


def test_what_is_not_http_is_no_reason_to_retry():
    assert not NotHttp().retry

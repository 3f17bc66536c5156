"""A head has an end, or the connection has."""

import socket
from time import monotonic

import pytest
from twisted.internet.interfaces import IHandshakeListener
from twisted.internet.tcp import Connection
from twisted.internet.testing import MemoryReactor, StringTransport
from twisted.web._newclient import Request
from twisted.web.http_headers import Headers

from thresher.engine.download.header_limits import (
    MAX_HEAD_BYTES,
    MAX_HEAD_LINES,
    BoundedHeaders,
    BoundedProtocol,
    HeadTooLong,
)


class Transport(StringTransport):
    """One that is asked to send at once, as those of sockets are."""

    sent = b""

    def doWrite(self):  # Twisted's name
        self.sent = self.value()


def requested(headers):
    return Request._construct(b"GET", b"/", headers, None, False, None)


def begun(send_by):
    protocol, transport, results = BoundedProtocol(), Transport(), []
    headers = BoundedHeaders({b"host": [b"a.example"]})
    headers.send_by = send_by
    protocol.makeConnection(transport)
    protocol.request(requested(headers)).addBoth(results.append)
    return protocol, transport, results


def ask(*pieces):
    """Return what a request led to, and whether its connection was closed."""
    protocol, transport, results = BoundedProtocol(), Transport(), []
    protocol.makeConnection(transport)
    protocol.request(requested(Headers({b"host": [b"a.example"]}))).addBoth(results.append)
    for piece in pieces:
        if not transport.disconnected:
            protocol.dataReceived(piece)
    return results, transport.disconnected


def lines(count, size):
    return b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%06d: %s\r\n" % (n, b"x" * size) for n in range(count)) + b"\r\n"


def test_an_ordinary_head_is_read():
    results, closed = ask(lines(50, 100))
    assert results[0].code == 200
    assert results[0].headers.getRawHeaders(b"x-000049") == [b"x" * 100]
    assert not closed


@pytest.mark.parametrize(
    "head",
    [
        lines(400, 1000),
        lines(MAX_HEAD_LINES + 1, 1),
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20_000,
        b"HTTP/1.1 100 Continue\r\n\r\n" * MAX_HEAD_LINES,
    ],
    ids=["bytes", "lines", "one line", "announced again and again"],
)
def test_a_head_that_is_too_long_ends_the_connection(head):
    results, closed = ask(*(head[start : start + 65_536] for start in range(0, len(head), 65_536)))
    assert [type(failure.value) for failure in results[0].value.reasons] == [HeadTooLong]
    assert closed


def test_a_body_is_not_counted():
    results, closed = ask(b"HTTP/1.1 200 OK\r\n\r\n", b"x\n" * MAX_HEAD_BYTES)
    assert results[0].code == 200
    assert not closed


def test_a_request_in_time_is_sent_before_anything_else_happens():
    _, transport, results = begun(monotonic() + 60.0)
    assert transport.sent.startswith(b"GET / HTTP/1.1\r\n")
    assert results == []


def test_a_request_in_time_is_with_the_kernel_before_the_loop_turns():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as near:
        protocol = BoundedProtocol()
        connection = Connection(near, protocol, MemoryReactor())
        connection.connected = True
        protocol.makeConnection(connection)
        protocol.request(requested(Headers({b"host": [b"a.example"]})))
        with server.accept()[0] as far:
            far.settimeout(5.0)
            assert far.recv(100).startswith(b"GET / HTTP/1.1\r\n")


def test_a_request_that_is_too_late_is_not_sent():
    _, transport, results = begun(monotonic() - 0.001)
    assert (transport.value(), transport.disconnected) == (b"", True)
    assert "too late" in str(results[0].value)


def test_what_waits_for_a_handshake_that_ends_too_late_is_not_sent(monkeypatch):
    protocol, transport, _ = begun(monotonic() + 60.0)
    assert IHandshakeListener.providedBy(protocol)
    protocol.handshakeCompleted()
    assert not transport.disconnected
    later = monotonic() + 61.0
    monkeypatch.setattr("thresher.engine.download.header_limits.monotonic", lambda: later)
    protocol.handshakeCompleted()
    assert transport.disconnected

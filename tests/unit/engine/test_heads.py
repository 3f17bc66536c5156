"""A head has an end, or the connection has."""

import pytest
from twisted.internet.testing import StringTransport
from twisted.web._newclient import Request
from twisted.web.http_headers import Headers

from thresher.engine.heads import MAX_HEAD_BYTES, MAX_HEAD_LINES, BoundedProtocol, HeadTooLong


def ask(*pieces):
    """Return what a request led to, and whether its connection was closed."""
    protocol, transport, results = BoundedProtocol(), StringTransport(), []
    protocol.makeConnection(transport)
    request = Request._construct(b"GET", b"/", Headers({b"host": [b"a.example"]}), None, False, None)
    protocol.request(request).addBoth(results.append)
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

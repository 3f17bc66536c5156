"""Scripted answers as a client sees them, over sockets."""

import contextlib
import json
import socket
import ssl
import time
from http.client import HTTPConnection

import pytest

from testing.recording_server import (
    Answer,
    Fill,
    Generated,
    bomb,
    busy,
    drip,
    echo,
    hang,
    page,
    recorder,
    redirect,
    reset,
    slow_head,
    text,
)
from testing.recording_server.site import Site

SITE = Site(pages=10, hosts=2)
SCRIPT = {
    "a.test": {
        "/": page("Title", "text", ["/b"]),
        "/robots.txt": [text("User-agent: *\nAllow: /"), 503],
        "/twice": Answer(status=418, headers=[("X-A", "1"), ("X-A", "2")], content_type=None),
        "/big": Answer(body=Fill(size=5_000_000, pattern="x")),
        "/bomb": bomb(3 << 20, "gzip"),
        "/late": Answer(wait_seconds=0.2, body="late"),
        "/paced": Answer(bytes_per_second=100, body="x" * 30),
        "/slow-head": slow_head(1000, body="x"),
        "/drip": drip(1),
        "/hang": hang(),
        "/hang-later": Answer(hang_after=4, body="0123456789"),
        "/reset": reset(),
        "/reset-later": Answer(reset_after=4, body="0123456789"),
        "/early": Answer(close_after=4, body="0123456789"),
        "/long": Answer(content_length=50, body="short"),
        "/close": Answer(framing="close", body="to the end"),
        "/chunked": Answer(framing="chunked", body="in chunks"),
        "/broken": Answer(framing="broken", body=Fill(size=100_000, pattern="x")),
        "/hops/*": Generated("hops", {"count": 2}),
        "/busy": busy(429, retry_after=120),
        "/echo": echo(),
        "/many": Answer(many_headers=(1000, 10)),
        "/raw": Answer(raw_head=b"HTTP/1.1 200 OK\r\nbroken\n\n", body="x"),
        "/failing": Generated("no_such_function"),
        "/unknown-coding": bomb(10, "lha"),
    },
    "b.test": {"/": "<p>another host</p>"},
    "127.0.0.2": {"/robots.txt": redirect("/elsewhere", 301)},
}


@pytest.fixture(scope="module")
def w():
    with recorder(SCRIPT, site=SITE) as running:
        yield running


def connect(w, *, tls: bool = False) -> socket.socket:
    address = w.connect_to["*:443" if tls else "*:80"]
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=5)


def raw(w, path: str, host: str = "a.test", *, seconds: float = 5.0) -> bytes:
    """Ask for a path and return all bytes until the end, or until nothing came for so long."""
    received = b""
    with connect(w) as client:
        client.settimeout(seconds)
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        with contextlib.suppress(TimeoutError, ConnectionResetError):
            while data := client.recv(1 << 16):
                received += data
    return received


def get(w, path: str, host: str = "a.test"):
    address, _, port = w.connect_to["*:80"].rpartition(":")
    connection = HTTPConnection(address, int(port), timeout=5)
    with contextlib.closing(connection):
        connection.request("GET", path, headers={"Host": host})
        response = connection.getresponse()
        return response, response.read()


def last_hit(w, path: str, host: str = "a.test"):
    return w.hits(host, path)[-1]


def test_names_share_a_port_and_have_their_own_pages(w):
    assert b'<a href="/b">' in get(w, "/")[1]
    assert get(w, "/", "b.test")[1] == b"<p>another host</p>"
    assert get(w, "/", "c.test")[0].status == 404
    hit = last_hit(w, "/", "b.test")
    assert (hit.host, hit.address, hit.status, hit.header("HOST")) == ("b.test", w.places["*"], 200, "b.test")
    assert hit.start_ns <= hit.sent_ns <= hit.end_ns


def test_what_the_script_leaves_open_the_site_answers(w):
    address, _, path = SITE.key(0).partition("/")
    with contextlib.closing(HTTPConnection(address, w.port, timeout=5)) as connection:
        connection.request("GET", f"/{path}")
        assert connection.getresponse().read() == SITE.render(0, w.port)
        connection.request("GET", "/robots.txt")
        assert connection.getresponse().getheader("Location") == "/elsewhere"
    assert [hit.status for hit in w.hits("127.0.0.2")] == [200, 301]


def test_a_name_can_be_asked_over_tls(w):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(connect(w, tls=True), server_hostname="b.test") as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: b.test\r\n\r\n")
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 200 OK\r\n")


def test_robots_txt_can_change(w):
    assert [get(w, "/robots.txt", "a.test")[0].status for _ in range(3)] == [200, 503, 503]


def test_a_header_can_come_twice(w):
    response, _ = get(w, "/twice")
    assert (response.status, response.msg.get_all("X-A")) == (418, ["1", "2"])
    assert response.getheader("Content-Type") is None


def test_large_bodies_arrive_whole(w):
    response, body = get(w, "/big")
    assert (response.getheader("Content-Length"), body) == ("5000000", b"x" * 5_000_000)
    response, body = get(w, "/bomb")
    assert (response.getheader("Content-Encoding"), len(body) < 10_000) == ("gzip", True)
    assert last_hit(w, "/big").sent_bytes > 5_000_000


def test_answers_take_their_time(w):
    for path, seconds in (("/late", 0.2), ("/paced", 0.3), ("/slow-head", 0.06)):
        began = time.monotonic()
        assert get(w, path)[0].status == 200
        assert time.monotonic() - began >= seconds * 0.9
        hit = last_hit(w, path)
        assert hit.end_ns - hit.start_ns >= seconds * 0.9e9


def test_a_client_that_gives_up_is_seen_to_leave(w):
    assert raw(w, "/hang", seconds=0.2) == b""
    assert raw(w, "/hang-later", seconds=0.2).endswith(b"\r\n\r\n0123")
    assert raw(w, "/drip", seconds=0.2).startswith(b"HTTP/1.1 200 OK\r\n")
    found = {hit.path: hit for hit in w.hits("a.test") if hit.left}
    assert {path: found[path].status for path in ("/hang", "/hang-later", "/drip")} == {
        "/hang": 0,
        "/hang-later": 200,
        "/drip": 200,
    }
    assert found["/hang"].end_ns - found["/hang"].start_ns > 0.15e9


def test_connections_are_reset_and_closed_early(w):
    for path in ("/reset", "/reset-later"):
        with connect(w) as client, client.makefile("rb") as answer:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: a.test\r\n\r\n".encode())
            with pytest.raises(ConnectionResetError):
                answer.read()
    assert raw(w, "/early").endswith(b"Content-Length: 10\r\n\r\n0123")
    hit = last_hit(w, "/reset")
    assert (hit.status, hit.sent_bytes, hit.left) == (0, 0, False)


def test_bodies_are_framed_in_every_way(w):
    assert raw(w, "/long").endswith(b"Content-Length: 50\r\n\r\nshort")
    assert raw(w, "/close").endswith(b"Connection: close\r\n\r\nto the end")
    assert raw(w, "/chunked", seconds=0.2).endswith(b"\r\n\r\n9\r\nin chunks\r\n0\r\n\r\n")
    assert raw(w, "/broken").endswith(b"no number\r\n\r\n")
    assert raw(w, "/raw") == b"HTTP/1.1 200 OK\r\nbroken\n\nx"


def test_redirects_lead_on(w):
    seen = [get(w, f"/hops/{hop}")[0] for hop in range(3)]
    assert [(each.status, each.getheader("Location")) for each in seen] == [
        (302, "/hops/1"),
        (302, "/hops/2"),
        (200, None),
    ]


def test_a_busy_host_says_when_to_come_back(w):
    response, _ = get(w, "/busy")
    assert (response.status, response.getheader("Retry-After")) == (429, "120")


def test_an_echo_tells_the_request(w):
    assert ["Host", "a.test"] in json.loads(get(w, "/echo")[1])["headers"]


def test_headers_can_be_many(w):
    assert raw(w, "/many", seconds=0.2).count(b"\r\nX-Filler-") == 1000


def test_a_function_that_fails_is_reported(w):
    response, body = get(w, "/failing")
    assert (response.status, b"no_such_function" in body) == (500, True)
    raw(w, "/unknown-coding")
    assert last_hit(w, "/unknown-coding").left is False


def test_a_connection_is_kept_for_the_next_request(w):
    address, _, port = w.connect_to["*:80"].rpartition(":")
    with contextlib.closing(HTTPConnection(address, int(port), timeout=5)) as connection:
        for path in ("/", "/chunked", "/late", "/"):
            connection.request("GET", path, headers={"Host": "a.test"})
            connection.getresponse().read()
            first = connection.sock
        assert connection.sock is first


def test_urls_of_names_and_addresses(w):
    assert w.url("a.test", "/x") == "http://a.test/x"
    assert w.url("127.0.0.2") == f"http://127.0.0.2:{w.port}/"
    assert w.connect_to["a.test:80"] == f"{w.places['a.test']}:{w.port}"

import socket
import time
from http.client import HTTPConnection

import pytest

from testing.recording_server.process import running
from testing.recording_server.report import max_parallel
from testing.recording_server.server import bind
from testing.recording_server.site import Site

SITE = Site(pages=50, hosts=5)


@pytest.fixture
def recorder(tmp_path):
    with running(SITE, tmp_path / "hits.csv", "--robots=404", "--latency=0.05") as recorder:
        yield recorder


def get(recorder, *keys, method="GET"):
    """Ask for pages of one host over one connection."""
    address = keys[0].partition("/")[0]
    connection = HTTPConnection(address, recorder.port, timeout=10)
    answers = []
    for key in keys:
        connection.request(method, key.removeprefix(address))
        response = connection.getresponse()
        answers.append((response.status, response.read()))
    connection.close()
    return answers


def test_pages_come_as_generated_and_each_request_is_logged(recorder):
    page = SITE.key(3)
    host = page.partition("/")[0]
    answers = get(recorder, page, f"{host}/robots.txt", f"{host}/no-such-page")
    assert [status for status, _ in answers] == [200, 404, 404]
    assert answers[0][1] == SITE.render(3, recorder.port)
    hits = recorder.hits()
    assert [(hit.key, hit.status) for hit in hits] == [
        (page, 200),
        (f"{host}/robots.txt", 404),
        (f"{host}/no-such-page", 404),
    ]
    assert all(hit.start_ns + 50_000_000 <= hit.sent_ns <= hit.end_ns for hit in hits)
    assert recorder.ended() == 3


def test_a_page_lives_on_one_host_only(recorder):
    page = SITE.key(3).partition("/")[2]
    other = next(address for address in SITE.addresses if not SITE.key(3).startswith(address + "/"))
    assert get(recorder, f"{other}/{page}")[0][0] == 404


def test_head_has_no_body(recorder):
    assert get(recorder, SITE.key(3), method="HEAD") == [(200, b"")]


def test_a_client_that_goes_away_is_logged_without_an_answer(recorder):
    address, _, path = SITE.key(4).partition("/")
    with socket.create_connection((address, recorder.port), timeout=10) as client:
        client.sendall(f"GET /{path} HTTP/1.1\r\nHost: {address}\r\n\r\n".encode())
        time.sleep(0.01)  # the recording server takes 0.05 s to answer
    for _ in range(100):
        if recorder.ended():
            break
        time.sleep(0.01)
    [hit] = recorder.hits()
    assert (hit.key, hit.status) == (SITE.key(4), 0)
    assert hit.end_ns - hit.start_ns < 50_000_000


def test_two_requests_open_at_once_are_seen(recorder):
    page = SITE.key(4)
    address, _, path = page.partition("/")
    clients = [socket.create_connection((address, recorder.port), timeout=10) for _ in range(2)]
    for client in clients:
        client.sendall(f"GET /{path} HTTP/1.1\r\nHost: {address}\r\n\r\n".encode())
    for client in clients:
        assert client.recv(15) == b"HTTP/1.1 200 OK"
        client.close()
    assert max_parallel(recorder.hits()) == {address: 2}


def test_nothing_but_loopback_is_bound():
    with pytest.raises(ValueError, match="loopback only"):
        bind(["127.0.0.2", "0.0.0.0"], 0)

"""What passes the proxy is read strictly, and says nothing to a server that was meant for the proxy."""

import pytest

from thresher.engine.browser.proxy import BadHead, Head


def head(text):
    return Head.read((text.replace("\n", "\r\n") + "\r\n\r\n").encode())


def test_a_request_to_a_proxy_names_its_place():
    assert head("GET http://a.example/x HTTP/1.1").place() == ("a.example", 80)
    assert head("GET http://a.example:8080/x HTTP/1.1").place() == ("a.example", 8080)
    assert head("GET http://[::1]:81/ HTTP/1.1").place() == ("::1", 81)
    assert head("CONNECT a.example:443 HTTP/1.1").place() == ("a.example", 443)
    assert head("CONNECT [::1]:443 HTTP/1.1").place() == ("::1", 443)


@pytest.mark.parametrize(
    "first",
    [
        "GET / HTTP/1.1",
        "GET https://a.example/ HTTP/1.1",
        "GET ftp://a.example/ HTTP/1.1",
        "GET file:///etc/passwd HTTP/1.1",
        "GET http:///x HTTP/1.1",
        "GET http://a.example:99999/ HTTP/1.1",
        "GET http://a.example:x/ HTTP/1.1",
        "GET http://[::1/ HTTP/1.1",
        "CONNECT a.example HTTP/1.1",
    ],
)
def test_a_request_without_a_place_is_none(first):
    with pytest.raises(BadHead):
        head(first).place()


@pytest.mark.parametrize("text", ["GET", "GET http://a.example/ HTTP/1.1\nno colon", "GET / HTTP/1.1\n Folded: x"])
def test_what_is_no_head_is_refused(text):
    with pytest.raises(BadHead):
        head(text)


@pytest.mark.parametrize(
    "lines", ["Transfer-Encoding: chunked", "Content-Length: 1\nContent-Length: 2", "Content-Length: -1"]
)
def test_a_body_of_doubtful_length_is_refused(lines):
    with pytest.raises(BadHead):
        head(f"POST http://a.example/ HTTP/1.1\n{lines}").body_bytes()


def test_a_server_receives_nothing_that_was_meant_for_the_proxy():
    asked = head(
        "GET http://a.example/x?y=1 HTTP/1.1\nHost: a.example\nProxy-Authorization: Basic secret\n"
        "Proxy-Connection: keep-alive\nReferer: http://b.example/\nUpgrade: websocket\nAccept: */*"
    )
    assert asked.for_server() == b"GET /x?y=1 HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\nConnection: close\r\n\r\n"


def test_a_browser_is_notified_that_its_connection_carries_no_second_request():
    answer = head("HTTP/1.1 200 Fine thanks\nConnection: keep-alive\nContent-Length: 2\nWWW-Authenticate: Basic")
    assert answer.for_browser() == b"HTTP/1.1 200 Fine thanks\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"

"""A head has an end, or the fetch has."""

import pytest

from thresher.engine.download.errors import HeadTooLong, NotHttp
from thresher.engine.download.transfer import MAX_HEAD_LINES, ResponseHead


def read(*lines):
    head = ResponseHead()
    for line in lines:
        head.take(line + b"\r\n")
    return head


def test_an_ordinary_head_is_read_line_by_line():
    head = read(b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"x-a:1", b"X-A:  2 ", b"")
    assert (head.status, head.is_complete) == (200, True)
    assert head.lines == [("Content-Type", "text/html"), ("x-a", "1"), ("X-A", "2")]
    assert head.values("x-a") == ["1", "2"]


def test_a_head_is_complete_after_its_empty_line_only():
    assert not read(b"HTTP/1.1 200 OK", b"A: b").is_complete


def test_interim_responses_are_dropped():
    head = read(b"HTTP/1.1 103 Early Hints", b"Link: </a>", b"", b"HTTP/1.1 404 Not Found", b"")
    assert (head.status, head.lines) == (404, [])


@pytest.mark.parametrize("line", [b"HTTP/1.0 200", b"HTTP/1.1 299 a b", b"HTTP/1.1  200  odd", b"HTTP/2 200"])
def test_status_lines_of_all_kinds_are_read(line):
    assert 200 <= read(line).status < 300


@pytest.mark.parametrize(
    "lines",
    [
        [b"SSH-2.0-OpenSSH"],
        [b"HTTP/1.1 2000 OK"],
        [b"HTTP/1.1 099 OK"],
        [b"HTTP/1.1 101 Switching Protocols"],
    ],
    ids=["another protocol", "four digits", "too low", "another protocol afterwards"],
)
def test_what_is_not_http_is_refused(lines):
    with pytest.raises(NotHttp):
        read(*lines)


@pytest.mark.parametrize(
    "lines",
    [
        [b"X-%06d: %s" % (number, b"x" * 1000) for number in range(400)],
        [b"X: x"] * MAX_HEAD_LINES,
    ],
    ids=["bytes", "lines"],
)
def test_a_head_that_is_too_long_is_refused(lines):
    with pytest.raises(HeadTooLong):
        read(b"HTTP/1.1 200 OK", *lines)


def test_one_line_may_be_as_long_as_the_head():
    assert len(read(b"HTTP/1.1 200 OK", b"X: " + b"x" * 90_000, b"").values("x")[0]) == 90_000


def test_lines_that_are_no_headers_are_skipped():
    head = read(b"HTTP/1.1 200 OK", b"no colon", b": no name", b"X Y : odd name", b"A: b", b"")
    assert head.lines == [("X Y", "odd name"), ("A", "b")]


def test_trailers_are_counted_and_dropped():
    assert read(b"HTTP/2 200", b"a: b", b"", b"a: c").lines == [("a", "b")]
    with pytest.raises(HeadTooLong):
        read(b"HTTP/2 200", b"a: b", b"", *[b"x: y"] * MAX_HEAD_LINES)


def test_a_response_announced_again_and_again_is_refused():
    with pytest.raises(HeadTooLong):
        read(*[b"HTTP/1.1 100 Continue", b""] * MAX_HEAD_LINES)

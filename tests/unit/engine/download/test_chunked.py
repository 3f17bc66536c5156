"""Chunks are joined, in pieces of any size; what is not body is limited."""

import pytest

from thresher.engine.download.errors import HeadTooLong
from thresher.engine.download.transfer import MAX_LINE_BYTES, MAX_TRAILER_BYTES, ChunkedDecoder, MalformedChunks


def decode(data, piece=1000):
    decoder = ChunkedDecoder()
    return b"".join(decoder.take(data[start : start + piece]) for start in range(0, len(data), piece))


BODY = b"5\r\nhello\r\n7;name=value\r\n, world\r\n0\r\nX-Trailer: 1\r\n\r\n"


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 1000])
def test_chunks_are_joined_and_trailers_dropped(piece):
    assert decode(BODY, piece) == b"hello, world"


def test_line_breaks_may_be_bare_and_sizes_in_any_case():
    assert decode(b"A\n0123456789\n0\n\n") == decode(b"00a\r\n0123456789\r\n0\r\n\r\n") == b"0123456789"


@pytest.mark.parametrize("data", [b"x\r\n", b"-5\r\n", b"0x5\r\n", b"\r\n", b"5\r\nhello!\r\n", b"1" * 16 + b"\r\n"])
def test_what_is_not_a_chunk_is_refused(data):
    with pytest.raises(MalformedChunks):
        decode(data)


def test_the_body_before_an_error_is_kept():
    with pytest.raises(MalformedChunks) as raised:
        ChunkedDecoder().take(b"5\r\nhello\r\ngarbage\r\n")
    assert raised.value.body == b"hello"


@pytest.mark.parametrize("data", [b"5;" + b"x" * MAX_LINE_BYTES, b"0\r\n" + b"X: y\r\n" * MAX_TRAILER_BYTES])
def test_lines_and_trailers_have_an_end(data):
    with pytest.raises(HeadTooLong):
        decode(data)

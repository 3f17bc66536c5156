import gzip
import zlib

import brotli
import pytest
import zstandard

from testing.recording_server.bodies import BLOCK_BYTES, pieces, size_of
from testing.recording_server.script import Fill, Packed

UNPACK = {
    "gzip": gzip.decompress,
    "deflate": zlib.decompress,
    "raw-deflate": lambda data: zlib.decompress(data, -15),
    "br": brotli.decompress,
    "zstd": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}


def whole(body) -> bytes:
    return b"".join(pieces(body))


def test_a_filled_body_has_its_start_its_pattern_and_its_size():
    body = Fill(size=200_001, pattern="abc", start="<p>")
    assert whole(body) == (b"<p>" + b"abc" * 100_000)[:200_001]
    assert size_of(body) == 200_001


def test_an_endless_body_goes_on():
    made = pieces(Fill(size=None, pattern="x"))
    assert all(next(made).strip(b"x") == b"" for _ in range(100))
    assert size_of(Fill(size=None)) is None


@pytest.mark.parametrize("coding", UNPACK)
def test_a_packed_body_unpacks_to_what_it_was(coding):
    size = 3 * BLOCK_BYTES + 5
    packed = whole(Packed(body=Fill(size=size, pattern="ab c", start="<p>"), codings=[coding]))
    assert len(packed) < size / 200
    assert UNPACK[coding](packed) == (b"<p>" + b"ab c" * size)[:size]
    assert UNPACK[coding](whole(Packed(body="hello", codings=[coding]))) == b"hello"


def test_codings_nest():
    packed = whole(Packed(body=Fill(size=1 << 24), codings=["br", "gzip", "zstd"]))
    assert UNPACK["br"](UNPACK["gzip"](UNPACK["zstd"](packed))) == bytes(1 << 24)

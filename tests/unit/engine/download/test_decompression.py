"""Bodies are unpacked as they come, and no further than was asked for."""

import gzip
import random
import zlib

import brotli
import pytest
import zstandard

from thresher.engine.download.decompression import MAX_MEMBERS, Decompressor, Undecodable, codings

PACK = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}
TEXT = b"perovskite solar cells " * 5_000


def unpack(data, names, max_bytes=1 << 20, piece=1000):
    unpacker = Decompressor(names, max_bytes)
    whole = all(unpacker.take(data[place : place + piece]) for place in range(0, len(data), piece))
    return unpacker.body(), whole


@pytest.mark.parametrize("name", PACK)
@pytest.mark.parametrize("piece", [1, 1000, 1 << 20])
def test_what_was_packed_is_unpacked_in_pieces_of_any_size(name, piece):
    assert unpack(PACK[name](TEXT), [name], piece=piece) == (TEXT, True)


@pytest.mark.parametrize("name", PACK)
def test_a_body_of_noise_is_unpacked(name):
    noise = random.Random(0).randbytes(300_000)
    assert unpack(PACK[name](noise), [name]) == (noise, True)


@pytest.mark.parametrize("name", PACK)
def test_a_bomb_is_unpacked_up_to_the_bound(name):
    body, whole = unpack(PACK[name](bytes(20 << 20)), [name], max_bytes=1 << 20)
    assert (len(body), whole) == (1 << 20, False)


@pytest.mark.parametrize("name", PACK)
def test_a_body_of_exactly_the_bound_is_whole(name):
    assert unpack(PACK[name](bytes(1 << 20)), [name], max_bytes=1 << 20, piece=1 << 21) == (bytes(1 << 20), True)


def test_three_codings_nest_and_the_last_one_applied_comes_off_first():
    packed = PACK["br"](PACK["gzip"](PACK["zstd"](TEXT)))
    assert unpack(packed, ["zstd", "gzip", "br"]) == (TEXT, True)


def test_an_inner_coding_that_unfolds_to_nothing_is_bounded_too():
    inner = gzip.compress(b"") * 100_000
    body, whole = unpack(gzip.compress(inner), ["gzip", "gzip"], max_bytes=1 << 20)
    assert (body, whole) == (b"", False)


def test_a_body_packed_four_times_is_refused():
    with pytest.raises(Undecodable, match="4 times"):
        Decompressor(["gzip"] * 4, 1000)


def test_deflate_without_its_header_is_read():
    assert unpack(zlib.compress(TEXT)[2:-4], ["deflate"]) == (TEXT, True)


def test_gzip_may_have_members_and_padding():
    assert unpack(gzip.compress(b"one ") + gzip.compress(b"two") + bytes(100), ["gzip"]) == (b"one two", True)


def test_gzip_may_not_have_members_without_end():
    assert unpack(gzip.compress(b"x") * (MAX_MEMBERS + 5), ["gzip"]) == (b"x" * MAX_MEMBERS, False)


def test_zstd_may_have_frames():
    assert unpack(PACK["zstd"](b"one ") + PACK["zstd"](b"two"), ["zstd"], piece=7) == (b"one two", True)


def test_zstd_with_a_window_beyond_the_standard_is_refused():
    long = zstandard.ZstdCompressionParameters(window_log=27)
    packed = zstandard.ZstdCompressor(compression_params=long).compressobj().compress(TEXT * 100)
    stream = zstandard.ZstdCompressor(compression_params=long).compressobj()
    packed = stream.compress(TEXT * 100) + stream.flush()
    with pytest.raises(Undecodable):
        unpack(packed, ["zstd"])


@pytest.mark.parametrize("name", PACK)
def test_what_is_not_packed_at_all_is_refused(name):
    with pytest.raises(Undecodable):
        unpack(b"<html>plain text</html>" * 10, [name])


@pytest.mark.parametrize("name", PACK)
def test_what_stops_halfway_is_kept(name):
    noise = random.Random(0).randbytes(300_000)
    packed = PACK[name](noise)
    body, whole = unpack(packed[: len(packed) // 2], [name])
    assert whole
    assert body
    assert noise.startswith(body)


def test_a_plain_body_is_cut_at_the_bound():
    assert unpack(b"x" * 5000, [], max_bytes=4500) == (b"x" * 4500, False)


def test_unknown_codings_are_taken_for_none():
    assert unpack(b"text", codings(["identity, UTF-8"])) == (b"text", True)


def test_codings_are_read_from_several_lines():
    assert codings(["gzip, BR", " deflate"]) == ["gzip", "br", "deflate"]

"""Our frames are those of another library, byte by byte, and damaged ones are refused."""

import pytest
import zstandard

from thresher.compression import zstd

TEXT = "solar cells 钙钛矿 ".encode() * 5_000
DICTIONARY = zstd.train_dict([TEXT[:40] + str(number).encode() * 20 for number in range(500)], 4_096)


@pytest.mark.parametrize("content", [b"", b"x", TEXT])
@pytest.mark.parametrize("checksum", [False, True])
def test_a_frame_is_what_versions_up_to_0_2_0_wrote(content, checksum):
    compressor = zstd.FrameCompressor(1, checksum=checksum)
    compressor.compress(b"one before")
    packed = compressor.compress(content)
    assert packed == zstandard.ZstdCompressor(level=1, write_checksum=checksum).compress(content)
    assert packed.startswith(zstd.FRAME_HEADER)
    assert zstd.decompress(packed) == content


def test_a_dictionary_is_shared_by_both():
    packed = zstd.FrameCompressor(3, dictionary=DICTIONARY).compress(TEXT[:60])
    theirs = zstandard.ZstdCompressionDict(DICTIONARY.dict_content)
    assert zstandard.ZstdDecompressor(dict_data=theirs).decompress(packed) == TEXT[:60]
    assert zstd.decompress(packed, dictionary=DICTIONARY) == TEXT[:60]


PACKED = zstd.FrameCompressor(1, checksum=True).compress(TEXT)


@pytest.mark.parametrize("damaged", [b"", b"no frame", PACKED[:30], PACKED[:-1], PACKED[:-1] + b"\0"])
def test_a_damaged_frame_is_refused(damaged):
    with pytest.raises(zstd.ZstdError):
        zstd.decompress(damaged)


def test_a_frame_of_unknown_size_is_read_up_to_its_limit():
    stream = zstandard.ZstdCompressor().compressobj()
    packed = stream.compress(TEXT) + stream.flush()
    assert zstd.decompress(packed, max_bytes=len(TEXT)) == TEXT
    with pytest.raises(zstd.ZstdError):
        zstd.decompress(packed, max_bytes=len(TEXT) - 1)

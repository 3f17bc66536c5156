"""zstd frames, with the module of Python 3.14 or its copy for older versions."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import (
        CompressionParameter,
        DecompressionParameter,
        ZstdCompressor,
        ZstdDecompressor,
        ZstdDict,
        ZstdError,
        ZstdFile,
        train_dict,
    )
else:
    from backports.zstd import (
        CompressionParameter,
        DecompressionParameter,
        ZstdCompressor,
        ZstdDecompressor,
        ZstdDict,
        ZstdError,
        ZstdFile,
        train_dict,
    )

__all__ = [
    "FRAME_HEADER",
    "DecompressionParameter",
    "FrameCompressor",
    "ZstdDecompressor",
    "ZstdDict",
    "ZstdError",
    "ZstdFile",
    "decompress",
    "train_dict",
]

FRAME_HEADER = b"\x28\xb5\x2f\xfd"
"""The first bytes of every frame."""


class FrameCompressor:
    """Makes frames that state their size; it may be used for many, which is faster than a new one for each.

    Args:
        level: 1 is fast, 3 is zstd's own default.
        checksum: Whether a frame ends with a checksum of its content.
    """

    def __init__(self, level: int, *, checksum: bool = False, dictionary: ZstdDict | None = None) -> None:
        options: dict[int, int] = {
            CompressionParameter.compression_level: level,
            CompressionParameter.checksum_flag: int(checksum),
        }
        self._compressor = ZstdCompressor(options=options, zstd_dict=dictionary)

    def compress(self, content: bytes) -> bytes:
        return self._compressor.compress(content, ZstdCompressor.FLUSH_FRAME)


def decompress(packed: bytes, *, max_bytes: int = -1, dictionary: ZstdDict | None = None) -> bytes:
    """Undo `FrameCompressor.compress`; what follows the frame is ignored.

    Raises:
        ZstdError: It is damaged, incomplete, or larger than `max_bytes`.
    """
    decompressor = ZstdDecompressor(zstd_dict=dictionary)
    # One byte more than is allowed: the end of a frame is only read while there is room.
    content = decompressor.decompress(packed, -1 if max_bytes < 0 else max_bytes + 1)
    if not decompressor.eof or 0 <= max_bytes < len(content):
        raise ZstdError("the frame is incomplete or too large")
    return content

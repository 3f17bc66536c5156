"""Encoding of state entries: small enough for a shared store, and read as data, never as code.

Entries of other workers may be damaged, of another version or from an untrusted source. Such an entry is skipped with a
warning in the log. A worker's own entry that cannot be read is an error, since continuing would overwrite it.

Arrays are in npz format: a zip of arrays, each with a header of type and shape. A hostile file may compress gigabytes
of zeros into kilobytes, declare a shape that no memory holds, or contain pickled objects, which would be executed when
loaded. Files written here are uncompressed and exactly as large as declared; nothing else is read.
"""

from __future__ import annotations

import io
import json
import logging
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

_NUMBERS_AND_TEXT = "biufU"


class BadArrays(ValueError):
    """The bytes are not arrays written by `pack_arrays`."""


def pack_arrays(arrays: Mapping[str, Any]) -> bytes:
    """Serialize arrays by name."""
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, **arrays)
    return packed.getvalue()


def unpack_arrays(packed: bytes) -> dict[str, Any]:
    """Undo `pack_arrays`; uses no more memory than the bytes.

    Raises:
        BadArrays: The bytes are not valid.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            _check(archive, len(packed))
        with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays}
    except (ValueError, TypeError, OSError, EOFError, LookupError, AttributeError, SyntaxError) as error:
        raise BadArrays(str(error)) from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OverflowError, MemoryError) as error:
        raise BadArrays(str(error)) from error


def _check(archive: zipfile.ZipFile, size: int) -> None:
    """Check the declared size of each array against the actual bytes."""
    declared = 0
    for entry in archive.infolist():
        if entry.compress_type != zipfile.ZIP_STORED or not entry.filename.endswith(".npy"):
            raise BadArrays(f"{entry.filename!r} is compressed or not an array")
        declared += entry.file_size
        if declared > size:
            raise BadArrays("it declares more bytes than it has")
        with archive.open(entry) as file:
            _check_header(file, entry)


def _check_header(file: Any, entry: zipfile.ZipInfo) -> None:
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise BadArrays(f"{entry.filename!r} has an unknown header")
    shape, _, dtype = read(file)
    if dtype.kind not in _NUMBERS_AND_TEXT:
        raise BadArrays(f"{entry.filename!r} contains neither numbers nor text")
    numbers = 1
    for length in shape:
        numbers *= int(length)  # Python integers: numpy's would overflow
    if numbers < 0 or numbers * max(1, dtype.itemsize) > entry.file_size:
        raise BadArrays(f"{entry.filename!r} declares {numbers:,} values in {entry.file_size:,} bytes")


logger = logging.getLogger(__name__)

ENTRY_BYTES = 1 << 20
"""Upper bound of the size of an entry."""
MAX_UNPACKED = 32 * ENTRY_BYTES
"""Upper bound of its size after decompression."""
LEVEL = 1
_NOTES = "notes"

Read = TypeVar("Read")


class BadEntry(ValueError):
    """The bytes are not an entry written by this module."""


def compress(content: bytes) -> bytes:
    """Compress bytes."""
    return zlib.compress(content, LEVEL)


def decompress(content: bytes, *, most: int = MAX_UNPACKED) -> bytes:
    """Undo `compress`, with an upper bound of the result against decompression bombs.

    Raises:
        BadEntry: The bytes are not valid, or the result is too large.
    """
    decompressor = zlib.decompressobj()
    try:
        decompressed = decompressor.decompress(content, most)
    except zlib.error as error:
        raise BadEntry(str(error)) from error
    if not decompressor.eof:
        raise BadEntry(f"it is truncated, or contains more than {most:,} bytes")
    return decompressed


def pack_values(values: Mapping[str, Any]) -> bytes:
    """Serialize JSON values."""
    return compress(_json_bytes(values))


def unpack_values(content: bytes) -> dict[str, Any]:
    """Undo `pack_values`.

    Raises:
        BadEntry: The bytes are not valid.
    """
    return json_object(decompress(content))


def pack_both(arrays: Mapping[str, Any], values: Mapping[str, Any]) -> bytes:
    """Serialize arrays and JSON values together."""
    return compress(pack_arrays({**arrays, _NOTES: np.frombuffer(_json_bytes(values), dtype=np.uint8)}))


def unpack_both(content: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Undo `pack_both`.

    Raises:
        BadEntry: The bytes are not valid.
        BadArrays: The arrays are not valid.
    """
    arrays = unpack_arrays(decompress(content))
    if _NOTES not in arrays:
        raise BadEntry("it has no JSON values")
    return arrays, json_object(arrays.pop(_NOTES).tobytes())


def fitted(make: Callable[[int], bytes], most: int, *, most_bytes: int = ENTRY_BYTES) -> tuple[bytes, int]:
    """Make an entry of at most this many items, of fewer until it is small enough; return it with their number."""
    content = make(most)
    while len(content) > most_bytes and most > 0:
        most = min(most - 1, int(0.95 * most * most_bytes / len(content)))
        content = make(most)
    return content, most


def readable(entries: Iterable[bytes], read: Callable[[bytes], Read], what: str) -> Iterator[Read]:
    """Read entries of other workers; skip those that cannot be read, with a warning."""
    for content in entries:
        try:
            yield read(content)
        except (LookupError, ValueError, TypeError, AttributeError, RecursionError, OverflowError) as error:
            logger.warning("%s of another worker cannot be read and is left out: %s", what, error)


def json_object(content: bytes) -> dict[str, Any]:
    """Parse a JSON object.

    Raises:
        BadEntry: The bytes are not one.
    """
    try:
        values = json.loads(content.decode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise BadEntry(str(error)) from error
    if not isinstance(values, dict):
        raise BadEntry("it is not a JSON object")
    return values


def _json_bytes(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass")

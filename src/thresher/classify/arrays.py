"""Arrays of numbers as they lie in an npz file: read only when all of it is what it says.

An npz file is a zip of arrays, each behind a header with its type and shape. Such a file may pack gigabytes of zeros
into kilobytes, or promise a shape that no memory holds, or hold objects, which would be run as they are unpacked.
What we write is neither packed nor larger than it says; nothing else is read.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

_NUMBERS_AND_TEXT = "biufU"


class BadArrays(ValueError):
    """The bytes are no arrays that we wrote."""


def pack_arrays(arrays: Mapping[str, Any]) -> bytes:
    """Write arrays by name."""
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, **arrays)
    return packed.getvalue()


def unpack_arrays(packed: bytes) -> dict[str, Any]:
    """Read arrays by name; takes no more memory than the bytes do.

    Raises:
        BadArrays: They are none.
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
    """Hold what each array promises against the bytes that are there."""
    promised = 0
    for entry in archive.infolist():
        if entry.compress_type != zipfile.ZIP_STORED or not entry.filename.endswith(".npy"):
            raise BadArrays(f"{entry.filename!r} is packed or no array")
        promised += entry.file_size
        if promised > size:
            raise BadArrays("it promises more bytes than it has")
        with archive.open(entry) as file:
            _check_header(file, entry)


def _check_header(file: Any, entry: zipfile.ZipInfo) -> None:
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise BadArrays(f"{entry.filename!r} has an unknown header")
    shape, _, dtype = read(file)
    if dtype.kind not in _NUMBERS_AND_TEXT:
        raise BadArrays(f"{entry.filename!r} holds neither numbers nor text")
    numbers = 1
    for length in shape:
        numbers *= int(length)  # Python's own numbers: numpy's would wrap around
    if numbers < 0 or numbers * max(1, dtype.itemsize) > entry.file_size:
        raise BadArrays(f"{entry.filename!r} promises {numbers:,} values in {entry.file_size:,} bytes")

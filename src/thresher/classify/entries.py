"""Entries of a notebook as bytes: small enough to travel through a store, and read as data, never as code.

What other workers wrote may be damaged, of another version or a stranger's. Such an entry is left out with a line in
the log; a worker's own entry that cannot be read is an error, since going on would overwrite it.
"""

from __future__ import annotations

import json
import logging
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from thresher.classify.arrays import pack_arrays, unpack_arrays

logger = logging.getLogger(__name__)

ENTRY_BYTES = 1 << 20
"""The size that no entry exceeds."""
MOST_UNPACKED = 32 * ENTRY_BYTES
"""What an entry may grow to when it is read."""
LEVEL = 1
_NOTES = "notes"

Read = TypeVar("Read")


class BadEntry(ValueError):
    """The bytes are no entry that we wrote."""


def squeeze(content: bytes) -> bytes:
    """Make bytes smaller."""
    return zlib.compress(content, LEVEL)


def unsqueeze(content: bytes, *, most: int = MOST_UNPACKED) -> bytes:
    """Undo `squeeze`; a few bytes that would fill the memory are refused.

    Raises:
        BadEntry: They were not squeezed by us, or are too many.
    """
    unpacking = zlib.decompressobj()
    try:
        unpacked = unpacking.decompress(content, most)
    except zlib.error as error:
        raise BadEntry(str(error)) from error
    if not unpacking.eof:
        raise BadEntry(f"it is cut short, or holds more than {most:,} bytes")
    return unpacked


def pack_values(values: Mapping[str, Any]) -> bytes:
    """Write values that JSON can hold."""
    return squeeze(json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def unpack_values(content: bytes) -> dict[str, Any]:
    """Read what `pack_values` wrote.

    Raises:
        BadEntry: It did not.
    """
    return _json_object(unsqueeze(content))


def pack_both(arrays: Mapping[str, Any], values: Mapping[str, Any]) -> bytes:
    """Write arrays and values together."""
    notes = json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return squeeze(pack_arrays({**arrays, _NOTES: np.frombuffer(notes, dtype=np.uint8)}))


def unpack_both(content: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read what `pack_both` wrote.

    Raises:
        BadEntry: It did not.
        BadArrays: Nor did anybody else of us.
    """
    arrays = unpack_arrays(unsqueeze(content))
    if _NOTES not in arrays:
        raise BadEntry("it has no notes")
    notes = arrays.pop(_NOTES)
    return arrays, _json_object(notes.tobytes())


def fitted(make: Callable[[int], bytes], most: int, *, most_bytes: int = ENTRY_BYTES) -> tuple[bytes, int]:
    """Make an entry of so many things at most, and of fewer until it is small enough; return it with their number."""
    content = make(most)
    while len(content) > most_bytes and most > 0:
        most = min(most - 1, int(0.95 * most * most_bytes / len(content)))
        content = make(most)
    return content, most


def readable(entries: Iterable[bytes], read: Callable[[bytes], Read], what: str) -> Iterator[Read]:
    """Read what other workers wrote; what cannot be read is left out, and told."""
    for content in entries:
        try:
            yield read(content)
        except (LookupError, ValueError, TypeError, AttributeError, RecursionError, OverflowError) as error:
            logger.warning("%s of another worker cannot be read and is left out: %s", what, error)


def _json_object(content: bytes) -> dict[str, Any]:
    try:
        values = json.loads(content.decode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise BadEntry(str(error)) from error
    if not isinstance(values, dict):
        raise BadEntry("it is no object")
    return values

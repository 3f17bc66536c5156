"""DNS messages (RFC 1035): queries for addresses, and the records of their answers."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

A, AAAA = 1, 28
NO_ERROR, NAME_ERROR = 0, 3
MAX_ANSWER_BYTES = 32 << 10
"""A longer answer, over TCP too, is not read."""

_HEADER = struct.Struct("!6H")
_QUESTION = struct.Struct("!2H")
_RECORD = struct.Struct("!2HIH")
_INTERNET = 1
_RESPONSE, _TRUNCATED, _RECURSION_DESIRED = 0x8000, 0x0200, 0x0100
_OPCODE_AND_CODE = 0x780F
_POINTER = 0xC0
_MAX_LABEL, _MAX_NAME = 63, 255
_MAX_TTL = (1 << 31) - 1


class BadMessage(Exception):
    """A malformed message, or one that does not answer the query."""


@dataclass(frozen=True, slots=True)
class DnsAnswer:
    """The answer to one query.

    Args:
        code: The response code; 0 for success.
        addresses: The addresses in the answer section, of any name: aliases included.
        ttl: The shortest TTL of all records in that section.
    """

    code: int
    is_truncated: bool
    addresses: Sequence[str]
    ttl: int


def query(number: int, name: str, kind: int) -> bytes:
    """Return a query for the records of a name.

    Raises:
        BadMessage: It is not a name of the DNS.
    """
    return _HEADER.pack(number, _RECURSION_DESIRED, 1, 0, 0, 0) + _written(name) + _QUESTION.pack(kind, _INTERNET)


def answer(message: bytes, asked: bytes) -> DnsAnswer:
    """Parse the answer to a query.

    Raises:
        BadMessage: It is malformed, too long, or does not belong to the query.
    """
    if len(message) > MAX_ANSWER_BYTES:
        raise BadMessage("too long")
    try:
        return _parsed(message, asked)
    except (struct.error, IndexError, ValueError) as error:
        raise BadMessage("malformed") from error


def _parsed(message: bytes, asked: bytes) -> DnsAnswer:
    number, flags, questions, records, _, _ = _HEADER.unpack_from(message)
    question = asked[_HEADER.size :]
    start = _HEADER.size + len(question)
    echoed = message[_HEADER.size : start]
    if number != _HEADER.unpack_from(asked)[0] or not flags & _RESPONSE or questions != 1:
        raise BadMessage("not an answer")
    if echoed.lower() != question.lower():
        raise BadMessage("another question")
    is_truncated = bool(flags & _TRUNCATED)
    code = flags & _OPCODE_AND_CODE
    if is_truncated or code:
        return DnsAnswer(code, is_truncated, (), _MAX_TTL)
    kind = _QUESTION.unpack(question[-_QUESTION.size :])[0]
    return _answer_section(message, start, records, kind)


def _answer_section(message: bytes, start: int, records: int, kind: int) -> DnsAnswer:
    addresses, ttls = [], []
    for _ in range(records):
        start = _after_name(message, start)
        found, group, ttl, length = _RECORD.unpack_from(message, start)
        start += _RECORD.size + length
        data = message[start - length : start]
        if len(data) != length:
            raise BadMessage("cut off")
        ttls.append(0 if ttl > _MAX_TTL else ttl)  # RFC 2181, section 8
        if (found, group) == (kind, _INTERNET):
            addresses.append(str(IPv4Address(data) if kind == A else IPv6Address(data)))
    return DnsAnswer(NO_ERROR, False, addresses, min(ttls, default=_MAX_TTL))


def _after_name(message: bytes, start: int) -> int:
    """Return where a name ends; what a pointer points to is not read."""
    while length := message[start]:
        if length >= _POINTER:
            return start + 2
        if length > _MAX_LABEL:
            raise BadMessage("not a label")
        start += 1 + length
    return start + 1


def _written(name: str) -> bytes:
    labels = name.rstrip(".").encode("ascii", "replace").split(b".")
    written = b"".join(bytes([len(label)]) + label for label in labels if len(label) <= _MAX_LABEL) + b"\0"
    if not all(0 < len(label) <= _MAX_LABEL for label in labels) or len(written) > _MAX_NAME or not name.isascii():
        raise BadMessage(f"not a name: {name!r}")
    return written

"""Binary encoding of URLs and hosts in the store; `lua/parts/record.lua` describes the layout."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from dataclasses import dataclass
from typing import Any

from thresher.frontier.base import UNBEGUN, UrlEntry, UrlState
from thresher.records import Candidate, Lease

LONG_SCORE, _STEPS, _HISTORY, _PARENT = 1, 2, 4, 8
_LONGEST_REASON = 60_000

_encode_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_head = struct.Struct(">IB")
_float, _double = struct.Struct(">f"), struct.Struct(">d")
_STEP_FORMATS = {1: struct.Struct(">BB"), 4: struct.Struct(">ii")}
_history, _parent = struct.Struct(">BBIH"), struct.Struct(">q")


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a URL in its host's queue.

    Args:
        host: Host key.
        rest: For https, what follows the host; for http, the same with a leading ``-``; otherwise the whole URL.
        number: Hash that selects its chunk and its set of seen URLs.
        member: Its member in that set, in decimal digits.
    """

    host: bytes
    rest: bytes
    number: int
    member: bytes

    @classmethod
    def of(cls, url: str, host: str) -> Name:
        """Return the name of a canonical URL."""
        if url.startswith(f"https://{host}/"):
            rest = url[len(host) + 8 :]
        elif url.startswith(f"http://{host}/"):
            rest = "-" + url[len(host) + 7 :]
        else:
            rest = url
        return cls.within(to_bytes(host), to_bytes(rest))

    @classmethod
    def within(cls, host: bytes, rest: bytes) -> Name:
        """Return the name of a URL whose host and rest are known."""
        digest = hashlib.sha1(host + rest, usedforsecurity=False).hexdigest()
        return cls(host, rest, int(digest[:8], 16), b"%d" % int(digest[8:21], 16))


def url_of(host: str, rest: bytes) -> str:
    """Return the URL of a name."""
    text = to_text(rest)
    if text.startswith("/"):
        return f"https://{host}{text}"
    return f"http://{host}{text[1:]}" if text.startswith("-") else text


def to_bytes(text: str) -> bytes:
    """Encode text as UTF-8; lone surrogates survive the round trip."""
    return text.encode("utf-8", "surrogatepass")


def to_text(content: bytes) -> str:
    """Decode text from the store."""
    return content.decode("utf-8", "surrogatepass")


def reason_bytes(reason: str) -> bytes:
    """Encode an error message, truncated and with characters that cannot be encoded replaced."""
    return reason.encode("utf-8", "replace")[:_LONGEST_REASON].decode("utf-8", "ignore").encode()


def pack_score(score: float) -> tuple[int, bytes]:
    """Encode a score with its flag: in 4 bytes if they hold it, else in 8."""
    packed = _float.pack(score) if abs(score) < 1e38 else b""
    if packed and _float.unpack(packed)[0] == score:
        return 0, packed
    return LONG_SCORE, _double.pack(score)


def _pack_steps(hops: int, depth_left: int) -> tuple[int, bytes]:
    size = 1 if min(hops, depth_left) >= 0 and max(hops, depth_left) <= 255 else 4
    return _STEPS | size << 4, _STEP_FORMATS[size].pack(hops, depth_left)


def split_record(content: bytes) -> tuple[int, int, float, bytes]:
    """Return age, flags, score and the rest of a record."""
    age, flags = _head.unpack_from(content)
    if flags & LONG_SCORE:
        return age, flags, _double.unpack_from(content, 5)[0], content[13:]
    return age, flags, _float.unpack_from(content, 5)[0], content[9:]


def join_record(age: int, flags: int, score: float, rest: bytes) -> bytes:
    """Return the record of these parts; whether the score is long is computed anew."""
    is_long, packed = pack_score(score)
    return _head.pack(age, flags & ~LONG_SCORE | is_long) + packed + rest


def link_bytes(link: Candidate, index: int, number: int) -> bytes:
    """Encode a candidate for let_in.lua: its index in the call, its number, its record without the age."""
    flags, score = pack_score(link.score)
    steps = history = b""
    if link.depth_left == 0 and 0 <= link.hops <= 15:
        flags |= link.hops << 4
    else:
        step_flags, steps = _pack_steps(link.hops, link.depth_left)
        flags |= step_flags
    if link.redirects:
        flags |= _HISTORY
        history = _history.pack(0, link.redirects, 1, 0)
    parent = b""
    if link.parent:
        flags |= _PARENT
        parent = _parent.pack(link.parent)
    carry = _encode_json(link.carry).encode() if link.carry else b""
    return struct.pack(">HIB", index, number, flags) + score + steps + history + parent + carry


@dataclass(frozen=True, slots=True)
class Record:
    """A URL record of the store."""

    age: int
    score: float
    hops: int
    depth_left: int
    tries: int
    redirects: int
    reason: str
    parent: int
    carry: dict[str, Any]
    found: int = 1
    unbegun: int = 0

    @classmethod
    def read(cls, content: bytes) -> Record:
        age, flags = _head.unpack_from(content)
        at = _head.size
        score_format = _double if flags & LONG_SCORE else _float
        [score] = score_format.unpack_from(content, at)
        at += score_format.size
        hops, depth_left = flags >> 4, 0
        if flags & _STEPS:
            step_format = _STEP_FORMATS[flags >> 4]
            hops, depth_left = step_format.unpack_from(content, at)
            at += step_format.size
        tries, redirects, reason, parent, found = 0, 0, "", 0, 1
        if flags & _HISTORY:
            tries, redirects, found, length = _history.unpack_from(content, at)
            at += _history.size
            reason = to_text(content[at : at + length])
            at += length
        if flags & _PARENT:
            [parent] = _parent.unpack_from(content, at)
            at += _parent.size
        carry = json.loads(content[at:]) if at < len(content) else {}
        unbegun, tries = divmod(tries, UNBEGUN)
        return cls(age, score, hops, depth_left, tries, redirects, reason, parent, carry, found, unbegun)

    def to_bytes(self) -> bytes:
        flags, score = pack_score(self.score)
        steps = history = parent = b""
        if self.depth_left == 0 and 0 <= self.hops <= 15:
            flags |= self.hops << 4
        else:
            step_flags, steps = _pack_steps(self.hops, self.depth_left)
            flags |= step_flags
        tries = self.tries + UNBEGUN * self.unbegun
        if tries or self.redirects or self.found > 1 or self.reason:
            flags |= _HISTORY
            reason = reason_bytes(self.reason)
            history = _history.pack(tries, self.redirects, self.found, len(reason)) + reason
        if self.parent:
            flags |= _PARENT
            parent = _parent.pack(self.parent)
        carry = _encode_json(self.carry).encode() if self.carry else b""
        return _head.pack(self.age, flags) + score + steps + history + parent + carry

    def entry(self, url: str, host: str, state: UrlState) -> UrlEntry:
        return UrlEntry(
            url=url,
            host=host,
            state=state,
            score=self.score,
            hops=self.hops,
            depth_left=self.depth_left,
            parent=self.parent,
            tries=self.tries,
            reason=self.reason,
        )

    def lease(self, url: str, host: str, *, fence: int, until: float, host_pages: int, host_relevant: int) -> Lease:
        return Lease(
            url=url,
            host=host,
            score=self.score,
            fence=fence,
            until=until,
            carry=self.carry,
            depth_left=self.depth_left,
            hops=self.hops,
            redirects=self.redirects,
            parent=self.parent,
            tries=self.tries,
            host_pages=host_pages,
            host_relevant=host_relevant,
        )


_host = struct.Struct(">BHIHdIdddIII")
_cold = struct.Struct(">IdId")
_STAGES, _HAS_COLD = 32, 128


@dataclass(frozen=True, slots=True)
class HostRecord:
    """A host record of the store; `lua/parts/host.lua` and `tiers.lua` describe the fields.

    Args:
        waiting: Hot URLs.
    """

    stage: int
    chunks: int
    waiting: int
    leased: int
    best: float
    best_age: int
    next_time: float
    delay_seconds: float
    park_end: float
    pages: int
    relevant: int
    failed: int
    parked: str
    cold: int = 0
    bar: float = -math.inf
    bar_age: int = 0
    floor: float = -math.inf

    @classmethod
    def read(cls, content: bytes) -> HostRecord:
        fields: list[Any] = [*_host.unpack_from(content)]
        cold: list[Any] = []
        at = _host.size
        if fields[0] >= _HAS_COLD:
            cold = [*_cold.unpack_from(content, at)]
            at += _cold.size
        fields[0] %= _STAGES
        fields += [to_text(content[at:]), *cold]
        return cls(*fields)

    @property
    def has_cold(self) -> bool:
        return self.bar > -math.inf

    @property
    def top(self) -> float:
        """The score of the best URL, hot or cold."""
        return max(self.best, self.bar)

"""Binary encoding of URLs and hosts in the store; `lua/parts/record.lua` describes the layout."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from dataclasses import dataclass
from typing import Any

from thresher.frontier.base import UNBEGUN, UrlEntry, UrlState, unpack_data
from thresher.frontier.old_entries import read_old_entry
from thresher.reasons.legacy import stored_reason
from thresher.reasons.reason import NO_REASON, Reason
from thresher.records import Candidate, Lease, RequestKind, StrategyData

LONG_SCORE, _STEPS, _HISTORY, _PARENT = 1, 2, 4, 8
_MIN_DATA_BYTE = 32
_MAX_REASON_BYTES = 60_000

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


def reason_bytes(reason: Reason) -> bytes:
    """Encode a reason, truncated and with characters that cannot be encoded replaced."""
    return reason.encoded.encode("utf-8", "replace")[:_MAX_REASON_BYTES].decode("utf-8", "ignore").encode()


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
    """Encode a candidate for insert_links.lua: its index in the call, its number, its record without the age.

    One that is no page has steps, so that insert_links.lua reads it to its end.
    """
    flags, body = _pack_body(link, has_steps=link.kind is not RequestKind.PAGE)
    return struct.pack(">HIB", index, number, flags) + body


def _pack_body(
    url: Candidate | Record, *, has_steps: bool = False, tries: int = 0, found: int = 1, reason: bytes = b""
) -> tuple[int, bytes]:
    """Return the flags of a record, and what follows them."""
    flags, score = pack_score(url.score)
    steps = history = parent = kind = data = b""
    if url.depth_left == 0 and 0 <= url.hops <= 15 and not has_steps:
        flags |= url.hops << 4
    else:
        step_flags, steps = _pack_steps(url.hops, url.depth_left)
        flags |= step_flags
    if tries or url.redirects or found > 1 or reason:
        flags |= _HISTORY
        history = _history.pack(tries, url.redirects, found, len(reason)) + reason
    if url.parent:
        flags |= _PARENT
        parent = _parent.pack(url.parent)
    if url.kind is not None:
        kind = url.kind.to_bytes()
    if data_or_host := url.for_host or url.strategy_data:
        data = _encode_json(data_or_host).encode()
    return flags, score + steps + history + parent + kind + data


@dataclass(frozen=True, slots=True)
class Record:
    """A URL record of the store; the kind is None in records of versions up to 0.2.0."""

    age: int
    score: float
    hops: int
    depth_left: int
    tries: int
    redirects: int
    reason: Reason
    parent: int
    kind: RequestKind | None
    strategy_data: StrategyData
    for_host: str = ""
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
        tries, redirects, reason, parent, found = 0, 0, NO_REASON, 0, 1
        if flags & _HISTORY:
            tries, redirects, found, length = _history.unpack_from(content, at)
            at += _history.size
            reason = stored_reason(to_text(content[at : at + length]))
            at += length
        if flags & _PARENT:
            [parent] = _parent.unpack_from(content, at)
            at += _parent.size
        kind = RequestKind(content[at]) if at < len(content) and content[at] < _MIN_DATA_BYTE else None
        at += kind is not None
        strategy_data, for_host = unpack_data(json.loads(content[at:]) if at < len(content) else None)
        unbegun, tries = divmod(tries, UNBEGUN)
        return cls(
            age,
            score,
            hops,
            depth_left,
            tries,
            redirects,
            reason,
            parent,
            kind,
            strategy_data,
            for_host,
            found,
            unbegun,
        )

    def to_bytes(self) -> bytes:
        tries, reason = self.tries + UNBEGUN * self.unbegun, reason_bytes(self.reason)
        flags, body = _pack_body(self, tries=tries, found=self.found, reason=reason)
        return _head.pack(self.age, flags) + body

    def candidate(self, url: str) -> Candidate:
        depth_left, kind, strategy_data, for_host = self.depth_left, self.kind, self.strategy_data, self.for_host
        if kind is None:
            kind, depth_left, strategy_data, for_host = read_old_entry(url, self.hops, depth_left, strategy_data)
        return Candidate(
            url=url,
            score=self.score,
            strategy_data=strategy_data,
            depth_left=depth_left,
            hops=self.hops,
            redirects=self.redirects,
            parent=self.parent,
            kind=kind,
            for_host=for_host,
        )

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
        known = self.candidate(url)._asdict()
        del known["breakdown"]
        known |= {"tries": self.tries, "host_pages": host_pages, "host_relevant": host_relevant}
        return Lease(host=host, fence=fence, until=until, **known)


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
    parked: Reason
    cold: int = 0
    best_cold: float = -math.inf
    best_cold_age: int = 0
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
        fields += [stored_reason(to_text(content[at:])), *cold]
        return cls(*fields)

    @property
    def has_cold(self) -> bool:
        return self.best_cold > -math.inf

    @property
    def top(self) -> float:
        """The score of the best URL, hot or cold."""
        return max(self.best, self.best_cold)

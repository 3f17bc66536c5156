"""Conversion of a response to records of a WARC 1.1 file.

A response becomes three records: the response (or a revisit, when the same bytes were archived before), the request,
and metadata with the reasons for the fetch. The body is archived decompressed; headers about its compressed form are
renamed as other crawlers do, ``X-Crawler-Content-Encoding`` and so on.
"""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import responses
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

from warcio.statusandheaders import StatusAndHeaders  # type: ignore[import-untyped,unused-ignore]
from warcio.warcwriter import WARCWriter  # type: ignore[import-untyped,unused-ignore]

from thresher.reasons.legacy import shared
from thresher.records import FetchedPage
from thresher.storage.page_store import PageRecord

VERSION = "WARC/1.1"
LEVEL = 3
"""Of gzip. Level 9, the default of warcio, takes more than twice as long and saves a twelfth."""

_PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
SAME_PAYLOAD, NOT_MODIFIED = f"{_PROFILES}identical-payload-digest", f"{_PROFILES}server-not-modified"
_OF_PACKED_FORM = {"content-encoding", "content-length", "transfer-encoding"}
_LEFT_OUT = ("text", "main", "markup", "terms", "links")
_ID = "WARC-Record-ID"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """A response to be archived.

    Args:
        digest: Of its body, see `digest_of`.
        path: The URLs from the seed to the parent of the page.
    """

    record: PageRecord
    answer: FetchedPage
    digest: str
    path: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The URL and time under which a body was archived first."""

    url: str
    date: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """An uncompressed record; `headers` are the WARC headers, `http` the HTTP headers inside it."""

    kind: str
    content: bytes
    headers: Mapping[str, str]
    http: StatusAndHeaders | None = None


def date_of(seconds: float) -> str:
    """Format a time for WARC, to the microsecond, so that a row of the page store can be matched with its record."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def seconds_of(date: str) -> float:
    """Parse a time of a record.

    Raises:
        ValueError: It is no time.
    """
    return datetime.fromisoformat(date.replace("Z", "+00:00")).timestamp()


def packed(content: bytes) -> bytes:
    """Compress a record as a gzip member of its own."""
    return zlib.compress(content, LEVEL, wbits=zlib.MAX_WBITS + 16)


def digest_of(content: bytes) -> str:
    """Return the SHA-1 digest of bytes in the notation of WARC files."""
    return "sha1:" + base64.b32encode(hashlib.sha1(content, usedforsecurity=False).digest()).decode()


def file_record(filename: str, about: Mapping[str, str]) -> Written:
    """Return the warcinfo record that opens a file."""
    return _written("warcinfo", _fields(about.items()), {"WARC-Filename": filename, "WARC-Date": _now()})


def records_of(capture: Capture, original: Original | None) -> list[Written]:
    """Return the records of a capture: response or revisit, request, metadata."""
    answer = capture.answer
    common = {"WARC-Target-URI": capture.record.url, "WARC-Date": date_of(answer.fetched_at)}
    response = _response_record(capture, original, common)
    identity = {**common, "WARC-Concurrent-To": response.headers[_ID]}
    request = _written("request", b"", identity, http=_request(capture.record.url, answer.request_lines))
    reasons = _written("metadata", _fields(_reasons(capture)), {**identity, "WARC-Refers-To": response.headers[_ID]})
    return [response, request, reasons]


def _response_record(capture: Capture, original: Original | None, common: Mapping[str, str]) -> Written:
    answer = capture.answer
    truncated = {"WARC-Truncated": "unspecified"} if answer.truncated else {}
    http = _response(answer)
    if answer.status == 304:
        return _written("revisit", b"", {**common, "WARC-Profile": NOT_MODIFIED}, http=http)
    headers = {**common, **truncated, "WARC-Payload-Digest": capture.digest}
    if original is None:
        return _written("response", answer.body, headers, http=http)
    refers = {"WARC-Refers-To-Target-URI": original.url, "WARC-Refers-To-Date": original.date}
    return _written("revisit", b"", {**headers, "WARC-Profile": SAME_PAYLOAD, **refers}, http=http)


def _response(answer: FetchedPage) -> StatusAndHeaders:
    lines = answer.header_lines or tuple(answer.headers.items())
    renamed = [(f"X-Crawler-{name}" if name.lower() in _OF_PACKED_FORM else name, value) for name, value in lines]
    status = f"{answer.status} {responses.get(answer.status, 'Unknown')}"
    length = ("Content-Length", str(len(answer.body)))
    return StatusAndHeaders(status, [*map(_one_line, renamed), length], protocol="HTTP/1.1")


def _request(url: str, lines: Sequence[tuple[str, str]]) -> StatusAndHeaders:
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = [("Host", parts.netloc.rpartition("@")[2]), *map(_one_line, lines)]
    return StatusAndHeaders(f"GET {target} HTTP/1.1", headers, is_http_request=True)


def _one_line(header: tuple[str, str]) -> tuple[str, str]:
    """Remove line breaks, so that no value can inject a header."""
    name, value = header
    return " ".join(name.split()), " ".join(value.splitlines())


def _reasons(capture: Capture) -> list[tuple[str, str]]:
    record = capture.record
    kept = {name: getattr(record, name) for name in PageRecord.__slots__ if name not in _LEFT_OUT}
    kept |= shared(record.reason)
    return [
        ("via", capture.path[-1] if capture.path else ""),
        ("hopsFromSeed", "L" * record.depth),
        ("fetchTimeMs", str(round(record.elapsed_seconds * 1000))),
        ("relevance", f"{record.relevance:.6f}"),
        ("relevant", "yes" if record.relevant else "no"),
        ("path", _json(list(capture.path))),
        ("record", _json(kept)),
    ]


def _fields(fields: Iterable[tuple[str, str]]) -> bytes:
    lines = (f"{name}: {' '.join(value.splitlines())}\r\n" for name, value in fields if value)
    return "".join(lines).encode("utf-8", "replace")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _now() -> str:
    return date_of(datetime.now(UTC).timestamp())


def _written(kind: str, body: bytes, headers: Mapping[str, str], http: StatusAndHeaders | None = None) -> Written:
    """Build a record with warcio."""
    out = BytesIO()
    writer = WARCWriter(out, gzip=False, warc_version=VERSION)
    head = b""
    if http is not None:
        http.compute_headers_buffer()
        head = http.headers_buff
    own = {_ID: f"<urn:uuid:{uuid.uuid4()}>", **headers, "WARC-Block-Digest": digest_of(head + body)}
    record = writer.create_warc_record(
        headers.get("WARC-Target-URI", ""),
        kind,
        payload=BytesIO(body),
        length=len(body),
        http_headers=http,
        warc_headers_dict=own,
    )
    writer.write_record(record)
    return Written(kind=kind, content=out.getvalue(), headers=own, http=http)

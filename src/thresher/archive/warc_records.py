"""From an answer to the records of a WARC 1.1 file.

An answer becomes three records: the response (or a revisit, when the same bytes were archived before), the request,
and metadata that say why the page is there. The body is archived as it was unpacked on arrival; headers that speak of
its packed form are renamed as other crawlers do, ``X-Crawler-Content-Encoding`` and so on.
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

from thresher.archive.pages import PageRecord
from thresher.records import FetchedPage

VERSION = "WARC/1.1"
LEVEL = 3
"""Of gzip. Level 9, warcio's own, takes more than twice as long and saves a twelfth."""

_PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
SAME_PAYLOAD, NOT_MODIFIED = f"{_PROFILES}identical-payload-digest", f"{_PROFILES}server-not-modified"
_OF_PACKED_FORM = {"content-encoding", "content-length", "transfer-encoding"}
_LEFT_OUT = ("text", "main", "terms", "links")
_ID = "WARC-Record-ID"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """An answer that is to be archived.

    Args:
        digest: The name of its body, see `digest_of`.
        path: The URLs from the seed to the page that it was found on.
    """

    record: PageRecord
    answer: FetchedPage
    digest: str
    path: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """Where and when a body was archived first."""

    url: str
    date: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A record, not packed yet; `headers` are those of the record itself, `http` those inside of it."""

    kind: str
    content: bytes
    headers: Mapping[str, str]
    http: StatusAndHeaders | None = None


def date_of(seconds: float) -> str:
    """Write a time as WARC does, to the microsecond: so a row of the page store is known by its record."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def seconds_of(date: str) -> float:
    """Read a time of a record.

    Raises:
        ValueError: It is none.
    """
    return datetime.fromisoformat(date.replace("Z", "+00:00")).timestamp()


def packed(content: bytes) -> bytes:
    """Pack a record so that it can be read without those before it."""
    return zlib.compress(content, LEVEL, wbits=zlib.MAX_WBITS + 16)


def digest_of(content: bytes) -> str:
    """Name bytes by their SHA-1, as archives do."""
    return "sha1:" + base64.b32encode(hashlib.sha1(content, usedforsecurity=False).digest()).decode()


def file_record(filename: str, about: Mapping[str, str]) -> Written:
    """Return the record that opens a file and says who wrote it."""
    return _written("warcinfo", _fields(about.items()), {"WARC-Filename": filename, "WARC-Date": _now()})


def records_of(capture: Capture, original: Original | None) -> list[Written]:
    """Return the records of an answer: what came, what was asked, and why the page is there."""
    answer = capture.answer
    common = {"WARC-Target-URI": capture.record.url, "WARC-Date": date_of(answer.fetched_at)}
    came = _came(capture, original, common)
    identity = {**common, "WARC-Concurrent-To": came.headers[_ID]}
    asked = _written("request", b"", identity, http=_request(capture.record.url, answer.request_lines))
    reasons = _written("metadata", _fields(_reasons(capture)), {**identity, "WARC-Refers-To": came.headers[_ID]})
    return [came, asked, reasons]


def _came(capture: Capture, original: Original | None, common: Mapping[str, str]) -> Written:
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
    """Let no value begin a header of its own."""
    name, value = header
    return " ".join(name.split()), " ".join(value.splitlines())


def _reasons(capture: Capture) -> list[tuple[str, str]]:
    record = capture.record
    kept = {name: getattr(record, name) for name in PageRecord.__slots__ if name not in _LEFT_OUT}
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
    """Let warcio write a record."""
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

"""A scan of a WARC file: its captures, the lines of its index, and its damaged ranges."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from thresher.parsing.html import parse
from thresher.parsing.response import is_page_type
from thresher.reasons.legacy import read_shared
from thresher.records import Outcome
from thresher.storage.page_store import PageRecord, current_parts
from thresher.storage.warc.cdxj import member_line
from thresher.storage.warc.reader import Damage, Member, read_block, walk
from thresher.storage.warc.records import seconds_of

_KINDS = ("response", "revisit")


@dataclass(slots=True, kw_only=True)
class ScannedCapture:
    """A capture in a file.

    Args:
        metadata_at: Offset of its metadata record; None without one.
    """

    url: str
    fetched_at: float
    kind: str
    content_type: str
    offset: int
    metadata_at: int | None = None


@dataclass
class Scan:
    """The contents of a file; `lines` are those of its index, sorted."""

    captures: list[ScannedCapture] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    damages: list[Damage] = field(default_factory=list)


def scan(path: Path) -> Scan:
    """Scan a file from its first record to its last."""
    seen = Scan()
    last_id = ""
    for place in walk(path):
        if isinstance(place, Damage):
            seen.damages.append(place)
        elif place.kind == "metadata" and seen.captures and place.headers.get("warc-refers-to") == last_id:
            seen.captures[-1].metadata_at = place.offset
        elif line := member_line(path.name, place):
            seen.lines.append(line)
            seen.captures.append(_found(place))
            last_id = place.headers.get("warc-record-id", "")
    seen.lines.sort()
    return seen


def row_of(path: Path, found: ScannedCapture) -> PageRecord | None:
    """Rebuild the page store row of a capture, without its links; None when its metadata do not suffice."""
    if found.metadata_at is None:
        return None
    lines = read_block(path, found.metadata_at).decode("utf-8", "replace").splitlines()
    metadata = dict(line.split(": ", 1) for line in lines if ": " in line)
    known = {each.name for each in fields(PageRecord)}
    try:
        stored = json.loads(metadata["record"])
        values: dict[str, Any] = {name: value for name, value in stored.items() if name in known}
        values["reason"] = read_shared(stored["reason"], stored.get("reason_kind"), stored.get("reason_detail"))
        values["outcome"] = Outcome(values["outcome"])
        values["parts"] = current_parts(values.get("parts") or {})
        if found.kind == "response" and values.get("page") and is_page_type(found.content_type):
            body = read_block(path, found.offset).partition(b"\r\n\r\n")[2]
            values["text"] = parse(found.url, body, found.content_type).text
        return PageRecord(**values)
    except (KeyError, ValueError, TypeError):  # of another program or version
        return None


def _found(member: Member) -> ScannedCapture:
    return ScannedCapture(
        url=member.headers["warc-target-uri"],
        fetched_at=seconds_of(member.headers["warc-date"]),
        kind=member.kind,
        content_type=member.http.get("content-type", ""),
        offset=member.offset,
    )

"""One look through a WARC file: what it captured, what its index should say, and what in it is no record."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from thresher.archive.cdxj import member_line
from thresher.archive.pages import PageRecord
from thresher.archive.warc_file import Damage, Member, read_block, walk
from thresher.archive.warc_records import seconds_of
from thresher.parse.html import parse
from thresher.records import Outcome

_KINDS = ("response", "revisit")


@dataclass(slots=True, kw_only=True)
class Found:
    """A capture in a file.

    Args:
        metadata_at: Where its metadata lie; None when there are none.
    """

    url: str
    fetched_at: float
    kind: str
    content_type: str
    offset: int
    metadata_at: int | None = None


@dataclass
class Scan:
    """What is in a file; `lines` are those of its index, in order."""

    captures: list[Found] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    damages: list[Damage] = field(default_factory=list)


def scan(path: Path) -> Scan:
    """Read a file from its first record to its last."""
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


def row_of(path: Path, found: Found) -> PageRecord | None:
    """Make the row of a page anew from its capture, but for its links; None when the capture does not say enough."""
    if found.metadata_at is None:
        return None
    lines = read_block(path, found.metadata_at).decode("utf-8", "replace").splitlines()
    said = dict(line.split(": ", 1) for line in lines if ": " in line)
    known = {each.name for each in fields(PageRecord)}
    try:
        values: dict[str, Any] = {name: value for name, value in json.loads(said["record"]).items() if name in known}
        values["outcome"] = Outcome(values["outcome"])
        if found.kind == "response" and values.get("page"):
            body = read_block(path, found.offset).partition(b"\r\n\r\n")[2]
            values["text"] = parse(found.url, body, found.content_type).text
        return PageRecord(**values)
    except (KeyError, ValueError, TypeError):  # not ours, or of another time
        return None


def _found(member: Member) -> Found:
    return Found(
        url=member.headers["warc-target-uri"],
        fetched_at=seconds_of(member.headers["warc-date"]),
        kind=member.kind,
        content_type=member.http.get("content-type", ""),
        offset=member.offset,
    )

"""Checks of WARC files: every record complete, every index correct, every stored page archived.

A row of the page store and its capture are matched by URL and time. Rows are written after captures, so a crash leaves
captures without a row: their pages are fetched again. Where a page is done and has no row at all, the lost row is
restored from its capture.

`scan` reads a WARC file: its captures, the lines of its index, and its damaged ranges.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from thresher.frontier.base import Frontier, UrlState
from thresher.parsing.html import parse
from thresher.parsing.response import is_page_type
from thresher.reasons.legacy import read_shared
from thresher.records import Outcome, UsageSignal
from thresher.storage.page_store import PageRecord, PageStoreWriter, current_parts
from thresher.storage.warc.cdxj import index_path, member_line, write_index
from thresher.storage.warc.reader import Damage, Member, cut_out, read_block, walk, warc_paths
from thresher.storage.warc.records import date_of, seconds_of
from thresher.urls.canonical import fingerprint
from thresher.verify.findings import FindingState, FindingTally, VerifyFinding
from thresher.verify.page_rows import VerifiedRows

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
        values["signals"] = tuple(UsageSignal(*each) for each in values.get("signals", ()))
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


RESTORED = "restored"
"""The segment of rows that were restored from captures."""


@dataclass
class _Seen:
    files: int = 0
    captures: int = 0
    torn: FindingTally = field(default_factory=FindingTally)
    indexes: FindingTally = field(default_factory=FindingTally)
    without_row: FindingTally = field(default_factory=FindingTally)
    restored: FindingTally = field(default_factory=FindingTally)
    without_capture: FindingTally = field(default_factory=FindingTally)


class WarcCheck:
    """Checks the WARC files of a crawl.

    Args:
        folder: Of the WARC files.
        pages: The page store, for restored rows.
        is_running: Whether a worker may be writing the last record, and the last index later.
    """

    def __init__(self, folder: Path, pages: Path, *, repair: bool, is_running: bool) -> None:
        self._folder = folder
        self._pages = pages
        self._repair = repair
        self._is_running = is_running
        self._seen = _Seen()
        self._first_at = float("inf")
        self._names: list[int] = []
        self._writer: PageStoreWriter | None = None
        self._orphans: list[tuple[Path, ScannedCapture]] = []

    async def run(self, rows: VerifiedRows, frontier: Frontier) -> tuple[list[VerifyFinding], dict[str, int]]:
        """Check, and with `repair` correct; return the findings and how much was checked."""
        for path in warc_paths(self._folder):
            self._check_file(path, rows)
        self._check_captures(rows)
        await self._restore(frontier)
        if self._writer:
            self._writer.close()
        return self._findings(), {"warc files": self._seen.files, "captures": self._seen.captures}

    def _check_file(self, path: Path, rows: VerifiedRows) -> None:
        self._seen.files += 1
        seen = scan(path)
        for damage in seen.damages:
            self._seen.torn.add(f"{path.name}: {damage.length:,} bytes at {damage.offset:,}")
        if seen.damages and self._repair:
            cut_out(path, seen.damages)
            seen = scan(path)
        self._compare_index(path, seen.lines)
        for found in seen.captures:
            self._add_capture(path, found, rows)

    def _compare_index(self, path: Path, lines: list[str]) -> None:
        index = index_path(path)
        if self._is_running and not index.exists():
            return
        if index.exists() and index.read_text(encoding="utf-8") == "".join(lines):
            return
        self._seen.indexes.add(index.name)
        if self._repair:
            write_index(path, lines)

    def _add_capture(self, path: Path, found: ScannedCapture, rows: VerifiedRows) -> None:
        self._seen.captures += 1
        self._first_at = min(self._first_at, found.fetched_at)
        self._names.append(_name(found.url, found.fetched_at))
        number = fingerprint(found.url)
        if not rows.has_fetch(number, found.fetched_at):
            self._seen.without_row.add(found.url)
            if number not in rows:
                self._orphans.append((path, found))

    def _check_captures(self, rows: VerifiedRows) -> None:
        """Find rows with a text and without a capture; archiving may have begun after the first rows."""
        names = np.sort(np.array(self._names, dtype=np.int64))
        for row in rows if len(names) else ():
            if row.has_text and row.fetched_at >= self._first_at:
                name = _name(row.url, row.fetched_at)
                place = int(np.searchsorted(names, name))
                if place == len(names) or names[place] != name:
                    self._seen.without_capture.add(row.url)

    async def _restore(self, frontier: Frontier) -> None:
        """Restore the rows of captured pages that are done and have none."""
        for path, found in self._orphans:
            entry = await frontier.find(found.url)
            if entry is not None and entry.state is UrlState.DONE and (record := row_of(path, found)):
                self._seen.restored.add(found.url)
                if self._repair:
                    self._write(record)

    def _write(self, record: PageRecord) -> None:
        self._writer = self._writer or PageStoreWriter(self._pages / f"{RESTORED}.db")
        self._writer.write([record])

    def _findings(self) -> list[VerifyFinding]:
        seen, repaired = self._seen, FindingState.REPAIRED if self._repair else FindingState.WRONG
        seen.without_row.number -= seen.restored.number
        torn = FindingState.NOTE if self._is_running else repaired
        return [
            *seen.torn.found("warc", torn, "torn or damaged record|records"),
            *seen.indexes.found("warc", repaired, "index|indexes missing, or unlike the WARC file|files"),
            *seen.restored.found(
                "pages", repaired, "page|pages done, without a row; the capture|captures has|have what was in it"
            ),
            *seen.without_capture.found("warc", FindingState.LOST, "page|pages is|are kept and has|have no capture"),
            *seen.without_row.found(
                "warc", FindingState.NOTE, "capture|captures without a row: a crash came between the two"
            ),
        ]


def _name(url: str, seconds: float) -> int:
    return fingerprint(f"{url} {date_of(seconds)}")

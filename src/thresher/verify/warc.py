"""WARC files: whether every record is whole, every index true, and every page that is kept archived.

A row of the page store and its capture are known to each other by URL and time. Rows are written after captures, so a
crash leaves captures without a row: their pages are fetched again. A capture whose page is done and has no row at all
is what a lost row is made from anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from thresher.archive.cdxj import index_path, write_index
from thresher.archive.pages import PageRecord, PageWriter
from thresher.archive.warc_file import cut_out, warc_paths
from thresher.archive.warc_records import date_of
from thresher.archive.warc_scan import Found, row_of, scan
from thresher.frontier.base import Frontier, UrlState
from thresher.urls.canonical import fingerprint
from thresher.verify.findings import Finding, State, Tally
from thresher.verify.rows import Rows

RESTORED = "restored"
"""The segment of rows that were made from captures."""


@dataclass
class _Seen:
    files: int = 0
    captures: int = 0
    torn: Tally = field(default_factory=Tally)
    indexes: Tally = field(default_factory=Tally)
    without_row: Tally = field(default_factory=Tally)
    restored: Tally = field(default_factory=Tally)
    without_capture: Tally = field(default_factory=Tally)


class WarcCheck:
    """Looks at the WARC files of a crawl.

    Args:
        folder: Where they lie.
        pages: The page store, for rows that are made anew.
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
        self._writer: PageWriter | None = None
        self._orphans: list[tuple[Path, Found]] = []

    async def run(self, rows: Rows, frontier: Frontier) -> tuple[list[Finding], dict[str, int]]:
        """Look, and with `repair` mend; return what was found and how much was looked at."""
        for path in warc_paths(self._folder):
            self._look_at_file(path, rows)
        self._look_for_captures(rows)
        await self._restore(frontier)
        if self._writer:
            self._writer.close()
        return self._findings(), {"warc files": self._seen.files, "captures": self._seen.captures}

    def _look_at_file(self, path: Path, rows: Rows) -> None:
        self._seen.files += 1
        seen = scan(path)
        for damage in seen.damages:
            self._seen.torn.take(f"{path.name}: {damage.length:,} bytes at {damage.offset:,}")
        if seen.damages and self._repair:
            cut_out(path, seen.damages)
            seen = scan(path)
        self._compare_index(path, seen.lines)
        for found in seen.captures:
            self._take(path, found, rows)

    def _compare_index(self, path: Path, lines: list[str]) -> None:
        index = index_path(path)
        if self._is_running and not index.exists():
            return
        if index.exists() and index.read_text(encoding="utf-8") == "".join(lines):
            return
        self._seen.indexes.take(index.name)
        if self._repair:
            write_index(path, lines)

    def _take(self, path: Path, found: Found, rows: Rows) -> None:
        self._seen.captures += 1
        self._first_at = min(self._first_at, found.fetched_at)
        self._names.append(_name(found.url, found.fetched_at))
        number = fingerprint(found.url)
        if not rows.has_fetch(number, found.fetched_at):
            self._seen.without_row.take(found.url)
            if number not in rows:
                self._orphans.append((path, found))

    def _look_for_captures(self, rows: Rows) -> None:
        """Look for rows whose text is kept and whose capture is gone; archiving may have begun after the first rows."""
        names = np.sort(np.array(self._names, dtype=np.int64))
        for row in rows if len(names) else ():
            if row.has_text and row.fetched_at >= self._first_at:
                name = _name(row.url, row.fetched_at)
                place = int(np.searchsorted(names, name))
                if place == len(names) or names[place] != name:
                    self._seen.without_capture.take(row.url)

    async def _restore(self, frontier: Frontier) -> None:
        """Make rows anew for captured pages that are done and have none."""
        for path, found in self._orphans:
            entry = await frontier.find(found.url)
            if entry is not None and entry.state is UrlState.DONE and (record := row_of(path, found)):
                self._seen.restored.take(found.url)
                if self._repair:
                    self._write(record)

    def _write(self, record: PageRecord) -> None:
        self._writer = self._writer or PageWriter(self._pages / f"{RESTORED}.db")
        self._writer.write([record])

    def _findings(self) -> list[Finding]:
        seen, mended = self._seen, State.MENDED if self._repair else State.WRONG
        seen.without_row.number -= seen.restored.number
        torn = State.NOTE if self._is_running else mended
        return [
            *seen.torn.found("warc", torn, "torn or damaged records"),
            *seen.indexes.found("warc", mended, "indexes are missing or do not fit their files"),
            *seen.restored.found("pages", mended, "pages are done and have no row; their captures have what was in it"),
            *seen.without_capture.found("warc", State.LOST, "pages are kept and have no capture"),
            *seen.without_row.found("warc", State.NOTE, "captures without a row: a crash came between the two"),
        ]


def _name(url: str, seconds: float) -> int:
    return fingerprint(f"{url} {date_of(seconds)}")

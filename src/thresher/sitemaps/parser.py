"""Parse a sitemap: XML without entities, or text with one URL per line; plain or gzipped, within limits.

Only the URLs are held in memory: a gzipped file is streamed into the parser. Blanks and a byte order mark before the
beginning are left out.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain

from thresher.parsing.xml_events import PIECE_BYTES, XmlFlaw, cut, read_xml

MAX_URLS = 50_000
MAX_BYTES = 50 << 20
"""The limit of the protocol, after decompression."""
MAX_ADDRESS_CHARACTERS = 4_096
MAX_DEPTH = 20
"""Nested elements; a sitemap needs three."""
_GZIP = b"\x1f\x8b"
_BEFORE_START = b" \t\r\n\xef\xbb\xbf"
_LINE_ENDS = re.compile(rb"[\r\n]+")
_IS_URL = re.compile(rb"https?://", re.IGNORECASE).match


@dataclass(frozen=True, slots=True)
class Entry:
    """A URL in a sitemap, as written, and when the page changed; 0 when that is unknown or in the future."""

    address: str
    changed_at: float = 0.0


@dataclass
class Sitemap:
    """The content of a sitemap.

    Args:
        pages: URLs of pages.
        sitemaps: URLs of further sitemaps.
        flaw: Why the file was not read to its end; empty when it was.
    """

    pages: list[Entry] = field(default_factory=list)
    sitemaps: list[Entry] = field(default_factory=list)
    flaw: str = ""


def read_sitemap(body: bytes, *, now: float) -> Sitemap:
    """Parse a sitemap or a sitemap index; what comes before a flaw is kept."""
    reader = _Reader(now)
    try:
        pieces = _unpacked(body)
        first = next(filter(None, (piece.lstrip(_BEFORE_START) for piece in pieces)), b"")
        whole = chain([first], pieces)
        if _IS_URL(first):
            _read_lines(whole, reader.found)
        else:
            read_xml(whole, start=reader.start, end=reader.end, text=reader.text, max_depth=MAX_DEPTH)
    except XmlFlaw as flaw:
        reader.found.flaw = str(flaw)
    except zlib.error:
        reader.found.flaw = "cannot be unpacked"
    return reader.found


def _read_lines(pieces: Iterable[bytes], found: Sitemap) -> None:
    """Read a text file; lines that are not URLs are ignored."""
    rest = b""
    for piece in chain(pieces, [b"\n"]):
        *lines, rest = _LINE_ENDS.split(rest[:MAX_ADDRESS_CHARACTERS] + piece)
        for line in map(bytes.strip, lines):
            if _IS_URL(line):
                _add(found.pages, Entry(line[:MAX_ADDRESS_CHARACTERS].decode("utf-8", "replace")))


def _add(listed: list[Entry], entry: Entry) -> None:
    if len(listed) == MAX_URLS:
        raise XmlFlaw(f"more than {MAX_URLS:,} addresses")
    listed.append(entry)


def _unpacked(body: bytes) -> Iterator[bytes]:
    """Yield the decompressed file in pieces, up to the size limit."""
    total = 0
    for piece in _gunzipped(body) if body.startswith(_GZIP) else cut(body):
        total += len(piece)
        if total > MAX_BYTES:
            raise XmlFlaw(f"larger than {MAX_BYTES >> 20} MiB")
        yield piece


def _gunzipped(body: bytes) -> Iterator[bytes]:
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16)
    for packed in cut(body):
        while packed and not unpack.eof:
            yield unpack.decompress(packed, PIECE_BYTES)
            packed = unpack.unconsumed_tail


class _Reader:
    """What was found so far, and the elements that are open."""

    def __init__(self, now: float) -> None:
        self.found = Sitemap()
        self._now = now
        self._open: list[str] = []
        self._values: dict[str, str] = {}

    def start(self, name: str, _: object) -> None:
        self._open.append(name.lower())
        if len(self._open) == 2:
            self._values = {}

    def text(self, text: str) -> None:
        if len(self._open) == 3 and self._open[2] in ("loc", "lastmod"):
            value = self._values.get(self._open[2], "")
            self._values[self._open[2]] = (value + text)[:MAX_ADDRESS_CHARACTERS]

    def end(self, _: str) -> None:
        if len(self._open) == 2 and (address := self._values.get("loc", "").strip()):
            kinds = {("urlset", "url"): self.found.pages, ("sitemapindex", "sitemap"): self.found.sitemaps}
            listed = kinds.get((self._open[0], self._open[1]))
            if listed is not None:
                _add(listed, Entry(address, w3c_time(self._values.get("lastmod", ""), now=self._now)))
        self._open.pop()


def w3c_time(text: str, *, now: float) -> float:
    """Parse a W3C date; 0 for none, and for one in the future."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return 0.0
    try:
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (OverflowError, OSError, ValueError):
        return 0.0
    return seconds if 0 < seconds <= now else 0.0

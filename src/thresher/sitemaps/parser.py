"""Parse a sitemap: XML without entities, plain or gzipped, within limits.

Only the URLs are held in memory: a gzipped file is streamed into the parser.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from xml.parsers import expat

MAX_URLS = 50_000
MAX_BYTES = 50 << 20
"""The limit of the protocol, after decompression."""
MAX_ADDRESS_CHARACTERS = 4_096
MAX_DEPTH = 20
"""Nested elements; a sitemap needs three."""
_PIECE = 1 << 16
_GZIP = b"\x1f\x8b"


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


class _Stop(Exception):
    """Ends parsing, with the reason."""


def read_sitemap(body: bytes, *, now: float) -> Sitemap:
    """Parse a sitemap or a sitemap index; what comes before a flaw is kept."""
    reader = _Reader(now)
    try:
        for piece in _unpacked(body):
            reader.parser.Parse(piece, False)
        reader.parser.Parse(b"", True)
    except _Stop as stop:
        reader.found.flaw = str(stop)
    except expat.ExpatError as error:
        reader.found.flaw = f"not XML: {error}"
    except zlib.error:
        reader.found.flaw = "cannot be unpacked"
    except (ValueError, LookupError):  # such as an unknown encoding
        reader.found.flaw = "not XML"
    return reader.found


def _unpacked(body: bytes) -> Iterator[bytes]:
    """Yield the decompressed file in pieces, up to the size limit."""
    pieces = _gunzipped(body) if body.startswith(_GZIP) else _cut(body)
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > MAX_BYTES:
            raise _Stop(f"larger than {MAX_BYTES >> 20} MiB")
        yield piece


def _cut(body: bytes) -> Iterator[bytes]:
    return (body[start : start + _PIECE] for start in range(0, len(body), _PIECE))


def _gunzipped(body: bytes) -> Iterator[bytes]:
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16)
    for packed in _cut(body):
        while packed and not unpack.eof:
            yield unpack.decompress(packed, _PIECE)
            packed = unpack.unconsumed_tail


class _Reader:
    """The XML parser and what it found so far."""

    def __init__(self, now: float) -> None:
        self.found = Sitemap()
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.EntityDeclHandler = self._refuse
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._take
        self._now = now
        self._open: list[str] = []
        self._values: dict[str, str] = {}

    def _refuse(self, *_: object) -> None:
        raise _Stop("declares a document type")  # needed for entities only; no sitemap has a use for it

    def _start(self, name: str, _: object) -> None:
        self._open.append(_local(name))
        if len(self._open) > MAX_DEPTH:
            raise _Stop("nested too deeply")
        if len(self._open) == 2:
            self._values = {}

    def _take(self, text: str) -> None:
        if len(self._open) == 3 and self._open[2] in ("loc", "lastmod"):
            value = self._values.get(self._open[2], "")
            self._values[self._open[2]] = (value + text)[:MAX_ADDRESS_CHARACTERS]

    def _end(self, _: str) -> None:
        if len(self._open) == 2 and (address := self._values.get("loc", "").strip()):
            kinds = {("urlset", "url"): self.found.pages, ("sitemapindex", "sitemap"): self.found.sitemaps}
            listed = kinds.get((self._open[0], self._open[1]))
            if listed is not None:
                if len(listed) == MAX_URLS:
                    raise _Stop(f"more than {MAX_URLS:,} addresses")
                listed.append(Entry(address, _changed(self._values.get("lastmod", ""), self._now)))
        self._open.pop()


def _local(name: str) -> str:
    return name.rpartition(":")[2].lower()


def _changed(text: str, now: float) -> float:
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

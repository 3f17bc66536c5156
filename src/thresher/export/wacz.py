"""WACZ 1.1.1: what was archived of some pages, in one file that ReplayWeb.page opens.

The file is a ZIP of four parts: the WARC records; an index of them, CDXJ lines in blocks that are compressed one by
one; the list of the pages, each with its title and main text; and a manifest with the digest of each file. Records and
index are not compressed again, because they are read at random.

Only pages with a record are listed. Visits that found a page unchanged (304) are archived but not indexed: they have no
body, and a replay would show an empty page.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import struct
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO

from thresher import __version__
from thresher.atomic_file import atomic_write
from thresher.errors import ExportError
from thresher.export.formats import ExportSummary, PageSelection
from thresher.export.rows import time_text
from thresher.locale.translation import _
from thresher.storage.page_set import PageSet
from thresher.storage.warc.cdxj import member_line
from thresher.storage.warc.subset import copied_records, page_of
from thresher.text.terminal import printable_json

VERSION = "1.1.1"
ENDING = ".wacz"
ARCHIVE, BLOCKS, INDEX, PAGES = (
    "archive/data.warc.gz",
    "indexes/index.cdx.gz",
    "indexes/index.idx",
    "pages/pages.jsonl",
)
LINES_PER_BLOCK = 1_024
_PACKED = (ARCHIVE, BLOCKS)


class Wacz:
    """What was archived of the pages, with title and main text of each, for replay."""

    is_folder = False

    def write(self, pages: PageSelection, path: Path | None, out: IO[str]) -> ExportSummary:
        if path is None or path.suffix != ENDING:
            raise ExportError(_("the name of a WACZ file ends in {ending}; name it: -o crawl{ending}", ending=ENDING))
        files = pages.warc_files()
        with (
            closing(PageSet(pages.collection, pages.records())) as chosen,
            closing(PageSet(pages.collection, ())) as archived,
            atomic_write(path) as unfinished,
            zipfile.ZipFile(unfinished, "w") as package,
        ):
            with closing(pages.collection.scratch()) as db:
                db.execute("CREATE TEMP TABLE line (line TEXT)")
                db.execute("BEGIN")
                with _entry(package, ARCHIVE) as file:
                    db.executemany("INSERT INTO line VALUES (?)", _archive(files, file, chosen, archived))
                _write_index(package, (line for [line] in db.execute("SELECT line FROM line ORDER BY line")))
            listed, missing = _write_pages(package, pages, archived)
            _write_manifest(package, pages)
        return ExportSummary(listed, "pages", f", without {missing:,} that were not archived" if missing else "")


def _archive(files: Sequence[Path], out: IO[bytes], chosen: PageSet, archived: PageSet) -> Iterator[tuple[str]]:
    """Copy the records of the chosen pages; yield the index lines of those that can be replayed."""
    offset = 0
    for member in copied_records(files, out, chosen):
        line = member_line(Path(ARCHIVE).name, replace(member, offset=offset))
        offset += member.length
        page = page_of(member)
        if line and page is not None and member.status != "304":
            archived.add(page)
            yield (line,)


def _write_index(package: zipfile.ZipFile, lines: Iterator[str]) -> None:
    """Write the blocks of the index, and the first key of each with its place."""
    offset, places = 0, [f"!meta 0 {json.dumps({'format': 'cdxj-gzip-1.0', 'filename': Path(BLOCKS).name})}\n"]
    with _entry(package, BLOCKS) as file:
        while block := list(islice(lines, LINES_PER_BLOCK)):
            packed = gzip.compress("".join(block).encode(), mtime=0)
            file.write(packed)
            place = {"offset": offset, "length": len(packed), "digest": _digest(packed)}
            places.append(f"{block[0].partition(' {')[0]} {json.dumps(place)}\n")
            offset += len(packed)
    with _entry(package, INDEX) as file:
        file.write("".join(places).encode())


def _write_pages(package: zipfile.ZipFile, pages: PageSelection, archived: PageSet) -> tuple[int, int]:
    """List the pages that are archived, most relevant first; return their number, and that of the others."""
    listed = missing = 0
    with _entry(package, PAGES) as file:
        head = {"format": "json-pages-1.0", "id": "pages", "title": pages.crawl, "hasText": True}
        file.write(f"{printable_json(head)}\n".encode())
        for record in pages.records():
            if record.fingerprint not in archived:
                missing += 1
                continue
            page = {
                "id": f"{record.fingerprint & 0xFFFFFFFFFFFFFFFF:016x}",
                "url": record.url,
                "ts": time_text(record.fetched_at),
                "title": record.title,
                "text": pages.collection.content(record.fingerprint).text,
            }
            file.write(f"{printable_json(page)}\n".encode("utf-8", "replace"))
            listed += 1
    return listed, missing


def _write_manifest(package: zipfile.ZipFile, pages: PageSelection) -> None:
    manifest = {
        "profile": "data-package",
        "wacz_version": VERSION,
        "title": pages.crawl,
        "description": pages.topic,
        "created": time_text(time.time()),
        "software": f"Thresher {__version__}",
        "resources": [_resource(package, entry) for entry in package.infolist()],
    }
    content = json.dumps(manifest, ensure_ascii=False, indent=2).encode("utf-8", "replace")
    for name, written in (
        ("datapackage.json", content),
        ("datapackage-digest.json", json.dumps({"path": "datapackage.json", "hash": _digest(content)}).encode()),
    ):
        with _entry(package, name) as file:
            file.write(written)


def _resource(package: zipfile.ZipFile, entry: zipfile.ZipInfo) -> dict[str, object]:
    with package.open(entry) as file:
        digest = hashlib.file_digest(file, "sha256")  # type: ignore[arg-type] # it has readinto
    name = Path(entry.filename).name
    return {"name": name, "path": entry.filename, "hash": f"sha256:{digest.hexdigest()}", "bytes": entry.file_size}


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _entry(package: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open a new file of the package.

    Its size is not known yet, so its header has room for 64-bit sizes; the directory of the ZIP repeats these only
    where they are needed. wabac.js, behind ReplayWeb.page, reads the length of a header only when the directory has
    some extra field. The time of the file is one.
    """
    now = int(time.time())
    info = zipfile.ZipInfo(name, time.gmtime(now)[:6])
    info.compress_type = zipfile.ZIP_STORED if name in _PACKED else zipfile.ZIP_DEFLATED
    info.extra = struct.pack("<HHBI", 0x5455, 5, 1, now)
    return package.open(info, "w", force_zip64=True)


WACZ = Wacz()

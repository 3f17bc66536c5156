"""The URL index of a crawl's WARC files, as Parquet: the table of Common Crawl's columnar index, its names and types.

Each row is one capture of an exported page: its URL in parts, the response, and the place of its record. Queries and
programs for Common Crawl's table (cc-index-table) read it as it is. It is partitioned as theirs, by crawl and subset:
``warc`` has the captures with status 200, ``crawldiagnostics`` the others. Rows are sorted by the SURT of the URL.

What a crawl does not know is null: segments, and types that are detected from the content. The language is that of the
page as it was fetched then.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import IO
from urllib.parse import quote, urljoin, urlsplit
from uuid import UUID

from thresher.errors import ExportError, is_disk_full
from thresher.export.formats import ExportSummary, PageSelection
from thresher.export.rows import Columns, Row, write_parquet
from thresher.locale.translation import _
from thresher.storage.page_set import PageSet
from thresher.storage.reader import PageStoreReader
from thresher.storage.warc.cdxj import surt_key
from thresher.storage.warc.reader import Member
from thresher.storage.warc.subset import members, page_of
from thresher.urls.canonical import is_address, suffix_and_domain

URL_COLUMNS: Columns = {
    "url_surtkey": "string",
    "url": "string",
    "url_host_name": "string",
    "url_host_tld": "string",
    "url_host_2nd_last_part": "string",
    "url_host_3rd_last_part": "string",
    "url_host_4th_last_part": "string",
    "url_host_5th_last_part": "string",
    "url_host_registry_suffix": "string",
    "url_host_registered_domain": "string",
    "url_host_private_suffix": "string",
    "url_host_private_domain": "string",
    "url_host_name_reversed": "string",
    "url_protocol": "string",
    "url_port": "int32",
    "url_path": "string",
    "url_query": "string",
    "fetch_time": "timestamp[us]",
    "fetch_status": "int16",
    "fetch_redirect": "string",
    "content_digest": "string",
    "content_mime_type": "string",
    "content_mime_detected": "string",
    "content_charset": "string",
    "content_languages": "string",
    "content_truncated": "string",
    "warc_record_id": "binary",
    "warc_filename": "string",
    "warc_record_offset": "int32",
    "warc_record_length": "int32",
    "warc_segment": "string",
}
"""The columns of the files; ``crawl`` and ``subset`` are in the names of their folders."""
ISO_639_3 = {
    "ar": "ara", "bg": "bul", "ca": "cat", "cs": "ces", "da": "dan", "de": "deu", "el": "ell", "en": "eng", "es": "spa",
    "et": "est", "eu": "eus", "fa": "fas", "fi": "fin", "fr": "fra", "ga": "gle", "gl": "glg", "he": "heb", "hi": "hin",
    "hr": "hrv", "hu": "hun", "hy": "hye", "id": "ind", "is": "isl", "it": "ita", "ja": "jpn", "ko": "kor", "lt": "lit",
    "lv": "lav", "ms": "msa", "ne": "nep", "nl": "nld", "no": "nor", "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus",
    "sk": "slk", "sl": "slv", "sr": "srp", "sv": "swe", "ta": "tam", "th": "tha", "tr": "tur", "uk": "ukr", "ur": "urd",
    "vi": "vie", "zh": "zho",
}  # fmt: skip
"""The codes of languages in the table, by ours."""
SUCCESSFUL, OTHERS = "warc", "crawldiagnostics"

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE).search
_OUR_FILE = re.compile(r"subset=[a-z]+/part-\d{5}\.parquet(?:\.part)?").fullmatch


class UrlIndex:
    """A Parquet table of the captures of the pages, partitioned by crawl."""

    is_folder = True

    def write(self, pages: PageSelection, path: Path | None, out: IO[str]) -> ExportSummary:
        assert path
        partition = path / f"crawl={quote(pages.crawl, safe=' ')}"
        unfinished = path.with_name(f"{path.name}.part")
        for place in (partition, unfinished):
            _refuse_other_files(place)
        try:
            shutil.rmtree(unfinished, ignore_errors=True)
            number = _write_partition(pages, unfinished)
            path.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(partition, ignore_errors=True)
            unfinished.replace(partition)
        except OSError as error:
            shutil.rmtree(unfinished, ignore_errors=True)
            if is_disk_full(error):
                raise
            raise ExportError(
                _("{path} cannot be written: {error}; choose another place", path=path, error=_(str(error.strerror)))
            ) from error
        return ExportSummary(number, "captures", _(" of pages"))


def _refuse_other_files(place: Path) -> None:
    """Refuse a folder with files that no export of an index wrote; the partitions of other crawls are not looked at."""
    files = (path.relative_to(place) for path in place.rglob("*") if not path.is_dir())
    if other := next((path for path in files if not _OUR_FILE(path.as_posix())), None):
        raise ExportError(
            _("{folder} holds {other}, which is not part of a URL index; name a new folder", folder=place, other=other)
        )


def _write_partition(pages: PageSelection, folder: Path) -> int:
    """Write the captures by subset, sorted on disk; return their number."""
    files, number = pages.warc_files(), 0
    with closing(pages.collection.scratch()) as db:
        db.execute("CREATE TEMP TABLE capture (subset TEXT, surt TEXT, time TEXT, fields TEXT)")
        db.execute("BEGIN")
        with closing(PageSet(pages.collection, pages.records())) as chosen:
            db.executemany("INSERT INTO capture VALUES (?, ?, ?, ?)", _captures(files, chosen, pages.collection))
        found = [subset for [subset] in db.execute("SELECT DISTINCT subset FROM capture")]
        for subset in found or [SUCCESSFUL]:  # an empty index can be opened too
            place = folder / f"subset={subset}"
            place.mkdir(parents=True)
            fields = db.execute("SELECT fields FROM capture WHERE subset = ? ORDER BY surt, time", [subset])
            table = (_typed(json.loads(row)) for [row] in fields)
            number += write_parquet(table, place / "part-00000.parquet", columns=URL_COLUMNS)
    return number


def _typed(row: Row) -> Row:
    row["fetch_time"] = datetime.fromisoformat(row["fetch_time"])
    row["warc_record_id"] = bytes.fromhex(row["warc_record_id"]) if row["warc_record_id"] else None
    return row


def _captures(
    files: Sequence[Path], chosen: PageSet, collection: PageStoreReader
) -> Iterator[tuple[str, str, str, str]]:
    """Yield the captures of the chosen pages: subset, SURT, time, and the row as JSON."""
    for path, member in members(files):
        page = page_of(member)
        if member.kind in ("response", "revisit") and page is not None and page in chosen:
            moment = datetime.fromisoformat(member.headers["warc-date"]).astimezone(UTC)
            row = {
                **url_parts(member.headers["warc-target-uri"].strip("<>")),
                **_response(member),
                "fetch_time": moment.replace(tzinfo=None).isoformat(),
                "content_languages": _language(collection, page, moment),
                "warc_filename": f"{path.parent.name}/{path.name}",
                "warc_record_offset": member.offset,
                "warc_record_length": member.length,
                "warc_segment": None,
            }
            subset = SUCCESSFUL if row["fetch_status"] == 200 else OTHERS
            yield subset, row["url_surtkey"], row["fetch_time"], json.dumps(row)


def url_parts(url: str) -> Row:
    """Return the columns of a canonical URL."""
    parts = urlsplit(url)
    host = re.sub(r":\d*$", "", parts.netloc.rpartition("@")[2])
    labels = [] if is_address(host) else host.split(".")[::-1]
    places = ("tld", "2nd_last_part", "3rd_last_part", "4th_last_part", "5th_last_part")
    row: Row = {
        "url_surtkey": surt_key(url),
        "url": url,
        "url_host_name": host,
        **{f"url_host_{place}": label for place, label in zip_longest(places, labels[: len(places)])},
        "url_host_name_reversed": ".".join(labels) or None,
        "url_protocol": parts.scheme,
        "url_port": parts.port,
        "url_path": parts.path,
        "url_query": parts.query or None,
    }
    for kind, name, private in (("registry", "registered", False), ("private", "private", True)):
        suffix, domain = suffix_and_domain(host, private=private)
        row |= {f"url_host_{kind}_suffix": suffix or None, f"url_host_{name}_domain": domain or None}
    return row


def _response(member: Member) -> Row:
    """Return the columns of the response, as its headers and those of its record state them."""
    kind, headers = member.http.get("content-type", ""), member.headers
    charset, location = _CHARSET(kind), member.http.get("location")
    is_redirect = member.status.startswith("3") and location
    return {
        "fetch_status": int(member.status) if member.status.isdecimal() else None,
        "fetch_redirect": urljoin(headers["warc-target-uri"].strip("<>"), location) if is_redirect else None,
        "content_digest": headers.get("warc-payload-digest", "").removeprefix("sha1:") or None,
        "content_mime_type": kind.partition(";")[0].strip().lower() or None,
        "content_mime_detected": headers.get("warc-identified-payload-type"),
        "content_charset": charset[1].upper() if charset else None,
        "content_truncated": headers.get("warc-truncated"),
        "warc_record_id": _record_id(headers.get("warc-record-id", "")),
    }


def _record_id(stated: str) -> str | None:
    """Return the UUID of a record as hexadecimal digits; None for an id of another kind."""
    with suppress(ValueError):
        return UUID(stated.strip("<>").removeprefix("urn:uuid:")).hex
    return None


def _language(collection: PageStoreReader, page: int, moment: datetime) -> str | None:
    """Return the language that a page had when it was fetched at a time."""
    visits = collection.history(page)
    codes = {datetime.fromtimestamp(record.fetched_at, UTC): record.language for record in visits}
    return ISO_639_3.get(codes.get(moment, ""))


URL_INDEX = UrlIndex()

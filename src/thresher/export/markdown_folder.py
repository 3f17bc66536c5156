"""A folder of Markdown: one file per page with its fields as YAML front matter, and an index.

Each file is replaced atomically, and only when its content differs. So an export that was interrupted goes on when it
is repeated, and a repeated export leaves the files of unchanged pages as they are. Files of pages that are no longer
exported are removed; nothing else in the folder is touched. Whether a folder of an earlier export may be changed is
the caller's decision.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from thresher.atomic_file import atomic_write
from thresher.errors import ExportError, is_disk_full
from thresher.export.rows import Row, time_text
from thresher.parsing.content_blocks import CONTROL
from thresher.parsing.main_content import PageContent
from thresher.storage.page_store import PageRecord
from thresher.text.terminal import printable, printable_json
from thresher.urls.canonical import host_key

INDEX = "index.jsonl"
"""The index: one line per page with its file and its fields."""

_MAX_SLUG_BYTES = 80
_OUR_FILE = re.compile(r"[^/\\]{1,100}/[^/\\]{0,100}-[0-9a-f]{16}\.md").fullmatch
_OUTSIDE_NAMES = re.compile(r"[^\w.-]+|_+")


@dataclass(frozen=True, slots=True)
class FolderSummary:
    """What an export did.

    Args:
        pages: Files that the folder holds for pages.
        written: Those of them that are new or changed.
        removed: Files of pages that are no longer exported.
    """

    pages: int = 0
    written: int = 0
    removed: int = 0


def write_markdown_folder(pages: Iterable[tuple[PageRecord, PageContent]], folder: Path) -> FolderSummary:
    """Write one file per page, and the index at the end.

    Raises:
        ExportError: The folder cannot be written, or its index is not that of an export.
    """
    before = _indexed(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        count = written = 0
        with atomic_write(folder / INDEX) as unfinished, unfinished.open("w", encoding="utf-8") as index:
            for record, content in pages:
                name, fields = file_name(record.url, record.fingerprint), front_matter(record, content)
                written += _write(folder / name, document(fields, content))
                index.write(printable_json({"file": name, **fields}) + "\n")
                before.discard(name)
                count += 1
        for name in before:
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        if is_disk_full(error):
            raise
        raise ExportError(f"{folder} cannot be written: {error.strerror}; choose another place") from error
    return FolderSummary(count, written, len(before))


def _indexed(folder: Path) -> set[str]:
    """Return the files that an earlier export wrote; none without an index.

    Raises:
        ExportError: The index is not that of an export.
    """
    try:
        lines = (folder / INDEX).read_text(encoding="utf-8").splitlines()
        return {name for line in lines if _OUR_FILE(name := str(json.loads(line)["file"])) and ".." not in name}
    except OSError:
        return set()
    except (ValueError, KeyError, TypeError) as error:
        raise ExportError(f"{folder / INDEX} was not written by an export; name another folder") from error


def _write(path: Path, text: str) -> bool:
    """Write a file atomically; return False when it already has this content."""
    data = text.encode("utf-8", "replace")
    try:
        if path.stat().st_size == len(data) and path.read_bytes() == data:
            return False
    except FileNotFoundError:
        path.parent.mkdir(exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_bytes(data)
    unfinished.replace(path)
    return True


def front_matter(record: PageRecord, content: PageContent) -> Row:
    """Return the fields of a page."""
    return {
        "title": record.title,
        "url": record.url,
        **asdict(content.metadata),
        "language": record.language,
        "relevance": round(record.relevance, 6),
        "relevant": record.relevant,
        "fetched_at": time_text(record.fetched_at),
        "opt_outs": " ".join(record.opt_outs),
        "text_hash": f"{record.text_hash & 0xFFFFFFFFFFFFFFFF:016x}",
    }


def document(fields: Row, content: PageContent) -> str:
    """Return the file of a page; JSON values are valid YAML, whatever a title contains."""
    lines = (f"{name}: {_scalar(value)}" for name, value in fields.items())
    return "\n".join(["---", *lines, "---", "", content.markdown, ""])


def _scalar(value: object) -> str:
    if isinstance(value, str):
        value = CONTROL.sub("", printable(value))
    return printable_json(value)


def file_name(url: str, fingerprint: int) -> str:
    """Return the path of a page's file: its host, the end of its URL, and its fingerprint, which makes it unique."""
    path = unquote(urlsplit(url).path, errors="replace").rstrip("/")
    last = unicodedata.normalize("NFC", path.rpartition("/")[2])
    slug = _OUTSIDE_NAMES.sub("-", last.removesuffix(".html")).strip("-.")
    short = slug.encode("utf-8", "replace")[:_MAX_SLUG_BYTES].decode("utf-8", "ignore") or "page"
    host = re.sub(r"[^a-z0-9.-]", "_", host_key(url)).strip(".")[:100] or "host"
    return f"{host}/{short}-{fingerprint & 0xFFFFFFFFFFFFFFFF:016x}.md"

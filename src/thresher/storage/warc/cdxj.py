"""CDXJ: the sorted index by which replay tools such as pywb find a page in WARC files.

Each WARC file has an index of the same name beside it, written when the file is complete; all of them together are the
index of the crawl. An index can always be rebuilt from its file.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from thresher.storage.warc.reader import SUFFIX, Member, walk, warc_paths
from thresher.storage.warc.surt import surt_key

ENDING = ".cdxj"
_INDEXED = ("response", "revisit")


def index_path(path: Path) -> Path:
    """Return the path of the index of a WARC file."""
    return path.with_name(path.name.removesuffix(SUFFIX) + ENDING)


def line_of(filename: str, offset: int, length: int, headers: Mapping[str, str], http: Mapping[str, str]) -> str:
    """Return the index line of a record; header names are in lower case, as in `Member`."""
    url = headers["warc-target-uri"]
    time = "".join(filter(str.isdigit, headers["warc-date"]))[:14]
    revisit = headers.get("warc-type") == "revisit"
    fields = {
        "url": url,
        "mime": "warc/revisit" if revisit else http.get("content-type", "unk").partition(";")[0].strip().lower(),
        "status": [*http.get("", "").split(" "), "", ""][1],
        "digest": headers.get("warc-payload-digest", "-"),
        "length": str(length),
        "offset": str(offset),
        "filename": filename,
    }
    return f"{surt_key(url)} {time} {json.dumps(fields, ensure_ascii=False)}\n"


def member_line(filename: str, member: Member) -> str | None:
    """Return the index line of a record; None for a record that is not indexed."""
    if member.kind not in _INDEXED or "warc-target-uri" not in member.headers:
        return None
    return line_of(filename, member.offset, member.length, member.headers, member.http)


def lines_of_file(path: Path) -> list[str]:
    """Rebuild the index of a WARC file from its records."""
    members = (found for found in walk(path) if isinstance(found, Member))
    return sorted(line for member in members if (line := member_line(path.name, member)) is not None)


def write_index(path: Path, lines: Iterable[str]) -> None:
    """Write the index of a WARC file atomically."""
    target = index_path(path)
    temporary = target.with_name(target.name + ".part")
    with temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(sorted(lines))
    temporary.replace(target)


def merged(folder: Path) -> Iterator[str]:
    """Yield the sorted lines of all indexes of a crawl; files without an index yet are indexed on the fly."""
    with ExitStack() as stack:
        streams: list[Iterable[str]] = []
        for path in warc_paths(folder):
            index = index_path(path)
            if index.exists():
                streams.append(stack.enter_context(index.open(encoding="utf-8")))
            else:
                streams.append(lines_of_file(path))
        yield from heapq.merge(*streams)

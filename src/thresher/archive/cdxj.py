"""CDXJ: the sorted index by which replay tools such as pywb find a page in WARC files.

One index lies beside each WARC file, under the same name, and is written when that is complete; all of them together
are the index of the crawl. An index can always be made anew from its file.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import surt  # type: ignore[import-untyped,unused-ignore]

from thresher.archive.warc_file import SUFFIX, Member, walk, warc_paths

ENDING = ".cdxj"
_INDEXED = ("response", "revisit")


def index_path(path: Path) -> Path:
    """Return where the index of a WARC file lies."""
    return path.with_name(path.name.removesuffix(SUFFIX) + ENDING)


def key_of(url: str) -> str:
    """Return the key under which a URL is sorted: its host from behind, then its path."""
    return str(surt.surt(url))


def line_of(filename: str, offset: int, length: int, headers: Mapping[str, str], http: Mapping[str, str]) -> str:
    """Write the line of a record; header names in lower case, as of `warc_file.Member`."""
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
    return f"{key_of(url)} {time} {json.dumps(fields, ensure_ascii=False)}\n"


def member_line(filename: str, member: Member) -> str | None:
    """Write the line of a record; None for a record that is not looked up."""
    if member.kind not in _INDEXED or "warc-target-uri" not in member.headers:
        return None
    return line_of(filename, member.offset, member.length, member.headers, member.http)


def lines_of_file(path: Path) -> list[str]:
    """Make the index of a WARC file from its records."""
    members = (found for found in walk(path) if isinstance(found, Member))
    return sorted(line for member in members if (line := member_line(path.name, member)) is not None)


def write_index(path: Path, lines: Iterable[str]) -> None:
    """Write the index of a WARC file; it appears under its name only when it is whole."""
    target = index_path(path)
    beside = target.with_name(target.name + ".part")
    with beside.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(sorted(lines))
    beside.replace(target)


def merged(folder: Path) -> Iterator[str]:
    """Yield the lines of all indexes of a crawl in their order; files that have no index yet are read for it."""
    with ExitStack() as stack:
        streams: list[Iterable[str]] = []
        for path in warc_paths(folder):
            index = index_path(path)
            if index.exists():
                streams.append(stack.enter_context(index.open(encoding="utf-8")))
            else:
                streams.append(lines_of_file(path))
        yield from heapq.merge(*streams)

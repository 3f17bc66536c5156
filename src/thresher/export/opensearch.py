"""A bulk file for OpenSearch or Elasticsearch: for each page a line with its id, and one with its columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import IO

from thresher.export.rows import Row
from thresher.text.terminal import printable_json
from thresher.urls.canonical import fingerprint

_MAX_NAME_BYTES = 255


def index_name(crawl: str) -> str:
    """Return a valid index name for a crawl."""
    name = re.sub(r'[\\/*?"<>|\s,#:]+', "-", crawl.lower()).lstrip("-_+.").encode()[:_MAX_NAME_BYTES]
    return name.decode("utf-8", "ignore") or "pages"


def write_bulk(pages: Iterable[Row], out: IO[str], *, index: str) -> int:
    """Write pages, each with a stable id, so that sending the file twice changes nothing; return their number."""
    number = 0
    for number, row in enumerate(pages, start=1):  # noqa: B007 - the last number is the result
        name = f"{fingerprint(row['url']) & 0xFFFFFFFFFFFFFFFF:016x}"
        out.write(printable_json({"index": {"_index": index, "_id": name}}) + "\n")
        out.write(printable_json(row) + "\n")
    return number

"""A stand-in of a CDX index of captured URLs, as Common Crawl serves it: ``collinfo.json`` and one CDX interface.

After pywb's manual, "CDXJ Server API", and index.commoncrawl.org, read on 2026-11-17: ``url``, ``matchType``,
``output=json`` (one JSON object per line), ``fl``, ``limit``, ``filter`` (``=field:value`` exact, ``~field:regex``
matching the whole value, else a part of it); no capture is status 404 with a JSON message. ``collinfo.json`` lists the
indexes, newest first, each with ``id``, ``name`` and ``cdx-api``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlsplit

from testing.seed_services.service import Parameters, Service

INDEX = "/CC-MAIN-2026-04-index"


class CommonCrawlService(Service):
    """An index of the given URLs."""

    path = "/collinfo.json"

    def __init__(self, urls: Iterable[str]) -> None:
        super().__init__()
        self._captures = [
            {"urlkey": url, "timestamp": "20260120000000", "url": url, "mime": "text/html", "status": "200"}
            for url in urls
        ]

    def answer(self, path: str, parameters: Parameters) -> tuple[int, Any]:
        if path == self.path:
            api = f"http://127.0.0.1:{self.port}{INDEX}"
            return 200, [{"id": INDEX[1:-6], "name": "January 2026 Index", "cdx-api": api}]
        if path != INDEX or parameters.get("output") != ["json"]:
            return 400, {"message": "wrong request"}
        [host] = parameters["url"]
        found = [row for row in self._captures if urlsplit(row["url"]).netloc == host]
        found = [row for row in found if _passes(row, parameters.get("filter", []))]
        if not found:
            return 404, {"message": f"No Captures found for: {host}"}
        fields = parameters.get("fl", [",".join(found[0])])[0].split(",")
        rows = ({name: row[name] for name in fields} for row in found[: int(parameters["limit"][0])])
        return 200, "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def _passes(row: dict[str, str], filters: Sequence[str]) -> bool:
    for text in filters:
        field, _, wanted = text.lstrip("=~").partition(":")
        value = row[field]
        matches = {"=": value == wanted, "~": bool(re.fullmatch(wanted, value))}.get(text[0], wanted in value)
        if not matches:
            return False
    return True

"""A stand-in of SearXNG over a full-text index: ``GET /search?q=…&format=json&pageno=…&language=…``.

After docs.searxng.org, "Search API", read on 2026-11-17: parameters ``q``, ``format``, ``pageno``, ``language``; a
format that the settings do not list is answered with 403; the JSON is an object with ``query`` and ``results``, each
with ``url``, ``title``, ``content`` and ``engine``.
"""

from __future__ import annotations

from typing import Any

from testing.seed_services.service import Parameters, Service
from testing.seed_services.text_index import TextIndex

RESULTS_PER_PAGE = 20


class SearxngService(Service):
    """A search engine over one web."""

    path = "/search"

    def __init__(self, index: TextIndex) -> None:
        super().__init__()
        self._index = index

    def answer(self, path: str, parameters: Parameters) -> tuple[int, Any]:
        if path != self.path or "q" not in parameters:
            return 400, b"no query"
        if parameters.get("format") != ["json"]:
            return 403, b"Forbidden"
        [query], page = parameters["q"], int(parameters.get("pageno", ["1"])[0])
        found = self._index.search(query, most=RESULTS_PER_PAGE, skip=RESULTS_PER_PAGE * (page - 1))
        rows = [{"url": each.url, "title": each.title, "content": each.text, "engine": "plain"} for each in found]
        return 200, {
            "query": query,
            "number_of_results": len(rows),
            "results": rows,
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": [],
            "unresponsive_engines": [],
        }

"""What TFC tables have counted, kept over restarts and added up over the workers of a crawl."""

from __future__ import annotations

import json
from collections.abc import Mapping
from uuid import uuid4

from thresher.classify.base import Notebook
from thresher.strategies.evidence.tfc import UnitTable

PAGES_PER_NOTE = 200
"""How often counts are written down, and those of other workers read."""


class UnitNotes:
    """Writes the counts of some tables into a notebook, and reads what others wrote.

    Args:
        kind: The name of the entry.
        tables: The tables by name.
    """

    def __init__(self, kind: str, tables: Mapping[str, UnitTable]) -> None:
        self._kind = kind
        self._tables = tables
        self._notebook: Notebook | None = None
        self._worker = uuid4().hex
        self._pages = 0

    def keep_in(self, notebook: Notebook) -> None:
        """Go on with the counts of an earlier run."""
        self._notebook = notebook
        if content := notebook.read(self._kind):
            state = json.loads(content)
            self._worker = state["worker"]
            for name, table in self._tables.items():
                table.go_on_from(state["tables"][name])
        self._read_others()

    def page_done(self) -> None:
        """Count a page, and exchange counts every now and then."""
        self._pages += 1
        if self._pages % PAGES_PER_NOTE == 0:
            self.write_down()
            self._read_others()

    def write_down(self) -> None:
        """Write down this worker's own counts."""
        if self._notebook:
            tables = {name: table.state() for name, table in self._tables.items()}
            content = json.dumps({"worker": self._worker, "tables": tables}, ensure_ascii=False)
            self._notebook.write(self._kind, content.encode("utf-8", "replace"))

    def _read_others(self) -> None:
        for content in self._notebook.read_others(self._kind) if self._notebook else ():
            state = json.loads(content)
            if state["worker"] != self._worker:
                for name, table in self._tables.items():
                    table.take_over(state["worker"], state["tables"][name])

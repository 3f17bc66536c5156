"""What TFC tables have counted, kept over restarts and added up over the workers of a crawl."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from thresher.classify.base import Notebook
from thresher.classify.entries import fitted, pack_values, readable, unpack_values
from thresher.classify.rhythm import Rhythm
from thresher.strategies.evidence.tfc import MOST_TERMS, UnitTable


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
        self._rhythm = Rhythm()
        self._pages = 0

    def keep_in(self, notebook: Notebook) -> None:
        """Go on with the counts of an earlier run."""
        self._notebook = notebook
        if content := notebook.read(self._kind):
            state = unpack_values(content)
            self._worker = str(state["worker"])
            for name, table in self._tables.items():
                table.go_on_from(state["tables"][name])
        self._read_others()

    def page_done(self) -> None:
        """Count a page, and exchange counts every now and then."""
        self._pages += 1
        if self._rhythm.is_write_due(self._pages):
            self.write_down()
        if self._rhythm.is_read_due(self._pages):
            self._read_others()

    def write_down(self) -> None:
        """Write down this worker's own counts."""
        if self._notebook:
            content, _ = fitted(self._entry, MOST_TERMS)
            self._notebook.write(self._kind, content)
        self._rhythm.written(self._pages)

    def _entry(self, most_terms: int) -> bytes:
        tables = {name: table.state(most_terms) for name, table in self._tables.items()}
        return pack_values({"worker": self._worker, "tables": tables})

    def _read_others(self) -> None:
        self._rhythm.read(self._pages)
        entries = self._notebook.read_others(self._kind) if self._notebook else ()
        for worker, tables in readable(entries, self._read, "counts of words"):
            if worker != self._worker:
                for name, table in self._tables.items():
                    table.take_over(worker, tables[name])

    def _read(self, content: bytes) -> tuple[str, Mapping[str, Any]]:
        state = unpack_values(content)
        return str(state["worker"]), {name: UnitTable.checked(state["tables"][name]) for name in self._tables}

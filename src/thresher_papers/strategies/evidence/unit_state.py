"""Persistence of TFC tables over restarts, and their exchange between the workers of a crawl."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from thresher.judges.base import StateStore
from thresher.modelstate.codec import fitted, pack_values, readable, unpack_values
from thresher.modelstate.schedule import RefitSchedule
from thresher_papers.strategies.evidence.tfc import MAX_TERMS, UnitTable


class UnitTableState:
    """Saves the counts of some tables to the state store, and reads those of other workers.

    Args:
        kind: The kind of the entry in the store.
        tables: The tables by name.
    """

    def __init__(self, kind: str, tables: Mapping[str, UnitTable]) -> None:
        self._kind = kind
        self._tables = tables
        self._state_store: StateStore | None = None
        self._worker = uuid4().hex
        self._refit_schedule = RefitSchedule()
        self._pages = 0

    def load_state(self, state_store: StateStore) -> None:
        self._state_store = state_store
        if content := state_store.read(self._kind):
            state = unpack_values(content)
            self._worker = str(state["worker"])
            for name, table in self._tables.items():
                if name in state["tables"]:  # an earlier version had fewer tables
                    table.restore(state["tables"][name])
        self._read_others()

    def page_done(self) -> None:
        self._pages += 1
        if self._refit_schedule.is_write_due(self._pages):
            self.save_state()
        if self._refit_schedule.is_read_due(self._pages):
            self._read_others()

    def save_state(self) -> None:
        if self._state_store:
            content, _ = fitted(self._entry, MAX_TERMS)
            self._state_store.write(self._kind, content)
        self._refit_schedule.written(self._pages)

    def _entry(self, most_terms: int) -> bytes:
        tables = {name: table.state(most_terms) for name, table in self._tables.items()}
        return pack_values({"worker": self._worker, "tables": tables})

    def _read_others(self) -> None:
        self._refit_schedule.read(self._pages)
        entries = self._state_store.read_others(self._kind) if self._state_store else ()
        for worker, tables in readable(entries, self._read, "counts of words"):
            if worker != self._worker:
                for name, table in tables.items():
                    self._tables[name].merge(worker, table)

    def _read(self, content: bytes) -> tuple[str, Mapping[str, Any]]:
        state = unpack_values(content)
        tables = state["tables"]
        return str(state["worker"]), {name: UnitTable.checked(tables[name]) for name in self._tables if name in tables}

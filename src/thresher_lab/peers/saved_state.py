"""State of a worker that survives restarts; workers do not share it."""

from __future__ import annotations

from collections.abc import Callable

from thresher.judges.base import StateStore
from thresher.modelstate.schedule import RefitSchedule


class StateSaver:
    """Saves one entry to a state store periodically.

    Args:
        kind: The name of the entry.
        write: Returns the state.
        read: Restores the state.
    """

    def __init__(self, kind: str, write: Callable[[], bytes], read: Callable[[bytes], None]) -> None:
        self._kind = kind
        self._write = write
        self._read = read
        self._refit_schedule = RefitSchedule()
        self._pages = 0
        self._state_store: StateStore | None = None

    def load_state(self, state_store: StateStore) -> None:
        self._state_store = state_store
        if content := state_store.read(self._kind):
            self._read(content)

    def page_done(self) -> None:
        """Count a page, and save when it is due."""
        self._pages += 1
        if self._refit_schedule.is_write_due(self._pages):
            self.save_state()

    def save_state(self) -> None:
        if self._state_store:
            self._state_store.write(self._kind, self._write())
        self._refit_schedule.written(self._pages)

"""What a worker learned, kept over restarts; workers do not learn from each other here."""

from __future__ import annotations

from collections.abc import Callable

from thresher.classify.base import Notebook
from thresher.classify.rhythm import Rhythm


class Notes:
    """Writes one entry into a notebook every now and then.

    Args:
        kind: The name of the entry.
        write: Gives what was learned.
        read: Takes up what was learned before.
    """

    def __init__(self, kind: str, write: Callable[[], bytes], read: Callable[[bytes], None]) -> None:
        self._kind = kind
        self._write = write
        self._read = read
        self._rhythm = Rhythm()
        self._pages = 0
        self._notebook: Notebook | None = None

    def keep_in(self, notebook: Notebook) -> None:
        """Take up what was learned before."""
        self._notebook = notebook
        if content := notebook.read(self._kind):
            self._read(content)

    def page_done(self) -> None:
        """Count a page, and write when it is time."""
        self._pages += 1
        if self._rhythm.is_write_due(self._pages):
            self.write_down()

    def write_down(self) -> None:
        """Write down what was learned."""
        if self._notebook:
            self._notebook.write(self._kind, self._write())
        self._rhythm.written(self._pages)

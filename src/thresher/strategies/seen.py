"""Which URLs somebody has gone to, kept over restarts and shared between the workers of a crawl."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from thresher.classify.base import Notebook
from thresher.urls.canonical import fingerprint

MOST_SEEN = 200_000
"""Beyond it the oldest are forgotten."""
SAVE_PAGES = 1_000
"""How many pages' memory a crash may cost."""
NOTES = "seen"


class SeenUrls:
    """A bounded memory of URLs, by their fingerprints."""

    def __init__(self) -> None:
        self._seen: dict[int, None] = {}
        self._unsaved = 0
        self._notebook: Notebook | None = None

    def __contains__(self, url: str) -> bool:
        """Tell whether a URL was seen, as far as is remembered."""
        return fingerprint(url) in self._seen

    def add(self, url: str) -> None:
        """Remember a URL."""
        self._seen[fingerprint(url)] = None
        if len(self._seen) > MOST_SEEN:
            del self._seen[next(iter(self._seen))]

    def page_done(self) -> None:
        """Count a page, and write down every now and then."""
        self._unsaved += 1
        if self._unsaved >= SAVE_PAGES:
            self.write_down()

    def keep_in(self, notebook: Notebook) -> None:
        """Take up which URLs were seen before, by this worker and by others."""
        self._notebook = notebook
        own = notebook.read(NOTES)
        self._take_up([own] if own else [])
        self._take_up(notebook.read_others(NOTES))

    def write_down(self) -> None:
        """Write down which URLs were seen, and read what others saw."""
        if self._notebook:
            self._notebook.write(NOTES, array("q", self._seen).tobytes())
            self._take_up(self._notebook.read_others(NOTES))
        self._unsaved = 0

    def _take_up(self, notes: Iterable[bytes]) -> None:
        for note in notes:
            found = array("q")
            found.frombytes(note[: len(note) // found.itemsize * found.itemsize])
            self._seen.update(dict.fromkeys(found))

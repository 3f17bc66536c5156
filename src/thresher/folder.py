"""Where the things of a crawl lie on disk."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from thresher.errors import CrawlBusy, CrawlNotFound


@dataclass(frozen=True)
class CrawlFolder:
    """A crawl on disk: what the user wrote, what waits, what was found."""

    root: Path

    @property
    def name(self) -> str:
        """The folder's own name, which is the crawl's name until topic.yaml says another."""
        return self.root.resolve().name

    @property
    def topic(self) -> Path:
        """What to look for, where to stop, manners."""
        return self.root / "topic.yaml"

    @property
    def seeds(self) -> Path:
        """The default list of seeds, one URL per line."""
        return self.root / "seeds.txt"

    @property
    def frontier(self) -> Path:
        """The SQLite frontier."""
        return self.root / "frontier.db"

    @property
    def pages(self) -> Path:
        """One segment of judged pages per worker."""
        return self.root / "pages"

    @property
    def model(self) -> Path:
        """What was learned."""
        return self.root / "model"

    @property
    def log(self) -> Path:
        """What workers and their supervisor had to say, one JSON object per line."""
        return self.root / "crawl.log.jsonl"

    @contextmanager
    def only_one_run(self) -> Iterator[None]:
        """Let one supervisor at a time run this crawl; the lock goes with its process, however that ends.

        Raises:
            CrawlBusy: Another one holds it.
        """
        with (self.root / ".lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise CrawlBusy(self.root) from error
            yield

    def existing(self) -> CrawlFolder:
        """Return the folder itself.

        Raises:
            CrawlNotFound: There is no topic.yaml in it.
        """
        if not self.topic.is_file():
            raise CrawlNotFound(self.root)
        return self

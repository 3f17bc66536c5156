"""Where the things of a crawl lie on disk."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from thresher.errors import ConfigError, CrawlBusy, CrawlNotFound

LOCK_TRIES, LOCK_SECONDS = 10, 0.01


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

    def segments(self) -> list[Path]:
        """Return the files of the page store, one per worker."""
        return sorted(self.pages.glob("*.db"))

    @property
    def warc(self) -> Path:
        """WARC files with their indexes, one set per worker, when topic.yaml wants them."""
        return self.root / "warc"

    @property
    def model(self) -> Path:
        """What was learned."""
        return self.root / "model"

    @property
    def labels(self) -> Path:
        """What people said of pages, one JSON object per line."""
        return self.root / "labels.jsonl"

    @property
    def log(self) -> Path:
        """What workers and their supervisor had to say, one JSON object per line."""
        return self.root / "crawl.log.jsonl"

    @property
    def mark(self) -> Path:
        """What tells this folder from those of other machines that work for the same crawl."""
        return self.root / ".machine"

    @property
    def joined(self) -> Path:
        """Which crawl of which store this folder works for, when it was made by joining one."""
        return self.root / "joined.json"

    @property
    def store(self) -> Path:
        """Which store the crawl lives in, without its password; written by the first run."""
        return self.root / "store.json"

    def join(self, changes: Mapping[str, str]) -> None:
        """Note which crawl this folder works for."""
        self.write_json(self.joined, changes)

    def write_json(self, path: Path, content: Mapping[str, str]) -> None:
        """Write a small file, whole or not at all, that nobody else may read."""
        beside = path.with_name(f".{path.stem}.new")
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(dict(content), file)
        beside.replace(path)

    def joined_changes(self) -> dict[str, str]:
        """Return what the crawl that was joined puts in the place of topic.yaml's words; nothing for one's own crawl.

        Raises:
            ConfigError: The note was changed by hand, and cannot be read.
        """
        if not self.joined.is_file():
            return {}
        try:
            said = dict(json.loads(self.joined.read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise ConfigError(f"{self.joined} cannot be read: {error}; join the crawl again: thresher work") from error
        return {str(name): str(value) for name, value in said.items()}

    def runner(self) -> int:
        """Return the process that runs this crawl on this machine; 0 when none does."""
        try:
            with (self.root / ".lock").open() as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # several may look at once
                except BlockingIOError:
                    return int(file.read(20).strip() or 0)
        except (FileNotFoundError, ValueError):
            pass
        return 0

    @contextmanager
    def only_one_run(self) -> Iterator[None]:
        """Let one supervisor at a time run this crawl; the lock goes with its process, however that ends.

        Raises:
            CrawlBusy: Another one holds it.
        """
        with (self.root / ".lock").open("a") as file:
            if not _locked(file):
                raise CrawlBusy(self.root)
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield

    def existing(self) -> CrawlFolder:
        """Return the folder itself.

        Raises:
            CrawlNotFound: There is no topic.yaml in it.
        """
        if not self.topic.is_file():
            raise CrawlNotFound(self.root)
        return self


def _locked(file: IO[str]) -> bool:
    """Take a lock; one who only looks whether it is taken holds it for a moment."""
    for _ in range(LOCK_TRIES):
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(LOCK_SECONDS)
    return False

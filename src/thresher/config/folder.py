"""The folder of a crawl: its files and its lock."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from thresher.config.run_options import RunOptions
from thresher.errors import ConfigError, CrawlBusy, CrawlNotFound, ThresherError
from thresher.locale.translation import _

LOCK_TRIES, LOCK_SECONDS = 10, 0.01


@dataclass(frozen=True)
class CrawlFolder:
    """The files of a crawl: settings, frontier, results."""

    root: Path

    @property
    def name(self) -> str:
        """The name of the folder: the default name of the crawl."""
        return self.root.resolve().name

    @property
    def topic(self) -> Path:
        """The settings."""
        return self.root / "topic.yaml"

    @property
    def seeds(self) -> Path:
        """The default list of seeds, one URL per line."""
        return self.root / "seeds.txt"

    @property
    def frontier(self) -> Path:
        return self.root / "frontier.db"

    @property
    def pages(self) -> Path:
        """The page store: one segment per worker."""
        return self.root / "pages"

    def segments(self) -> list[Path]:
        """Return the files of the page store, one per worker."""
        return sorted(self.pages.glob("*.db"))

    @property
    def warc(self) -> Path:
        """WARC files with their indexes, one set per worker, if topic.yaml enables them."""
        return self.root / "warc"

    @property
    def model(self) -> Path:
        """Learned state."""
        return self.root / "model"

    @property
    def labels(self) -> Path:
        """Labels, one JSON object per line."""
        return self.root / "labels.jsonl"

    @property
    def model_answers(self) -> Path:
        """Requests to a language model with their answers, one JSON object per line."""
        return self.root / "model-answers.jsonl"

    @property
    def log(self) -> Path:
        """The log of workers and supervisor, one JSON object per line."""
        return self.root / "crawl.log.jsonl"

    @property
    def lock(self) -> Path:
        """Locked while a run is under way; it has the id of its process, and was written when the run began."""
        return self.root / ".lock"

    @property
    def mark(self) -> Path:
        """An id that distinguishes this folder from those of other machines that work for the same crawl."""
        return self.root / ".machine"

    @property
    def joined(self) -> Path:
        """The crawl that this folder joined, if it did."""
        return self.root / "joined.json"

    @property
    def store(self) -> Path:
        """The store of the crawl, without its password; written by the first run."""
        return self.root / "store.json"

    def join(self, options: RunOptions) -> None:
        """Record the crawl that this folder joined."""
        self.write_json(self.joined, options.stored())

    def write_json(self, path: Path, content: Mapping[str, str]) -> None:
        """Write a small file atomically, readable by its owner only."""
        temporary = path.with_name(f".{path.stem}.new")
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(dict(content), file)
        temporary.replace(path)

    def joined_options(self) -> RunOptions:
        """Return the settings of a joined crawl that override topic.yaml; empty when none was joined.

        Raises:
            ConfigError: The file cannot be read.
        """
        if not self.joined.is_file():
            return RunOptions()
        try:
            stored = dict(json.loads(self.joined.read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise ConfigError(
                _("{file} cannot be read: {error}; join the crawl again: thresher join", file=self.joined, error=error)
            ) from error
        return RunOptions.of(stored)

    def runner(self) -> int:
        """Return the id of the process that runs this crawl on this machine; 0 when none does."""
        try:
            with self.lock.open() as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: several may check at once
                except BlockingIOError:
                    return int(file.read(20).strip() or 0)
        except (FileNotFoundError, ValueError):
            pass
        return 0

    def only_one_run(self) -> AbstractContextManager[None]:
        """Hold the lock of a run; the operating system releases it when the process ends.

        Raises:
            CrawlBusy: Another process holds it.
        """
        return _exclusive(self.lock, CrawlBusy(self.root))

    def only_one_watch(self) -> AbstractContextManager[None]:
        """Hold the lock of the process that watches the crawl; runs may be under way meanwhile.

        Raises:
            ConfigError: Another process holds it.
        """
        busy = ConfigError(_("{folder} is watched by another process already; stop that one first", folder=self.root))
        return _exclusive(self.root / ".watch.lock", busy)

    def existing(self) -> CrawlFolder:
        """Return the folder itself.

        Raises:
            CrawlNotFound: It has no topic.yaml.
        """
        if not self.topic.is_file():
            raise CrawlNotFound(self.root)
        return self


@contextmanager
def _exclusive(path: Path, busy: ThresherError) -> Iterator[None]:
    """Hold the lock of a file, which then has the id of this process."""
    with path.open("a") as file:
        if not _locked(file):
            raise busy
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _locked(file: IO[str]) -> bool:
    """Try to get the lock; retry, because `runner` holds it for a moment."""
    for _attempt in range(LOCK_TRIES):
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(LOCK_SECONDS)
    return False

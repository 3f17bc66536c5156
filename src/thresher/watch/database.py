"""The state of a watched crawl: what was reported, the round under way, digests and their deliveries.

One SQLite file, `watch.db`, in the folder of the crawl. A digest, the pages that it reports and its deliveries are
written in one transaction: a change is in exactly one digest, whenever the process is killed.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from thresher.errors import ConfigError
from thresher.refresh.changes import ChangeKind

FORMAT = 1
_TABLES = """
    CREATE TABLE IF NOT EXISTS reported (
        fingerprint INTEGER PRIMARY KEY, text_hash INTEGER NOT NULL, at REAL NOT NULL, gone INTEGER NOT NULL
    );
    CREATE TABLE IF NOT EXISTS baseline (recorded_at REAL NOT NULL);
    CREATE TABLE IF NOT EXISTS round (
        number INTEGER PRIMARY KEY, began_at REAL NOT NULL, stage TEXT NOT NULL, page_limit INTEGER NOT NULL,
        ended_at REAL
    );
    CREATE TABLE IF NOT EXISTS digest (number INTEGER PRIMARY KEY, created_at REAL NOT NULL, body TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS delivery (
        digest INTEGER NOT NULL, webhook TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
        next_at REAL NOT NULL, acknowledged_at REAL, abandoned_at REAL, error TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (digest, webhook)
    );
"""


class Stage(StrEnum):
    """The part of a round that is under way."""

    VISITS = "visits"
    NEW_PAGES = "new pages"
    DIGEST = "digest"


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round of a watched crawl.

    Args:
        page_limit: The number of pages of the crawl at which its search for new pages ends.
    """

    number: int
    began_at: float
    stage: Stage
    page_limit: int


@dataclass(frozen=True, kw_only=True)
class DigestEntry:
    """A page that is new, changed, moved or gone.

    Args:
        at: When the change was seen.
        before: The relevance of the version that was reported last; None for a new page.
        kept: Share of the text that is as before; None where a text was not stored.
        added: Sentences that were not there before, the first few; of a new page the beginning of its text.
    """

    change: ChangeKind
    url: str
    title: str
    at: float
    relevance: float
    relevant: bool
    language: str = ""
    before: float | None = None
    kept: float | None = None
    added: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Digest:
    """What changed since the digest before.

    Args:
        total: Number of changes; those that are no entries are in the next digest.
    """

    number: int
    crawl: str
    title: str
    created_at: float
    total: int
    entries: Sequence[DigestEntry]

    def count(self, kind: ChangeKind) -> int:
        return sum(entry.change is kind for entry in self.entries)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """A digest that a webhook has not acknowledged yet.

    Args:
        webhook: The key of the webhook.
        since: When the digest was made.
    """

    digest: int
    webhook: str
    attempts: int
    since: float


@dataclass(frozen=True, kw_only=True)
class Reported:
    """What was last reported of a page."""

    text_hash: int
    at: float
    gone: bool


class WatchDatabase:
    """The state of one watched crawl; one object per thread.

    Args:
        root: The folder of the crawl.
    """

    def __init__(self, root: Path) -> None:
        self.path = root / "watch.db"
        self._db = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        version = int(self._db.execute("PRAGMA user_version").fetchone()[0])
        if version > FORMAT:
            self._db.close()
            raise ConfigError(f"{self.path} was written by a later version of Thresher; install that version")
        if version < FORMAT:
            self._db.executescript(f"BEGIN; {_TABLES} PRAGMA user_version={FORMAT}; COMMIT;")

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # SQLite ends it itself when the disk is full
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def last_round(self) -> tuple[Round, bool] | None:
        """Return the last round and whether it has ended; None before the first."""
        row = self._db.execute(
            "SELECT number, began_at, stage, page_limit, ended_at FROM round ORDER BY number DESC LIMIT 1"
        ).fetchone()
        if row is None:
            return None
        number, began_at, stage, page_limit, ended_at = row
        return Round(number=number, began_at=began_at, stage=Stage(stage), page_limit=page_limit), ended_at is not None

    def begin_round(self, stage: Stage, page_limit: int) -> Round:
        began_at = time.time()
        query = "INSERT INTO round (began_at, stage, page_limit) VALUES (?, ?, ?)"
        number = self._db.execute(query, [began_at, stage, page_limit]).lastrowid
        return Round(number=number or 0, began_at=began_at, stage=stage, page_limit=page_limit)

    def set_stage(self, number: int, stage: Stage) -> None:
        self._db.execute("UPDATE round SET stage = ? WHERE number = ?", [stage, number])

    def end_round(self, number: int) -> None:
        self._db.execute("UPDATE round SET ended_at = ? WHERE number = ?", [time.time(), number])

    def has_baseline(self) -> bool:
        """Return whether the collection was recorded as it was when watching began."""
        return self._db.execute("SELECT 1 FROM baseline").fetchone() is not None

    def record_baseline(self, pages: Iterable[tuple[int, Reported]]) -> None:
        """Record the pages that no digest will report as new."""
        with self.transaction():
            self.report(pages)
            self._db.execute("INSERT INTO baseline VALUES (?)", [time.time()])

    def reported(self, fingerprint: int) -> Reported | None:
        query = "SELECT text_hash, at, gone FROM reported WHERE fingerprint = ?"
        row = self._db.execute(query, [fingerprint]).fetchone()
        return Reported(text_hash=row[0], at=row[1], gone=bool(row[2])) if row else None

    def report(self, pages: Iterable[tuple[int, Reported]]) -> None:
        """Record what is now reported of pages; within a transaction."""
        self._db.executemany(
            "INSERT OR REPLACE INTO reported VALUES (?, ?, ?, ?)",
            ((fingerprint, page.text_hash, page.at, page.gone) for fingerprint, page in pages),
        )

    def next_digest(self) -> int:
        return int(self._db.execute("SELECT coalesce(max(number), 0) + 1 FROM digest").fetchone()[0])

    def add_digest(self, digest: Digest, webhooks: Iterable[str]) -> None:
        """Store a digest and what is to be delivered; within a transaction."""
        body = json.dumps(digest.as_json(), ensure_ascii=False)
        self._db.execute("INSERT INTO digest VALUES (?, ?, ?)", [digest.number, digest.created_at, body])
        self._db.executemany(
            "INSERT INTO delivery (digest, webhook, next_at) VALUES (?, ?, ?)",
            ((digest.number, webhook, digest.created_at) for webhook in webhooks),
        )

    def digest(self, number: int) -> Digest | None:
        row = self._db.execute("SELECT body FROM digest WHERE number = ?", [number]).fetchone()
        return digest_of(json.loads(row[0])) if row else None

    def digests(self, most: int) -> list[Digest]:
        """Return the newest digests, newest first."""
        rows = self._db.execute("SELECT body FROM digest ORDER BY number DESC LIMIT ?", [most])
        return [digest_of(json.loads(body)) for (body,) in rows]

    def due_deliveries(self, webhooks: Iterable[str], now: float) -> list[Delivery]:
        """Return for each webhook its oldest open delivery, if its time has come: digests arrive in their order."""
        query = (
            "SELECT d.digest, d.attempts, d.next_at, g.created_at FROM delivery d JOIN digest g ON g.number = d.digest "
            "WHERE d.webhook = ? AND d.acknowledged_at IS NULL AND d.abandoned_at IS NULL ORDER BY d.digest LIMIT 1"
        )
        due = []
        for webhook in webhooks:
            row = self._db.execute(query, [webhook]).fetchone()
            if row and row[2] <= now:
                due.append(Delivery(digest=row[0], webhook=webhook, attempts=row[1], since=row[3]))
        return due

    def acknowledge(self, delivery: Delivery) -> None:
        query = "UPDATE delivery SET acknowledged_at = ?, attempts = attempts + 1 WHERE digest = ? AND webhook = ?"
        self._db.execute(query, [time.time(), delivery.digest, delivery.webhook])

    def postpone(self, delivery: Delivery, next_at: float, error: str) -> None:
        query = "UPDATE delivery SET attempts = attempts + 1, next_at = ?, error = ? WHERE digest = ? AND webhook = ?"
        self._db.execute(query, [next_at, error, delivery.digest, delivery.webhook])

    def abandon(self, delivery: Delivery, error: str) -> None:
        query = (
            "UPDATE delivery SET attempts = attempts + 1, abandoned_at = ?, error = ? WHERE digest = ? AND webhook = ?"
        )
        self._db.execute(query, [time.time(), error, delivery.digest, delivery.webhook])


def digest_of(body: Mapping[str, Any]) -> Digest:
    """Rebuild a digest from its JSON."""
    entries = [DigestEntry(**{**entry, "change": ChangeKind(entry["change"])}) for entry in body["entries"]]
    return Digest(**{**body, "entries": entries})

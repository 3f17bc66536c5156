"""Crawl folders as earlier versions wrote them: table by table, with the schemas of their time.

One crawl of four pages in each: two were fetched by one worker and one by another, the fourth waits, and a lease is
left of a worker that was killed. What was learned, and people's labels, are there from the version on that kept them.
"""

from __future__ import annotations

import io
import json
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from thresher.urls.canonical import fingerprint, host_key

FORMATS = Path(__file__).parent / "formats"
THEN = 1_700_000_000.0
TOPIC = """\
name: solar
title: {en: perovskite solar cells}
seeds: [seeds.txt]
strategy: {name: best-first}
manners: {contact: '', delay_seconds: 0, robots: obey}
engine: {timeout_seconds: 2, lease_seconds: 8}
network: {allow: [127.0.0.0/8]}
"""
SOLAR = "Perovskite solar cells: perovskite layers make solar cells cheap."
TEA = "How to brew green tea, and which pot to use for it."
TEXTS = {"/": SOLAR, "/good": f"{SOLAR} Tandem.", "/tea": TEA}
"""The pages that were fetched; "/better" waits, "/lost" was leased."""
WAITING, LOST = "/better", "/lost"
WORKERS = {"/": "w1", "/good": "w2", "/tea": "w1"}
TERMS = {"/": {"solar": 2.0, "cell": 1.5}, "/good": {"solar": 1.5, "tandem": 1.0}, "/tea": {"tea": 2.0, "pot": 1.0}}


@dataclass(frozen=True)
class Era:
    """A time in which folders were written alike; 0 where a thing was not written yet.

    Args:
        robots: What was noted of a robots.txt that is not there.
    """

    frontier: int
    pages: int
    notes: int = 0
    labels: bool = False
    robots: str = '[404, "", 1700000000.0]'


_ROBOTS = '{"status": 404, "read_at": 1.7e9, "until": 9e9, "reason": "", "text": "", "target": "", "silent_since": 0.0'
ERAS = {
    "first crawls": Era(frontier=1, pages=1),
    "judges that learn": Era(frontier=1, pages=2, notes=1),
    "archives": Era(frontier=2, pages=3, notes=2, robots=f'{_ROBOTS}, "tries": 0}}'),
    "labels": Era(frontier=2, pages=3, notes=2, labels=True, robots=f'{_ROBOTS}, "tries": 0}}'),
    "stored main texts": Era(frontier=2, pages=4, notes=2, labels=True, robots=f'{_ROBOTS}, "tries": 0}}'),
    "stored markup": Era(frontier=2, pages=5, notes=2, labels=True, robots=f'{_ROBOTS}, "tries": 0}}'),
}


@dataclass(frozen=True)
class Writer:
    """Writes the folder of an era, of a crawl of the site at `base`."""

    era: Era
    folder: Path
    base: str

    def write(self) -> None:
        """Write all of it."""
        self.folder.mkdir()
        (self.folder / "topic.yaml").write_text(TOPIC, encoding="utf-8")
        (self.folder / "seeds.txt").write_text(f"{self.base}/\n", encoding="utf-8")
        self._frontier()
        self._pages()
        if self.era.notes:
            self._notes()
        if self.era.labels:
            printed = [
                {"url": f"{self.base}{path}", "relevant": path != "/tea", "at": THEN} for path in ("/good", "/tea")
            ]
            (self.folder / "labels.jsonl").write_text("".join(f"{json.dumps(label)}\n" for label in printed))

    def _frontier(self) -> None:
        host = host_key(f"{self.base}/")
        with _database(self.folder / "frontier.db", f"frontier-{self.era.frontier}", self.era.frontier) as db:
            db.execute("INSERT INTO host (id, key) VALUES (1, ?)", [host])
            for age, path in enumerate([*TEXTS, WAITING, LOST], start=1):
                row = [1, fingerprint(f"{self.base}{path}"), 1.0 / age, age, 9, 1, 0, 0, f"{self.base}{path}"]
                names = "host, fingerprint, score, age, depth_left, hops, redirects, parent, url"
                db.execute(f"INSERT INTO url ({names}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            self._settle(db)
            robots = [host, f"{self.base}/robots.txt", self.era.robots, 9e9]
            db.execute("INSERT INTO note (host, kind, value, until) VALUES (?, ?, ?, ?)", robots)

    def _settle(self, db: sqlite3.Connection) -> None:
        """Bring the URLs where a worker would have left them; the triggers of the file count."""
        for path in [*TEXTS, LOST]:
            db.execute("UPDATE url SET state = 1 WHERE fingerprint = ?", [fingerprint(f"{self.base}{path}")])
        for path in TEXTS:
            db.execute("UPDATE url SET state = 2 WHERE fingerprint = ?", [fingerprint(f"{self.base}{path}")])
            db.execute("UPDATE host SET pages = pages + 1, relevant = relevant + ?", [path != "/tea"])
        db.execute("INSERT INTO lease VALUES (4, 1, ?, ?, 'w1')", [fingerprint(f"{self.base}{LOST}"), THEN + 60])
        db.execute("UPDATE tally SET age = 5, fence = 4")
        db.execute("UPDATE host SET stage = 2, wake = ?, best = 0.25, best_age = 4, next_time = ?", [THEN, THEN])

    def _pages(self) -> None:
        (self.folder / "pages").mkdir()
        for worker in sorted(set(WORKERS.values())):
            with _database(self.folder / "pages" / f"{worker}.db", f"pages-{self.era.pages}", self.era.pages) as db:
                for path in (path for path in TEXTS if WORKERS[path] == worker):
                    self._page(db, path)

    def _page(self, db: sqlite3.Connection, path: str) -> None:
        links = [[f"{self.base}{other}", other, 0.5, {}] for other in (*TEXTS, WAITING) if other != path]
        row: dict[str, Any] = {
            "fingerprint": fingerprint(f"{self.base}{path}"),
            "url": f"{self.base}{path}",
            "status": 200,
            "outcome": "done",
            "reason": "",
            "page": 1,
            "score": 1.0,
            "parent": 0 if path == "/" else fingerprint(f"{self.base}/"),
            "depth": int(path != "/"),
            "title": f"Title of {path}",
            "language": "en",
            "relevance": 0.8,
            "relevant": int(path != "/tea"),
            "parts": None,
            "text_hash": len(path),
            "duplicate_of": 0,
            "fetched_at": THEN + len(path),
            "elapsed_seconds": 0.1,
            "bytes": 100,
            "text": zstandard.compress(TEXTS[path].encode()),
            "links": zstandard.compress(json.dumps(links).encode()),
        }
        if self.era.pages in (2, 3):
            row["probability"] = 0.9
        if self.era.pages >= 3:
            row |= {"etag": '"1"', "last_modified": ""}
        if self.era.pages >= 4:
            row |= {"reward": 0.7, "main": zstandard.compress(TEXTS[path][:-1].encode())}
        db.execute(f"INSERT INTO page ({', '.join(row)}) VALUES ({', '.join(f':{name}' for name in row)})", row)

    def _notes(self) -> None:
        for worker in sorted(set(WORKERS.values())):
            own = self.folder / "model" / "judge" / worker
            own.mkdir(parents=True)
            paths = [path for path in TEXTS if WORKERS[path] == worker]
            write = first_notes if self.era.notes == 1 else second_notes
            (own / "sample-other").write_bytes(write(self.base, worker, paths))


def _database(path: Path, schema: str, version: int) -> closing[sqlite3.Connection]:
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript(f"PRAGMA journal_mode = WAL; {(FORMATS / f'{schema}.sql').read_text(encoding='utf-8')}")
    db.execute(f"PRAGMA user_version = {version}")
    return closing(db)


def first_notes(base: str, worker: str, paths: Sequence[str]) -> bytes:
    """What `adaptive` wrote at first: an npz file, its pages in the order in which they lay."""
    return npz(**first_arrays(base, paths))


def first_arrays(base: str, paths: Sequence[str]) -> dict[str, Any]:
    """The arrays of that file."""
    rows = [TERMS[path] for path in paths]
    terms = list(dict.fromkeys(term for row in rows for term in row))
    return {
        "names": _text({"terms": terms, "urls": [f"{base}{path}" for path in paths], "kept": 1}),
        "numbers": np.array([terms.index(term) for row in rows for term in row], dtype=np.int32),
        "weights": np.array([weight for row in rows for weight in row.values()], dtype=np.float32),
        "starts": np.cumsum([0, *map(len, rows)]),
        "seen": np.array([len(paths)]),
        "notes": _text(_seeds_and_labels(base, paths) | {"given": {f"{base}{path}": 0.8 for path in paths}}),
    }


def second_notes(base: str, worker: str, paths: Sequence[str]) -> bytes:
    """What it wrote since: a draw, its terms numbered by frequency and stored as differences, all of it compressed."""
    rows = [TERMS[path] for path in paths]
    terms = list(dict.fromkeys(term for row in rows for term in row))
    numbers = [sorted((terms.index(term), weight) for term, weight in row.items()) for row in rows]
    weights = sorted({weight for row in rows for weight in row.values()})
    steps = [number - before for row in numbers for (number, _), (before, _) in zip(row, [(0, 0), *row], strict=False)]
    draw = {"seen": len(paths), "kept": 1, "urls": [f"{base}{path}" for path in paths], "terms": terms}
    notes = {"worker": worker * 16, **draw, **_seeds_and_labels(base, paths), "given": [0.8 for _ in paths]}
    packed = npz(
        steps=np.array(steps, dtype=np.uint8),
        codes=np.array([weights.index(weight) for row in numbers for _, weight in row], dtype=np.uint8),
        weights=np.array(weights, dtype=np.float32),
        lengths=np.array(list(map(len, rows)), dtype=np.uint8),
        notes=_text(notes),
    )
    return zlib.compress(packed, 1)


def _seeds_and_labels(base: str, paths: Sequence[str]) -> dict[str, Any]:
    return {
        "seeds": [f"{base}/"] if "/" in paths else [],
        "told": {f"{base}{path}": path != "/tea" for path in paths if path != "/"},
    }


def _text(values: Mapping[str, Any]) -> Any:
    return np.frombuffer(json.dumps(values).encode(), dtype=np.uint8)


def npz(**arrays: Any) -> bytes:
    """Pack arrays."""
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    return packed.getvalue()

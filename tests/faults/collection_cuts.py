"""Rows R8 and R12: a disk that fills up, and a power cut that takes what was not on the disk yet."""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from testing.collecting import Worker, make_crawl
from testing.crawl_process import REPOSITORY
from tests.faults.collection import checked, wrong
from tests.faults.table import Outcome
from thresher.storage.warc.reader import warc_paths
from thresher.verify.findings import FindingState
from thresher.verify.page_store_check import flaw_of


@dataclass(frozen=True, kw_only=True)
class Cut:
    """What a power cut left: damaged files, what is wrong after repair, and how much was lost."""

    damaged: int
    wrong: int
    lost: int


def power_cuts(pages: int, cuts: int, *, seed: int = 0) -> list[Cut]:
    """Stop a worker at random moments, copy its files, and take from the copies what may not have reached the disk."""
    chance = random.Random(seed)
    seen: list[Cut] = []
    with tempfile.TemporaryDirectory() as folder:
        root, copy = Path(folder) / "crawl", Path(folder) / "copy"
        make_crawl(root)
        worker = Worker(root, "w1", pages)
        try:
            while len(seen) < cuts and worker.works_for(chance.randint(1, 2)):
                worker.stop()
                shutil.copytree(root, copy)
                _lose_tails(copy, chance)
                seen.append(_after_cut(copy))
                shutil.rmtree(copy)
                worker.go_on()
        finally:
            worker.kill()
    return seen


def _lose_tails(root: Path, chance: random.Random) -> None:
    """Cut what was written and not yet forced to the disk: the end of logs and of captures, and the shared memory."""
    for path in root.rglob("*-wal"):
        shared = path.with_name(path.name.removesuffix("-wal") + "-shm")
        _cut(path, _forced_bytes(path, shared), chance)
        shared.unlink(missing_ok=True)
    for path in warc_paths(root / "warc"):
        _cut(path, 0, chance)


def _cut(path: Path, least: int, chance: random.Random) -> None:
    size = path.stat().st_size
    lost = chance.choice((0, chance.randint(0, 20_000), chance.randint(0, size)))
    os.truncate(path, max(min(least, size), size - lost))


def _forced_bytes(log: Path, shared: Path) -> int:
    """Return how much of a log SQLite has forced to the disk: all that it has begun to copy into the database.

    Both numbers stand in the shared memory, see "WAL-index header" in SQLite's file format.
    """
    if not shared.exists() or log.stat().st_size < 32:
        return 0
    index = shared.read_bytes()
    copied, begun = struct.unpack_from("=I", index, 96)[0], struct.unpack_from("=I", index, 128)[0]
    (page_bytes,) = struct.unpack_from(">I", log.read_bytes()[:32], 8)
    return 32 + max(copied, begun) * (page_bytes + 24)


def _after_cut(root: Path) -> Cut:
    files = [root / "frontier.db", *(root / "pages").glob("*.db")]
    damaged = sum(bool(flaw_of(path)) for path in files)
    report = checked(root, repair=True)
    again = checked(root)
    return Cut(damaged=damaged, wrong=wrong(again, FindingState.WRONG), lost=wrong(report, FindingState.LOST))


def r12() -> Outcome:
    """Cut the power a hundred times."""
    cuts = power_cuts(20_000, 100)
    damaged, left, lost = (sum(getattr(cut, name) for cut in cuts) for name in ("damaged", "wrong", "lost"))
    return Outcome(
        held=len(cuts) == 100 and damaged == left == 0,
        figure=(
            f"{len(cuts)} cuts: damaged databases {damaged}, wrong after repair {left}; reported as lost {lost} "
            "pages or captures, where one log lost more than another"
        ),
    )


def full_disk(first_megabytes: int, pages: int, *how: str) -> dict[str, object]:
    """Collect on a disk that is too small, in a file system of our own, then make room and go on."""
    command = [sys.executable, "-m", "tests.faults.full_disk", str(first_megabytes), str(pages), *how]
    done = subprocess.run(
        ["unshare", "-rm", *command], cwd=REPOSITORY, capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    printed: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return printed


def r8() -> Outcome:
    """Fill the disk at three sizes under one worker, and once under a whole run."""
    printed = [*(full_disk(megabytes, 3000) for megabytes in (2, 4, 8)), full_disk(2, 1000, "live")]
    codes, again = [one["code"] for one in printed], [one["code_again"] for one in printed]
    torn, missing = (sum(int(str(one[name])) for one in printed) for name in ("torn", "missing"))
    held = codes == [3] * 4 and again == [0] * 4 and not torn and not missing and all(one["clean"] for one in printed)
    return Outcome(
        held=held,
        figure=(
            f"exit codes {codes}, the last of a whole run; half records {torn}; after room was made exit codes "
            f"{again}, of 3 x 3,000 and 1,000 pages missing {missing}"
        ),
    )

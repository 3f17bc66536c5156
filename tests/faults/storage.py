"""Rows O1 to O3 and T1, T2: object storage of a collection or of cold URLs that fails while a crawl uses it."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from testing.crawl_process import wait_for
from testing.recording_server import Answer, recorder
from testing.servers import chaos, store_server
from testing.servers.s3 import s3_server
from tests.faults.planted import missing, verify
from tests.faults.planted_crawls import SITE, Kind, SiteCrawl, serving
from tests.faults.table import Outcome
from thresher.runner.limits import NOT_UPLOADED

PAGES_SEEN_SECONDS = 60.0
KILL_SECONDS = 0.05
"""A kill comes at most so long after the first new object of an upload."""
DOWN_SECONDS = 5.0
SLOW_SECONDS = 40.0
"""Longer than the crawler waits for one answer."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A crawl after its trouble.

    Args:
        troubles: How often it came while the storage was in use.
        missing: Pages of the site that are not in the export, or not in a copy of the collection.
        code, verify_code: Of the last run, and of ``verify`` after it.
        words: What a run printed during the trouble.
    """

    troubles: int
    missing: int
    code: int
    verify_code: int
    words: str = ""

    @property
    def held(self) -> bool:
        """Whether nothing is lost."""
        return self.missing == self.code == self.verify_code == 0

    def __str__(self) -> str:
        return f"{self.missing} of {SITE.pages} pages missing, exit code {self.code}, verify {self.verify_code}"


@contextmanager
def new_crawl(kind: Kind) -> Iterator[SiteCrawl]:
    """Write the folder of a new crawl of the site, and run what it needs."""
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = stack.enter_context(store_server("redis", root / "redis")).url if kind.store else ""
        if kind.collection == "s3":
            server = stack.enter_context(s3_server(root / "s3"))
            stack.enter_context(patch.dict(os.environ, server.environment))
        crawl = SiteCrawl(kind, root, stack.enter_context(serving()), store)
        crawl.write_topic()
        yield crawl


def ended(crawl: SiteCrawl, troubles: int, words: str = "") -> Ended:
    """Crawl to the end, and look at what is there."""
    code, found = crawl.run(), missing(crawl)
    checked = verify(crawl)
    words = f"{words or crawl.words()}\n{checked if checked.code else ''}"
    return Ended(troubles=troubles, missing=found, code=code, verify_code=checked.code, words=words)


def killed_when_it_writes(crawl: SiteCrawl, count: Callable[[], int], kills: int, *, seed: int = 0) -> Ended:
    """Kill a run and its workers a moment after it has written an object, several times; then crawl to the end."""
    chance, hits = random.Random(seed), 0
    for number in range(kills):
        before = count()
        run = crawl.start(f"--pages={(number + 1) * SITE.pages // (kills + 1)}")
        try:
            wait_for(lambda: run.ended or count() > before, seconds=PAGES_SEEN_SECONDS, step_seconds=0.001)  # noqa: B023
            time.sleep(chance.uniform(0, KILL_SECONDS))
            hits += not run.ended
        finally:
            run.kill_all()
    return ended(crawl, hits)


def killed_uploads(where: str, kills: int) -> Ended:
    """Kill runs while they upload to a folder or to S3."""
    with new_crawl(Kind(collection=where)) as crawl:
        (crawl.root / "collection").mkdir()
        return killed_when_it_writes(crawl, lambda: len(crawl.objects().sizes("")), kills)


def o1() -> Outcome:
    """Kill uploads to a folder and to a real S3 server."""
    results = {where: killed_uploads(where, 6) for where in ("folder", "s3")}
    words = [f"{where}: {each.troubles} of 6 kills during an upload, {each}" for where, each in results.items()]
    return Outcome(held=all(each.held for each in results.values()), figure="; ".join(words))


# O2: the storage of a collection cannot be used for a while


@contextmanager
def absent(crawl: SiteCrawl) -> Iterator[None]:
    """Unmount the folder of a collection, whose place cannot be written to."""
    folder = crawl.root / "collection"
    folder.rename(crawl.root / "unmounted")
    folder.write_text("no folder")
    try:
        yield
    finally:
        folder.unlink()
        (crawl.root / "unmounted").rename(folder)


@contextmanager
def endpoint(port: int) -> Iterator[None]:
    """Let S3 be found on another port."""
    with patch.dict(os.environ, AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}"):
        yield


@contextmanager
def weather(**values: object) -> Iterator[None]:
    """Put a bad network before S3."""
    port = int(os.environ["AWS_ENDPOINT_URL"].rpartition(":")[2])
    with chaos(port) as proxy, endpoint(proxy.port):
        proxy.set(**values)
        yield


@contextmanager
def answering(status: int) -> Iterator[None]:
    """Let S3 refuse everything with one status."""
    body = "<Error><Code>AccessDenied</Code></Error>"
    script = {"127.0.0.9": {"/*": Answer(status=status, body=body, content_type="application/xml")}}
    with recorder(script) as w, patch.dict(os.environ, AWS_ENDPOINT_URL=f"http://127.0.0.9:{w.port}"):
        yield


def cut_off(where: str, trouble: Callable[[SiteCrawl], object]) -> Ended:
    """Crawl a third, crawl on while the storage cannot be used, then let a run find it again."""
    with new_crawl(Kind(collection=where)) as crawl:
        crawl.run(f"--pages={SITE.pages // 3}")
        with trouble(crawl):  # type: ignore[attr-defined]
            code = crawl.run(f"--pages={2 * SITE.pages // 3}")
        return ended(crawl, int(code == NOT_UPLOADED), f"exit code {code}")


TROUBLES: dict[str, tuple[str, Callable[[SiteCrawl], object]]] = {
    "absent": ("folder", absent),
    "cut off": ("s3", lambda _: weather(cut="both")),
    "slow": ("s3", lambda _: weather(latency_seconds=SLOW_SECONDS)),
    "refused": ("s3", lambda _: answering(403)),
    "broken": ("s3", lambda _: answering(500)),
}


def o2() -> Outcome:
    """Let the storage be absent, cut off, slow, refused and broken."""
    results = {name: cut_off(*trouble) for name, trouble in TROUBLES.items()}
    words = [
        f"{name}: {'reported' if each.troubles else 'NOT REPORTED'} ({each.words}), then {each}"
        for name, each in results.items()
    ]
    held = all(each.held and each.troubles for each in results.values())
    return Outcome(held=held, figure="; ".join(words))


# O3: folders that exist twice


def restored() -> Ended:
    """Restore the folder of a crawl from a backup that is older than its collection."""
    with new_crawl(Kind(collection="folder")) as crawl:
        crawl.run(f"--pages={SITE.pages // 4}")
        shutil.copytree(crawl.folder, crawl.root / "backup")
        crawl.run(f"--pages={SITE.pages // 2}")
        shutil.rmtree(crawl.folder)
        shutil.copytree(crawl.root / "backup", crawl.folder)
        return ended(crawl, 1)


def copied() -> tuple[Ended, Ended]:
    """Go on with a folder and with its copy, both with the same collection."""
    with new_crawl(Kind(collection="folder")) as crawl:
        crawl.run(f"--pages={SITE.pages // 4}")
        other = replace(crawl, root=crawl.root / "second")
        shutil.copytree(crawl.folder, other.folder)
        (other.root / "collection").symlink_to(crawl.root / "collection")
        return ended(crawl, 1), ended(other, 1)


def o3() -> Outcome:
    """Restore a folder, and go on with a copy."""
    results = {"restored": restored(), **dict(zip(("copied", "its copy"), copied(), strict=True))}
    words = [f"{name}: {each}" for name, each in results.items()]
    return Outcome(held=all(each.held for each in results.values()), figure="; ".join(words))


# T1 and T2: the storage of cold URLs


def killed_moves(kills: int) -> Ended:
    """Kill runs a moment after they have written a run of cold URLs."""
    with new_crawl(Kind(store=True, cold=True)) as crawl:
        return killed_when_it_writes(crawl, lambda: len(_runs(crawl)), kills)


def t1() -> Outcome:
    """Kill runs while they move URLs."""
    result = killed_moves(6)
    return Outcome(held=result.held, figure=f"{result.troubles} of 6 kills during a move; {result}")


def _runs(crawl: SiteCrawl) -> list[Path]:
    return sorted((crawl.root / "cold").rglob("*.parquet"))


def cold_down(seconds: float) -> Ended:
    """Take the storage of cold URLs away while a run uses it, and bring it back."""
    with new_crawl(Kind(store=True, cold=True)) as crawl:
        run = crawl.start()
        try:
            wait_for(lambda: run.ended or _runs(crawl), seconds=PAGES_SEEN_SECONDS)
            hits = int(not run.ended)
            (crawl.root / "cold").rename(crawl.root / "away")
            (crawl.root / "cold").write_text("no folder")  # so that it cannot be created again
            time.sleep(seconds)
            (crawl.root / "cold").unlink()
            (crawl.root / "away").rename(crawl.root / "cold")
            code = run.wait(PAGES_SEEN_SECONDS)
        finally:
            run.kill_all()
        result = ended(crawl, hits)
        return replace(result, code=code or result.code)


def cold_damaged() -> tuple[int, Ended]:
    """Delete a third of the runs and cut another third in half; return how a run ends, and the end after repair."""
    with new_crawl(Kind(store=True, cold=True)) as crawl:
        for sixths in range(1, 6):  # how many runs there are after some pages depends on how often they were merged
            crawl.run(f"--pages={sixths * SITE.pages // 6}")
            if len(paths := _runs(crawl)) > 2:
                break
        for number, path in enumerate(paths):
            if number % 3 == 0:
                path.unlink()
            elif number % 3 == 1:
                path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        code = crawl.run()
        verify(crawl, "--repair")
        return code, ended(crawl, len(paths))


def t2() -> Outcome:
    """Take the storage away, and damage runs."""
    down = cold_down(DOWN_SECONDS)
    code, damaged = cold_damaged()
    return Outcome(
        held=down.held and damaged.held and code == 0,
        figure=(
            f"away for {DOWN_SECONDS:g} s: {down}; {damaged.troubles} runs, two thirds of them damaged: the run ended "
            f"with {code}; after repair {damaged}"
        ),
    )

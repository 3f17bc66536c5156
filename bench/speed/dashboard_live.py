"""What a crawl loses while somebody looks at it: rounds in turn without and with a dashboard.

A leg is one of `bench.pages`: one worker takes pages from the recording server, which counts them. While it is watched,
a dashboard in a process of its own shows the folder; one thread listens to its events, another asks for what the
screens show, each once a second. All share the machine, so what is lost is CPU as much as locks.
"""

from __future__ import annotations

import http.client
import os
import secrets
import statistics
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from urllib.parse import urlsplit

from bench.speed.full_speed import full_speed
from bench.speed.pages import SITE, measure
from testing.crawl_process import REPOSITORY, THRESHER, Crawl
from testing.recording_server.process import Recorder, running

PAGES = 3000
PAIRS = 6
SCREENS = ("", "/harvest", "/pages", "/frontier", "/hosts", "/workers")


def live(*, rounds: int = PAIRS, pages: int = PAGES) -> str:
    """Crawl in turn unwatched and watched; say what is left of the speed."""
    speeds: dict[bool, list[float]] = {False: [], True: []}
    with tempfile.TemporaryDirectory(prefix="dashboard-") as place, running(SITE, Path(place) / "hits.csv") as recorder:
        for number in range(2 * rounds):
            order = (False, True) if number // 2 % 2 else (True, False)  # neither always comes first
            is_watched = order[number % 2]
            speeds[is_watched].append(_leg(recorder, pages, is_watched=is_watched))
    ratios = [seen / unseen for unseen, seen in zip(speeds[False], speeds[True], strict=True)]
    return (
        f"pages/s unwatched {_shown(speeds[False], 1)}, watched {_shown(speeds[True], 1)}; "
        f"watched / unwatched {_shown(ratios, 3)}, {rounds} pairs of {pages} pages"
    )


def _shown(values: Sequence[float], digits: int) -> str:
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def _leg(recorder: Recorder, pages: int, *, is_watched: bool) -> float:
    with tempfile.TemporaryDirectory(prefix="dashboard-") as folder:
        crawl = Crawl(Path(folder) / "crawl")
        crawl.create(recorder.seed_url, full_speed())
        with watching(crawl.folder) if is_watched else nullcontext():
            command = [*THRESHER, "run", str(crawl.folder), "--pages", str(pages), "--workers", "1"]
            return measure(recorder, command).pages_per_second


@contextmanager
def watching(folder: Path) -> Iterator[None]:
    """Show a folder, and look at it, for as long as the block lasts."""
    token = secrets.token_urlsafe(32)
    command = [*THRESHER, "ui", str(folder), "--port", "0", "--no-open"]
    environment = {**os.environ, "THRESHER_UI_TOKEN": token}
    with subprocess.Popen(
        command, cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as dashboard:
        assert dashboard.stdout is not None
        place = urlsplit(dashboard.stdout.readline()).netloc
        over = threading.Event()
        looks = [threading.Thread(target=look, args=(place, token, over)) for look in (_listen, _ask)]
        try:
            for look in looks:
                look.start()
            yield
        finally:
            over.set()
            dashboard.terminate()
            for look in looks:
                look.join()


def _ask(place: str, token: str, over: threading.Event) -> None:
    """Ask for what the screens show, one after the other, once a second each."""
    connection = http.client.HTTPConnection(place, timeout=10)
    try:
        while not over.wait(1.0):
            for screen in SCREENS:
                connection.request("GET", f"/api/crawls/crawl{screen}", headers={"Authorization": f"Bearer {token}"})
                answer = connection.getresponse()
                if answer.status != http.client.OK:
                    raise RuntimeError(f"{screen}: {answer.status} {answer.read()!r}")
                answer.read()
    except (OSError, http.client.HTTPException):
        if not over.is_set():
            raise
    finally:
        connection.close()


def _listen(place: str, token: str, over: threading.Event) -> None:
    connection = http.client.HTTPConnection(place, timeout=30)
    try:
        connection.request("GET", "/api/crawls/crawl/events", headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        assert answer.status == http.client.OK
        while not over.is_set() and answer.readline():
            pass
    except (OSError, http.client.HTTPException):
        if not over.is_set():
            raise
    finally:
        connection.close()

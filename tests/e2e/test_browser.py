"""Pages that scripts make are found with a browser, and only with one; their hosts are treated like all others."""

import asyncio
import json
import subprocess
import time
from pathlib import Path

import pytest

from testing import processes
from testing.crawl_process import REPOSITORY, THRESHER, merge, wait_for
from testing.recording_server import page, recorder
from testing.screens.browser import CHROMIUM, NO_CHROMIUM
from tests.e2e.apps import SETTINGS, app, rendered
from tests.faults.live import crawl, topic
from thresher.crawl import CrawlSetup

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)


def note_of(folder: Path, host: str) -> str | None:
    async def get_state() -> str | None:
        frontier = CrawlSetup.open(folder).backend.frontier()
        try:
            return await frontier.get_state(host, "browser")
        finally:
            await frontier.close()

    return asyncio.run(get_state())


def test_without_a_browser_there_is_nothing_to_find():
    with recorder({"app.test": app(5)}) as w:
        result = crawl(w, [w.url("app.test")], SETTINGS)
    assert [page["title"] for page in result.pages] == ["App"]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_with_a_browser_the_pages_of_a_listed_host_are_found(scheme):
    with recorder({"app.test": app(5)}) as w:
        result = crawl(w, [w.url("app.test", scheme=scheme)], rendered(hosts=["app.test"]))
        hits = w.hits("app.test")
    assert sorted(page["title"] for page in result.pages) == [f"Solar cells {number}" for number in range(5)]
    assert "done: through a browser" in result.why(f"{scheme}://app.test/1")
    paths = [hit.path for hit in hits]
    assert paths.count("/app.js") == 1  # pages share their scripts
    assert not {"/style.css", "/logo.png"} & set(paths)
    sent = {name.lower() for hit in hits for name, _ in hit.headers}
    assert not sent & {"cookie", "authorization", "proxy-authorization", "proxy-connection"}
    assert "referer" not in sent


@pytest.mark.parametrize("settings", [rendered(detect=True), rendered()], ids=["asked for", "by default"])
def test_a_host_that_needs_a_browser_is_noticed_and_known_to_the_next_run(settings):
    script = {
        "app.test": app(3),
        "plain.test": {"/": page("Plain", "perovskite solar cells " * 30, ["http://app.test/"])},
    }
    with recorder(script) as w:
        result = crawl(w, [w.url("plain.test")], settings)
        assert {page["title"] for page in result.pages} == {"Plain", *(f"Solar cells {n}" for n in range(3))}
        assert note_of(result.folder, "app.test") == "needed"
        assert note_of(result.folder, "plain.test") is None
        assert "through a browser" not in result.why("http://plain.test/")
        again = crawl(w, [w.url("plain.test")], rendered(detect=False))
    assert {page["title"] for page in again.pages} == {"Plain", "App"}


def test_a_host_is_asked_one_thing_at_a_time_and_rests_between_pages():
    with recorder({"app.test": app(3)}, "--latency=0.05") as w:
        crawl(w, [w.url("app.test")], {**rendered(hosts=["*"]), "politeness": {"delay_seconds": 1.0}})
        report, hits = w.report(), w.hits("app.test")
    assert report.open_at_once == 1
    shells = [hit for hit in hits if hit.path in ("/", "/1", "/2")]
    before = [max((hit.end_ns for hit in hits if hit.end_ns < shell.start_ns), default=0) for shell in shells]
    gaps = [(shell.start_ns - end) / 1e9 for shell, end in zip(shells, before, strict=True)]
    assert min(gaps) >= 1.0


def test_rules_hold_for_what_pages_load():
    script = app(3, robots="User-agent: *\nDisallow: /data/")
    with recorder({"app.test": script}) as w:
        result = crawl(w, [w.url("app.test")], rendered(hosts=["app.test"]))
        paths = {hit.path for hit in w.hits("app.test")}
    assert paths == {"/robots.txt", "/", "/app.js"}
    assert [page["title"] for page in result.pages] == ["App"]


def browsers(pid: int) -> list[int]:
    """Return the main processes of the browsers of a run."""
    found = []
    for process in processes.family(pid):
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0") if processes.is_alive(process) else []
        if any(b"--proxy-server=" in word for word in words) and not any(b"--type=" in word for word in words):
            found.append(process)
    return found


def start(folder: Path, settings: dict) -> subprocess.Popen:
    folder.mkdir()
    (folder / "topic.yaml").write_text(json.dumps(settings), encoding="utf-8")
    command = [*THRESHER, "run", str(folder), "--workers=1", "--minutes=1.5"]
    with (folder / "run.err").open("wb") as errors:
        return subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.DEVNULL, stderr=errors)


def test_a_browser_that_is_killed_is_started_again_and_no_page_is_lost(tmp_path):
    with recorder({"app.test": app(7)}) as w:
        settings = merge(topic(w, [w.url("app.test")]), rendered(hosts=["app.test"]))
        with start(tmp_path / "crawl", settings) as run:
            assert wait_for(lambda: w.hits("app.test", "/data/1"), seconds=60), (tmp_path / "crawl/run.err").read_text()
            [first] = browsers(run.pid)
            processes.kill(first)
            assert run.wait(90) == 0
    titles = {page["title"] for page in _pages(tmp_path / "crawl")}
    assert titles == {f"Solar cells {number}" for number in range(7)}


def test_a_worker_that_is_killed_leaves_no_browser_behind(tmp_path):
    with recorder({"app.test": app(7)}) as w:
        settings = merge(topic(w, [w.url("app.test")]), rendered(hosts=["app.test"]))
        with start(tmp_path / "crawl", settings) as run:
            assert wait_for(lambda: w.hits("app.test", "/data/1"), seconds=60), (tmp_path / "crawl/run.err").read_text()
            family = processes.family(run.pid)
            assert browsers(run.pid)
            for process in [run.pid, *(pid for pid in family if _is_ours(pid))]:
                processes.kill(process)
            deadline = time.monotonic() + 20
            while (left := [pid for pid in family if processes.is_alive(pid)]) and time.monotonic() < deadline:
                time.sleep(0.1)
            assert left == []


def _is_ours(pid: int) -> bool:
    """Tell whether a process is a run or a worker, and not a browser or what drives it."""
    try:
        return b"thresher" in Path(f"/proc/{pid}/cmdline").read_bytes() and pid not in browsers(pid)
    except OSError:
        return False


def _pages(folder: Path) -> list[dict]:
    from testing.commands import called

    reported = called("export", folder, "-f", "jsonl", "--duplicates", folder=REPOSITORY)
    return [json.loads(line) for line in reported.stdout.splitlines()]

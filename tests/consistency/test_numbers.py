"""Every number that two commands print of the same crawl is the same, whatever state the crawl is in."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from testing.commands import called
from tests.consistency.crawls import DUPLICATES, ON_TOPIC, PAGES, by_name, fill, new_crawl, numbers
from tests.e2e.conftest import quick, serving
from thresher.coordination.run_control import RunControl, set_run_control
from thresher.project import CrawlProject


@pytest.fixture
def folder(site, tmp_path):
    return new_crawl(tmp_path, fill(site))


@dataclass(frozen=True)
class Fifty:
    """A crawl that was stopped after fifty pages, with a low threshold; its site goes on answering."""

    folder: Path
    printed: str

    def copied(self, root):
        return shutil.copytree(self.folder, root / "solar")


@pytest.fixture(scope="module")
def fifty(tmp_path_factory):
    with serving() as site:
        folder = new_crawl(tmp_path_factory.mktemp("fifty"), fill(site), judge=judge_with(0.3))
        yield Fifty(folder, run_to(folder, 50))


def start(folder, *options):
    command = [sys.executable, "-m", "thresher", "run", str(folder), *options]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=folder.parent
    )


def run_to(folder, pages):
    """Crawl until there are `pages` pages; return what the run printed."""
    process = start(folder, "--pages", str(pages))
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return err


def judge_with(threshold):
    return f"{{name: adaptive, threshold: {threshold}}}"


def status(folder):
    return json.loads(called("status", folder, "--json", folder=folder.parent).stdout)


def wait_for(folder, pages, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not (folder / "frontier.db").exists() or status(folder)["pages"] < pages:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def end(process, number=signal.SIGINT):
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def assert_agree(printed):
    apart = {name: values for name, values in by_name(printed).items() if len(set(values.values())) > 1}
    assert apart == {}


def ask(folder, **run_control):
    async def reported():
        frontier = CrawlProject.open(folder).frontier()
        try:
            await set_run_control(frontier, RunControl(**run_control))
        finally:
            await frontier.close()

    asyncio.run(reported())


def test_u1_a_finished_crawl_has_the_same_numbers_everywhere_and_so_has_its_copy(folder, tmp_path):
    process = start(folder, "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    printed = numbers(folder)
    result = json.loads(out)
    names = ("pages", "duplicates", "relevant", "expected", "waiting", "failed", "provisional")
    printed["run"] = {name: result[name] for name in names}
    assert_agree(printed)
    assert printed["status"]["pages"] == PAGES + DUPLICATES + 1
    assert printed["status"]["duplicates"] == DUPLICATES
    assert printed["status"]["relevant"] == pytest.approx(ON_TOPIC + 1, abs=5)
    assert f"{result['relevant']} relevant" in err
    copy = tmp_path / "elsewhere" / "copy"
    shutil.copytree(folder, copy)
    assert {**numbers(copy), "run": printed["run"]} == printed


def test_u1_a_running_and_a_paused_crawl_have_the_same_numbers_everywhere(folder, site):
    site.seconds = 0.1
    process = start(folder, "--workers", "2")
    try:
        wait_for(folder, 30)
        before, printed, after = status(folder), numbers(folder), status(folder)
        for who, values in printed.items():
            if "pages" in values:
                assert before["pages"] <= values["pages"] <= after["pages"] + 2, who
        ask(folder, paused=True)
        time.sleep(3.0)  # open requests finish, and a worker reads the run control once a second
        assert_agree(numbers(folder))
    finally:
        end(process)


@pytest.mark.parametrize("workers", [1, 2])
def test_u1_a_killed_crawl_has_the_same_numbers_everywhere(folder, site, workers):
    site.seconds = 0.05
    process = start(folder, "--workers", str(workers))
    wait_for(folder, 25)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    time.sleep(0.5)
    assert_agree(numbers(folder))


def test_u1_the_page_limit_and_the_summary_count_the_same_pages(fifty, tmp_path):
    folder = fifty.copied(tmp_path)
    err = run_to(folder, 110)  # pages of an earlier run count too
    printed = status(folder)
    assert printed["pages"] == 110
    assert f"110 pages, {printed['relevant']} relevant (harvest rate {printed['harvest_rate']:.2f})" in err


def test_u2_relevant_means_relevance_at_or_above_the_threshold(fifty, tmp_path):
    folder = fifty.copied(tmp_path)
    for threshold in (0.3, 0.8):
        err = fifty.printed
        if threshold > 0.3:
            quick(folder, judge=judge_with(threshold))
            err = run_to(folder, 90)
        rows = [json.loads(line) for line in called("export", folder, folder=folder.parent).stdout.splitlines()]
        assert {row["relevant"] for row in rows} == {True, False}, err
        assert all(row["relevant"] == (row["relevance"] >= threshold) for row in rows)
        assert all("probability" not in row for row in rows)


def test_u2_below_a_hundred_pages_verdicts_are_marked_as_provisional_with_the_expected_number(fifty):
    printed = status(fifty.folder)
    assert printed["provisional"] is True
    assert f"{printed['relevant']} relevant (provisional, {printed['expected']:.0f} expected)" in fifty.printed

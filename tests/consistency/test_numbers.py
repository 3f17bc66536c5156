"""Every number that two commands print of the same crawl is the same, whatever state the crawl is in."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.commands import called
from tests.consistency.crawls import DUPLICATES, ON_TOPIC, PAGES, by_name, fill, new_crawl, numbers
from thresher.build import Crawl
from thresher.wishes import Wishes, wish


@pytest.fixture
def folder(site, tmp_path):
    return new_crawl(tmp_path, fill(site))


def start(folder, *options):
    command = [sys.executable, "-m", "thresher", "run", str(folder), *options]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=folder.parent
    )


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


def assert_agree(said):
    apart = {name: values for name, values in by_name(said).items() if len(set(values.values())) > 1}
    assert apart == {}


def ask(folder, **wishes):
    async def told():
        frontier = Crawl.open(folder).frontier()
        try:
            await wish(frontier, Wishes(**wishes))
        finally:
            await frontier.close()

    asyncio.run(told())


def test_u1_a_finished_crawl_has_the_same_numbers_everywhere_and_so_has_its_copy(folder, tmp_path):
    process = start(folder, "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    said = numbers(folder)
    result = json.loads(out)
    names = ("pages", "duplicates", "relevant", "expected", "waiting", "failed", "provisional")
    said["run"] = {name: result[name] for name in names}
    assert_agree(said)
    assert said["status"]["pages"] == PAGES + DUPLICATES + 1
    assert said["status"]["duplicates"] == DUPLICATES
    assert said["status"]["relevant"] == pytest.approx(ON_TOPIC + 1, abs=5)
    assert f"{result['relevant']} relevant" in err
    copy = tmp_path / "elsewhere" / "copy"
    shutil.copytree(folder, copy)
    assert {**numbers(copy), "run": said["run"]} == said


def test_u1_a_running_and_a_paused_crawl_have_the_same_numbers_everywhere(folder, site):
    site.seconds = 0.1
    process = start(folder, "--workers", "2")
    try:
        wait_for(folder, 30)
        before, said, after = status(folder), numbers(folder), status(folder)
        for who, values in said.items():
            if "pages" in values:
                assert before["pages"] <= values["pages"] <= after["pages"] + 2, who
        ask(folder, paused=True)
        time.sleep(3.0)  # what is open comes in, and a worker looks at what is wished once a second
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


def test_u1_the_page_limit_and_the_summary_count_the_same_pages(folder):
    process = start(folder, "--pages", "110")
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0
    said = status(folder)
    assert said["pages"] == 110
    assert f"110 pages, {said['relevant']} relevant ({said['harvest_rate']:.2f})" in err


def test_u2_relevant_means_relevance_at_or_above_the_threshold(folder):
    path = folder / "topic.yaml"
    for threshold in (0.3, 0.8):
        text = path.read_text()
        kept = [line for line in text.splitlines() if not line.startswith("judge:")]
        path.write_text("\n".join([*kept, f"judge: {{name: adaptive, threshold: {threshold}}}"]) + "\n")
        process = start(folder, "--pages", "60" if threshold == 0.3 else "100")
        _, err = process.communicate(timeout=120)
        rows = [json.loads(line) for line in called("export", folder, folder=folder.parent).stdout.splitlines()]
        assert {row["relevant"] for row in rows} == {True, False}, err
        assert all(row["relevant"] == (row["relevance"] >= threshold) for row in rows)
        assert all("probability" not in row for row in rows)


def test_u2_below_a_hundred_pages_verdicts_are_marked_as_provisional_with_the_expected_number(folder):
    process = start(folder, "--pages", "50")
    _, err = process.communicate(timeout=120)
    said = status(folder)
    assert said["provisional"] is True
    assert f"{said['relevant']} relevant (provisional, {said['expected']:.0f} expected)" in err

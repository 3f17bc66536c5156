"""All interfaces show the one status of a crawl, and what is counted apart from it gives the same numbers."""

import asyncio
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import thresher
from testing.commands import called
from tests.consistency.crawls import DUPLICATES, ON_TOPIC, PAGES, STATUS, by_name, fill, new_crawl, numbers
from tests.e2e.conftest import quick, serving
from thresher.crawl import CrawlSetup
from thresher.status import status_of
from thresher_ui.dashboard.service import CrawlService
from thresher_ui.dashboard.views.status import SHOWN
from thresher_ui.mcp_server.tools import CrawlTools


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


def assert_agree(printed):
    apart = {name: values for name, values in by_name(printed).items() if len(set(values.values())) > 1}
    assert apart == {}


def test_u1_a_finished_crawl_has_the_same_numbers_everywhere_and_so_has_its_copy(folder, tmp_path):
    process = start(folder, "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    printed = numbers(folder)
    result = json.loads(out)
    printed["run"] = {name: result[name] for name in STATUS}
    assert_agree(printed)
    assert printed["status"]["pages"] == PAGES + DUPLICATES + 1
    assert printed["status"]["duplicates"] == DUPLICATES
    assert printed["status"]["relevant"] == pytest.approx(ON_TOPIC + 1, abs=5)
    assert f"{result['relevant']} relevant" in err
    copy = tmp_path / "elsewhere" / "copy"
    shutil.copytree(folder, copy)
    assert {**numbers(copy), "run": printed["run"]} == printed


async def served(folder):
    """Return the status as the REST API and the MCP server have it."""
    service = CrawlService({"solar": CrawlSetup.open(folder)})
    try:
        return await service.status("solar"), await CrawlTools(folder.parent).status("solar")
    finally:
        await service.close()


def test_u1_every_interface_shows_the_one_status(fifty):
    reported = asyncio.run(status_of(CrawlSetup.open(fifty.folder)))
    values = json.loads(json.dumps(reported.as_json()))
    command, (rest, mcp) = status(fifty.folder), asyncio.run(served(fifty.folder))
    assert command == {name: values[name] for name in command} | {"harvest_rate": round(reported.harvest_rate, 4)}
    assert thresher.Crawl(fifty.folder).status() == reported
    assert {name: rest[name] for name in SHOWN} == {name: values[name] for name in SHOWN}
    assert mcp["counts"] == values["counts"]


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

"""The page on frontiers shows an example that keeps the contract, and a suite that would notice if it did not."""

import json
import os
import re
import shlex
import subprocess
import sys
from shutil import copytree, ignore_patterns

import pytest

from tests.docs.blocks import ROOT, blocks_of
from tests.unit.lab.small_web import tea_and_solar, u
from thresher import registry
from thresher.backend import CrawlBackend
from thresher.frontier import base
from thresher.frontier import inspect as frontier_inspect
from thresher.strategies.baselines import BreadthFirst
from thresher_lab.simulation.simulator import Simulator
from thresher_lab.simulation.tasks import PerfectJudge
from thresher_lab.webs.parsed_pages import ParsedPages

EXAMPLE = ROOT / "examples" / "frontier"
PATH = ROOT / "docs" / "howto" / "write-a-frontier.md"
PAGE = PATH.read_text(encoding="utf-8")


@pytest.fixture
def logged_frontier(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLE)
    from logged_frontier import LoggedFrontier

    return LoggedFrontier


@pytest.fixture
def run_suite(tmp_path):
    """Run the command of the page, on a copy of the example if it is changed before."""
    [command] = [command for block in blocks_of(PATH) for command in block.commands]
    variable, *words = shlex.split(command)
    assert variable == "PYTHONPATH=examples/frontier"
    assert words[:3] == ["python", "-m", "pytest"]

    def run(folder=EXAMPLE):
        places = [str(folder), str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
        test = folder / words[3].removeprefix("examples/frontier/")
        options = [
            "-c",
            str(ROOT / "pyproject.toml"),
            "-x",
            "-p",
            "no:cacheprovider",
            f"--basetemp={tmp_path / 'suite'}",
        ]
        line = [sys.executable, *words[1:3], str(test), *options]
        return subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize("name", ["logged_frontier.py", "test_logged_frontier.py"])
def test_the_page_shows_the_files_as_they_are(name):
    shown = [block.text for block in blocks_of(PATH) if block.language == "python"]
    assert (EXAMPLE / name).read_text(encoding="utf-8") in shown


def test_the_example_keeps_the_contract(run_suite):
    done = run_suite()
    assert done.returncode == 0, done.stdout


def test_the_suite_finds_a_frontier_that_does_not(run_suite, tmp_path):
    folder = copytree(EXAMPLE, tmp_path / "broken", ignore=ignore_patterns("__pycache__"))
    file = folder / "logged_frontier.py"
    text = file.read_text(encoding="utf-8")
    broken = text.replace("held = await super().commit(settlements)", "held = [True for _ in settlements]")
    assert broken != text
    file.write_text(broken, encoding="utf-8")
    done = run_suite(folder)
    assert done.returncode == 1, done.stdout


async def test_a_simulated_crawl_goes_through_it(logged_frontier, tmp_path):
    web, opened = tea_and_solar(), []

    def open_frontier(**settings):
        opened.append(logged_frontier(tmp_path / "frontier.db", **settings))
        return opened[-1]

    simulator = Simulator(
        web,
        ParsedPages(web, keep=False),
        judge=PerfectJudge(web, "energy"),
        strategy=BreadthFirst(),
        open_frontier=open_frontier,
    )
    crawl = await simulator.run([u("seed")], 5)
    await opened[0].close()
    lines = (tmp_path / "frontier.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["url"] for line in lines] == [fetch.url for fetch in crawl.fetches]


def test_the_page_names_the_interfaces():
    assert {"Frontier", "SharedState", "CrawlStore", "AuditedFrontier", "FrontierReader"} <= names_in_tables(PAGE)
    assert all(hasattr(base, name) for name in ("Frontier", "SharedState", "CrawlStore", "AuditedFrontier"))
    assert hasattr(frontier_inspect, "FrontierReader")


def test_a_backend_has_the_methods_that_the_page_lists():
    section = PAGE.partition("## How a frontier is chosen")[2]
    assert names_in_tables(section)
    assert names_in_tables(section) <= set(dir(CrawlBackend))


def names_in_tables(text):
    """Return the code in the first column of the tables of a text."""
    rows = re.findall(r"^\| (`[^|]+) \|", text, flags=re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_there_are_fifteen_promises():
    numbers = re.findall(r"^(\d+)\. [A-Z]", base.__doc__, flags=re.MULTILINE)
    assert numbers == [str(number) for number in range(1, 16)]


def test_there_is_still_no_entry_point_for_frontiers():
    assert not [kind for kind in registry._GROUPS if "frontier" in kind]

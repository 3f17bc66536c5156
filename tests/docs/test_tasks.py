"""The list of tasks: its commands parse, its keys are keys of topic.yaml, and its pages are a few clicks away."""

import re
import shlex
from functools import cache

import click
import pytest

from tests.docs.blocks import ROOT
from tests.docs.test_links import LINK, anchors, prose
from thresher.cli import thresher
from thresher.config.loading import load_config

PAGE = ROOT / "docs" / "tasks.md"
ROW = re.compile(
    r"^\| (?P<task>.+?) \| `(?P<answer>[^`]+)` \| \[[^\]]+\]\((?P<link>[^)#]+)(?:#(?P<anchor>[^)]+))?\) \|$"
)
TASKS = [found for line in PAGE.read_text(encoding="utf-8").splitlines() if (found := ROW.match(line))]
MAX_CLICKS = 3
each_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task["task"])


def test_there_are_thirty_and_every_row_is_one():
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(r"\| (?!you want to)", line)]
    assert len(TASKS) == len(rows) == 30


@each_task
def test_an_answer_is_a_command_that_parses_or_a_key_of_topic_yaml(task, tmp_path, monkeypatch):
    if task["answer"].startswith("thresher "):
        monkeypatch.chdir(tmp_path)
        monkeypatch.delenv("THRESHER_STORE", raising=False)
        (tmp_path / "solar").mkdir()
        (tmp_path / "solar" / "topic.yaml").write_text("title: {en: solar cells}\n", encoding="utf-8")
        parse(thresher, shlex.split(task["answer"])[1:])
    else:
        (tmp_path / "topic.yaml").write_text(task["answer"] + "\n", encoding="utf-8")
        load_config(tmp_path / "topic.yaml")


def parse(command, words):
    """Parse words as the command line does, without running anything."""
    while isinstance(command, click.Group):
        name, *words = words
        command = command.get_command(click.Context(command), name)
        assert command, name
    command.make_context(name, words)


@each_task
def test_its_page_can_be_reached_from_the_readme(task):
    target = (PAGE.parent / task["link"]).resolve()
    assert clicks()[target] <= MAX_CLICKS
    assert not task["anchor"] or task["anchor"] in anchors(target)


def test_the_list_is_one_click_away():
    assert clicks()[PAGE] == 1


@cache
def clicks():
    """Return by page how many links lead to it from the README."""
    found = {ROOT / "README.md": 0}
    waiting = [ROOT / "README.md"]
    for page in waiting:
        targets = {(page.parent / link["path"]).resolve() for link in LINK.finditer(prose(page)) if link["path"]}
        for target in sorted(targets - found.keys()):
            if target.suffix == ".md" and target.is_file():
                found[target] = found[page] + 1
                waiting.append(target)
    return found

"""The page on the papers names files that exist, and every strategy with its real parameters."""

import json
import re
from pathlib import Path

import pytest

from thresher import registry

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL))
OURS = ("breadth-first", "random", "relevant-parents", "thresher")
PAPERS = ("FCMRPS", "LPE", "SURVEY", "LAYERS", "RULES")
LINK = re.compile(r"\[([\w/]+\.py)\]\((\S+?)\)")


def cells(row):
    return [cell.strip() for cell in row.strip().strip("|").split(" | ")]


def table(section):
    _, _, *rows = re.findall(r"^\|.*\|$", SECTIONS[section], flags=re.MULTILINE)
    return [cells(row) for row in rows]


def parameters_cell(name):
    """What the table must say of a strategy's parameters: as one would write them in topic.yaml."""
    found = registry.parameters_of(registry.find("strategy", name))
    written = {key: value if isinstance(value, str) else json.dumps(value) for key, value in found.items()}
    return ", ".join(f"`{key}: {value}`" for key, value in written.items()) or "none"


@pytest.mark.parametrize("paper", PAPERS)
def test_each_paper_has_a_table_of_four_columns(paper):
    rows = table(paper)
    assert rows
    assert all(len(row) == 4 and all(row) for row in rows)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_row_names_files_that_exist(paper):
    for _, _, files, _ in table(paper):
        assert LINK.findall(files), files
        assert all((ROOT / "docs" / target).is_file() for _, target in LINK.findall(files)), files


def test_every_file_goes_by_its_own_name():
    assert all(target in (f"../src/thresher/{name}", f"../src/{name}") for name, target in LINK.findall(PAGE))


@pytest.mark.parametrize("name", registry.STRATEGIES)
def test_every_strategy_is_listed_with_its_file_and_its_parameters(name):
    [row] = [row for row in table("All strategies") if row[0] == f"`{name}`"]
    module = registry.STRATEGIES[name].partition(":")[0]
    assert module == "thresher." + LINK.search(row[1])[1].removesuffix(".py").replace("/", ".")
    assert row[2] == parameters_cell(name)
    assert len(row) == 5
    assert all(row)


def test_no_strategy_is_listed_that_is_not_there():
    assert {row[0].strip("`") for row in table("All strategies")} == set(registry.STRATEGIES)


@pytest.mark.parametrize("name", registry.STRATEGIES)
def test_every_strategy_of_a_paper_stands_in_its_section(name):
    place = registry.STRATEGIES[name].partition(":")[0].removeprefix("thresher.").replace(".", "/") + ".py"
    named = any(place in files for paper in PAPERS for _, _, files, _ in table(paper))
    module = registry.STRATEGIES[name].partition(":")[0]
    beside = {other for other, it in registry.STRATEGIES.items() if it.partition(":")[0] == module}
    assert named == bool(beside - set(OURS))

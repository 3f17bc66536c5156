"""The page on the papers names files and objects that exist, and every strategy with its real parameters."""

import json
import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

from testing import registered
from thresher import registry
from thresher_lab.reproduce.claims import Verdict
from thresher_lab.reproduce.experiments import EXPERIMENTS, read_causes, report
from thresher_lab.reproduce.tables import claims_of

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
def test_every_row_says_whether_we_differ_and_why(paper):
    for what, _, _, status in table(paper):
        assert re.match(r"same\b|different: \S|not built because \S", status), what


@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_built_names_files_that_exist(paper):
    for _, _, files, status in table(paper):
        assert bool(LINK.findall(files)) != status.startswith("not built"), files
        assert all((ROOT / "docs" / target).is_file() for _, target in LINK.findall(files)), files


def objects_of(cell):
    """Return module and name of every object behind the files of a cell."""
    for path, names in re.findall(r"\[([\w/]+)\.py\]\(\S+?\)((?:[:,] `[\w.]+`)*)", cell):
        package = "" if path.startswith("thresher_") else "thresher."
        for name in re.findall(r"`([\w.]+)`", names):
            yield package + path.replace("/", "."), name


@pytest.mark.parametrize("paper", PAPERS)
def test_every_object_that_is_named_exists(paper):
    named = [found for _, _, cell, _ in table(paper) for found in objects_of(cell)]
    assert len(named) >= len(table(paper)) // 2
    for module, name in named:
        assert reduce(getattr, name.split("."), import_module(module)) is not None


@pytest.mark.parametrize("paper", PAPERS)
def test_no_name_stands_without_its_file(paper):
    for _, _, cell, _ in table(paper):
        assert len(re.findall("`", cell)) == 2 * len(list(objects_of(cell))), cell


@pytest.mark.parametrize("paper", PAPERS)
def test_experiments_and_parameters_have_rows(paper):
    rows = table(paper)
    assert len(rows) >= 18
    assert paper == "SURVEY" or any(re.search(r"\(E\d+", what) for what, *_ in rows)


def test_every_experiment_of_the_lab_stands_in_a_row():
    found = set()
    for first, last in re.findall(
        r"\(E(\d+)(?:-E(\d+))?\)", " ".join(row[0] for paper in PAPERS for row in table(paper))
    ):
        found |= {f"E{number}" for number in range(int(first), int(last or first) + 1)}
    assert found == set(EXPERIMENTS)


def test_every_file_goes_by_its_own_name():
    assert all(target in (f"../src/thresher/{name}", f"../src/{name}") for name, target in LINK.findall(PAGE))


@pytest.mark.parametrize("name", registered.STRATEGIES)
def test_every_strategy_is_listed_with_its_file_and_its_parameters(name):
    [row] = [row for row in table("All strategies") if row[0] == f"`{name}`"]
    module = registered.STRATEGIES[name].partition(":")[0]
    file = LINK.search(row[1])[1].removesuffix(".py").replace("/", ".")
    assert module in (file, f"thresher.{file}")
    assert row[2] == parameters_cell(name)
    assert len(row) == 5
    assert all(row)


def test_no_strategy_is_listed_that_is_not_there():
    assert {row[0].strip("`") for row in table("All strategies")} == set(registered.STRATEGIES)


@pytest.mark.parametrize("name", registered.STRATEGIES)
def test_every_strategy_of_a_paper_stands_in_its_section(name):
    place = registered.STRATEGIES[name].partition(":")[0].removeprefix("thresher.").replace(".", "/") + ".py"
    named = any(place in files for paper in PAPERS for _, _, files, _ in table(paper))
    module = registered.STRATEGIES[name].partition(":")[0]
    beside = {other for other, it in registered.STRATEGIES.items() if it.partition(":")[0] == module}
    assert named == bool(beside - set(OURS))


def test_every_claim_that_fails_or_cannot_be_tested_has_its_cause_and_no_cause_is_left_over():
    folder = ROOT / "bench" / "results" / "reproduce"
    causes, found = read_causes(folder), {}
    for name in EXPERIMENTS:
        found |= claims_of(report(name, folder))
    assert {*causes} <= {*found}
    assert {claim for claim, own in found.items() if {one.verdict for one in own} != {Verdict.HOLDS}} <= {*causes}

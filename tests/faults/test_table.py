from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from testing.crawl_process import REPOSITORY, merge
from testing.machine import machine
from tests.faults import full
from tests.faults.rows import ROWS, Entry
from tests.faults.table import Outcome, Row, read, render

ROW = Row(
    name="R1",
    fault="kill -9",
    promise="none lost",
    figure="lost 0|0",
    test="tests/a.py",
    held=False,
    measured="2026-11-15",
)


def test_a_row_reads_as_a_line_of_the_table():
    page = render([ROW], "2026-11-15, 2 cores")
    assert "| R1 | kill -9 | none lost | **no** | lost 0\\|0 | `tests/a.py` | 2026-11-15 |\n" in page
    assert page.endswith("Last written 2026-11-15, 2 cores.\n")


def test_a_page_is_read_as_it_was_written():
    other = replace(ROW, name="P1", held=True)
    assert read(render([ROW, other], "today")) == {"R1": ROW, "P1": other}


def good() -> Outcome:
    return Outcome(held=True, figure="0 of 1\nlost")


def bad() -> Outcome:
    raise RuntimeError("no such luck")


def entry(name, function):
    return Entry(name, "a fault", "a promise", f"{__name__}:{function}", "tests/a.py")


def test_a_row_is_refreshed_alone_and_the_others_keep_their_figures(tmp_path):
    page = tmp_path / "reference" / "faults.md"
    entries = [entry("A1", "good"), entry("A2", "bad"), entry("A3", "good")]
    assert full.main([], entries, page) == 1
    before = read(page.read_text())
    assert [(row.name, row.held, row.figure) for row in before.values()] == [
        ("A1", True, "0 of 1 lost"),
        ("A2", False, "RuntimeError: no such luck"),
        ("A3", True, "0 of 1 lost"),
    ]
    page.write_text(page.read_text().replace("0 of 1 lost", "as it was"))
    assert full.main(["A1"], entries, page) == 0
    assert [row.figure for row in read(page.read_text()).values()] == [
        "0 of 1 lost",
        "RuntimeError: no such luck",
        "as it was",
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_an_entry_names_a_function_and_a_test_that_exist(row):
    module, _, name = row.function.partition(":")
    assert callable(getattr(import_module(module), name))
    assert Path(REPOSITORY, row.test).exists()


def test_names_of_rows_are_unique():
    assert len({row.name for row in ROWS}) == len(ROWS)


def test_the_machine_is_described_without_a_name():
    assert machine().split(", ")[1].endswith(" cores")


def test_settings_are_merged_mapping_by_mapping():
    old = {"name": "a", "engine": {"concurrency": 32, "max_bytes": 5}, "seeds": ["x"]}
    new = {"engine": {"concurrency": 4}, "seeds": [], "stop": {"pages": 1}}
    assert merge(old, new) == {
        "name": "a",
        "engine": {"concurrency": 4, "max_bytes": 5},
        "seeds": [],
        "stop": {"pages": 1},
    }

from tests.faults.crawl import merge
from tests.faults.table import Row, machine, render


def test_a_row_reads_as_a_line_of_the_table():
    row = Row(name="R1", fault="kill -9", promise="none lost", figure="lost 0|0", test="tests/a.py", held=False)
    page = render([row], "2026-11-15, 2 cores")
    assert "| R1 | kill -9 | none lost | **no** | lost 0\\|0 | `tests/a.py` |\n" in page
    assert page.endswith("Measured 2026-11-15, 2 cores.\n")


def test_the_machine_is_told_without_a_name():
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

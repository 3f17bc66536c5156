"""The notebook of the examples runs from top to bottom, beside a running event loop, and stores no outputs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "first-crawl.ipynb"
EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""


def cells(path):
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def test_no_outputs_are_stored():
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells(NOTEBOOK))


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    folder = tmp_path_factory.mktemp("notebook")
    arguments = [sys.executable, "-c", EXECUTE, str(NOTEBOOK), str(folder / "executed.ipynb")]
    ended = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=200, check=False)
    assert ended.returncode == 0, ended.stderr
    return cells(folder / "executed.ipynb")


def shown(executed, start):
    """Return what a cell showed, by kind; printed text among it."""
    [cell] = [cell for cell in executed if "".join(cell["source"]).startswith(start)]
    kinds = {}
    for output in cell["outputs"]:
        kinds.update(output.get("data", {}))
        if output["output_type"] == "stream" and output["name"] == "stdout":
            kinds["printed"] = kinds.get("printed", "") + "".join(output["text"])
    return kinds


def test_pages_come_while_the_cell_runs(executed):
    assert len(shown(executed, "for number, page")["printed"].splitlines()) == 10


def test_the_picture_the_path_and_the_table_are_shown(executed):
    assert "image/png" in shown(executed, "crawl.plot_harvest()")
    assert "elevant: " in "".join(shown(executed, "best = next")["text/html"])
    assert "pages" in "".join(shown(executed, "crawl.pages(")["text/html"])
    assert "text/html" in shown(executed, "table = crawl")


def test_words_are_found_and_a_label_is_applied(executed):
    assert shown(executed, "for found in")["printed"]
    assert "applied: True" in "".join(shown(executed, "taught =")["text/plain"])

"""The house is in order: a function fits in one look, a file has one subject, and nothing is imported in a circle.

A function's lines are counted from `def` to its end, without its docstring. What is longer stands in `EXCEPTIONS` with
the reason; an exception that is no longer needed must go.
"""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from thresher.registry import PEERS, STRATEGIES

ROOT = Path(__file__).parents[2]
FILES = {
    path.relative_to(ROOT): path.read_text(encoding="utf-8")
    for folder in ("src", "tests", "bench")
    for path in sorted((ROOT / folder).rglob("*.py"))
}
LONGEST_FUNCTION, LONGEST_FILE, LONGEST_STRATEGY = 40, 400, 200
SAY_NOTHING = {"utils", "util", "helpers", "common", "misc", "core", "base_utils", "stuff"}

EXCEPTIONS = {
    "src/thresher/strategies/learned/features.py features": "one line per feature, in the order of the prior's weights",
    "src/thresher/strategies/thresher.py": "ties together what lives in strategies/learned, one short method each",
}


def lines_of(function):
    """Count the lines of a function without its docstring."""
    first = function.body[0]
    docstring = first.end_lineno - first.lineno + 1 if ast.get_docstring(function) is not None else 0
    return function.end_lineno - function.lineno + 1 - docstring


parsed = cache(ast.parse)
"""Several tests look at the tree of every file."""


def functions_in(text):
    return (node for node in ast.walk(parsed(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def excepted(found, *, functions):
    """Leave out what is excepted; what is excepted and not found is no exception any more."""
    expected = {name for name in EXCEPTIONS if (" " in name) == functions}
    return {name: found[name] for name in found.keys() - expected} | dict.fromkeys(expected - found.keys(), "is over")


def test_a_function_fits_in_one_look():
    found = {
        f"{path} {function.name}": lines
        for path, text in FILES.items()
        for function in functions_in(text)
        if (lines := lines_of(function)) > LONGEST_FUNCTION
    }
    assert excepted(found, functions=True) == {}


def test_a_file_has_one_subject_and_a_strategy_a_small_file():
    strategies = {place.partition(":")[0].replace(".", "/") for place in (*STRATEGIES.values(), *PEERS.values())}
    most = {Path("src", f"{place}.py"): LONGEST_STRATEGY for place in strategies}
    assert most.keys() <= FILES.keys()
    found = {
        str(path): lines
        for path, text in FILES.items()
        if (lines := len(text.splitlines())) > most.get(path, LONGEST_FILE)
    }
    assert excepted(found, functions=False) == {}


def test_names_of_files_say_what_is_in_them():
    assert [path for path in FILES if SAY_NOTHING & {*path.parts, path.stem.removeprefix("test_")}] == []


def module_of(path):
    parts = path.with_suffix("").parts[1 if path.parts[0] == "src" else 0 :]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): text for path, text in FILES.items()}


def runtime_nodes(tree):
    """Walk over all but what is imported for types alone."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            waiting.extend(ast.iter_child_nodes(node))


def imported_by(text):
    """Give the modules of ours that a file imports, at its top or when a function is called."""
    for node in runtime_nodes(parsed(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"line {node.lineno}: name the whole module"
            yield from (name if (name := f"{node.module}.{a.name}") in MODULES else node.module for a in node.names)


@pytest.mark.parametrize("folder", ["thresher", "tests", "bench"])
def test_nothing_is_imported_in_a_circle(folder):
    graph = {
        module: {name for name in imported_by(text) if name in MODULES and name != module}
        for module, text in MODULES.items()
        if module.partition(".")[0] == folder
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))

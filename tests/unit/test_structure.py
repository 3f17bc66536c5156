"""The structure of the code: sizes of functions and files, names, importers, and no import cycles.

A function's lines are counted from `def` to its end, without its docstring. What is longer stands in `EXCEPTIONS` with
the reason; an exception that is no longer needed must go.
"""

import ast
import io
import re
import tokenize
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.unit.test_imports import PACKAGES

ROOT = Path(__file__).parents[2]
FILES = {
    path.relative_to(ROOT): path.read_text(encoding="utf-8")
    for folder in ("src", "tests", "testing", "bench")
    for path in sorted((ROOT / folder).rglob("*.py"))
}
MAX_FUNCTION_LINES, MAX_FILE_LINES = 40, 600
SAY_NOTHING = {"utils", "util", "helpers", "common", "misc", "core", "base_utils", "stuff"}

EXCEPTIONS = {}


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
        if (lines := lines_of(function)) > MAX_FUNCTION_LINES
    }
    assert excepted(found, functions=True) == {}


def test_a_file_has_at_most_600_lines():
    found = {str(path): lines for path, text in FILES.items() if (lines := len(text.splitlines())) > MAX_FILE_LINES}
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


@pytest.mark.parametrize("folder", [*PACKAGES, "testing", "tests", "bench"])
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


SOURCES = {module: text for module, text in MODULES.items() if module.partition(".")[0] in PACKAGES}
PATHS = {module_of(path): path for path in FILES}
MAX_ROOT_MODULES, SMALL_MODULE = 13, 40
SMALL_MODULES = {
    "thresher.coordination.crawls": "what a store holds, read without opening a crawl",
    "thresher.coordination.shared_labels": "the label store of a shared crawl, beside the one of a folder",
    "thresher_papers.strategies.evidence.hot_word": "one file per formula of a paper",
    "thresher_papers.strategies.evidence.link_type": "one file per formula of a paper",
}
"""Modules under 40 lines with one importer that stay, each with the reason; at most ten."""


def test_a_public_class_name_exists_once():
    defined = Counter(
        node.name
        for text in SOURCES.values()
        for node in parsed(text).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name: number for name, number in defined.items() if number > 1} == {}


def test_few_modules_stand_at_the_root():
    at_root = [path.name for path in PATHS.values() if path.parent == Path("src/thresher")]
    assert len(at_root) <= MAX_ROOT_MODULES, sorted(at_root)


def test_a_small_module_has_more_than_one_importer_or_a_reason():
    importers = Counter(name for text in SOURCES.values() for name in set(imported_by(text)))
    small = {
        module
        for module, text in SOURCES.items()
        if len(text.splitlines()) < SMALL_MODULE and importers[module] == 1 and PATHS[module].name != "__init__.py"
    }
    assert small == SMALL_MODULES.keys()
    assert len(SMALL_MODULES) <= 10


def test_benchmarks_and_their_helpers_do_not_import_tests():
    found = {
        module: names
        for module, text in MODULES.items()
        if module.partition(".")[0] in ("bench", "testing")
        and (names := [name for name in imported_by(text) if name.partition(".")[0] == "tests"])
    }
    assert found == {}


BANNED = re.compile(
    r"\b(wish(es|ed)?|crew|hearing|hear[ds]?|wardens?|errands?|fellows?|glances?|muster|desk|customs|posture|shelf|"
    r"notebooks?|whoever|told|said|so many|let go of|second thoughts|founding|witness(es)?)\b"
)
"""Private words in place of the field's terms, in names, docstrings and comments; strings may hold stored values."""
MAY_HOLD_BANNED = re.compile(BANNED.pattern.replace(r"\b", "").replace(" ", r"[\s_]*"))
"""Matches any module with such a word, and some without: most are not looked at word by word."""
BANNED_EXCEPT = {
    "thresher.api": {"notebooks"},  # Jupyter's
    "thresher.api.crawl": {"notebook", "notebooks"},
    "tests.e2e.test_notebook": {"notebook"},
    "thresher_lab.webs.archipelago": {"shelf"},  # text of generated pages
}


def prose_and_names(text):
    """Give the docstrings, comments and names of a module, the parts of names as words."""
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
        elif token.type == tokenize.NAME:
            yield re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", token.string)


def test_no_private_words_are_used():
    found = {
        module: words
        for module, text in MODULES.items()
        if (
            words := {
                match[0]
                for prose in (prose_and_names(text) if MAY_HOLD_BANNED.search(text.lower()) else ())
                for match in BANNED.finditer(" ".join(prose.lower().split()))
            }
            - BANNED_EXCEPT.get(module, set())
        )
    }
    assert found == {}


TEXT_TESTS = {"startswith", "endswith", "removeprefix", "removesuffix", "find", "match", "search", "fullmatch", "sub"}
REASON_NAMES = re.compile(r"(?:^|[._])(?:reason|parked|park|trouble)$")


def test_only_the_table_of_earlier_versions_reads_the_text_of_a_reason():
    found = {
        f"{module}: {ast.unparse(node)}"
        for module, text in SOURCES.items()
        if module.startswith("thresher.") and module != "thresher.reasons.legacy"
        for node in ast.walk(ast.parse(text))
        if _tests_a_reason(node)
    }
    assert found == {
        "thresher.parsing.markup: error.reason == 'unexpected end of data'",  # of an error of Python
    }


def _tests_a_reason(node):
    """Return whether a reason, or its message, is tested as a text."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TEXT_TESTS:
        return any(_is_reason(each) for each in (node.func.value, *node.args))
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        texts = [each for each in sides if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        return bool(texts) and any(_is_reason(each) for each in sides)
    return False


def _is_reason(node):
    """Return whether an expression is a reason or its message, by its name."""
    if isinstance(node, ast.Call) and node.args and ast.unparse(node.func) in {"str", "describe", "plain_reason"}:
        return _is_reason(node.args[0])
    return REASON_NAMES.search(ast.unparse(node)) is not None

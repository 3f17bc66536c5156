"""The architecture page is true: the files and names that it points to exist."""

import ast
import re

import pytest

from tests.docs.levels import ARCHITECTURE

ROOT = ARCHITECTURE.parents[2]
PAGE = ARCHITECTURE.read_text(encoding="utf-8")
ANSWERS = re.findall(r"^\| ([^|]+\?) \| `([^`|]+)` \| `(\w+)` \|$", PAGE, flags=re.MULTILINE)


def test_at_least_25_questions_are_answered():
    assert len(ANSWERS) >= 25
    assert len({question for question, *_ in ANSWERS}) == len(ANSWERS)


@pytest.mark.parametrize(("question", "path", "name"), ANSWERS, ids=[question for question, *_ in ANSWERS])
def test_a_question_is_answered_by_a_file_that_defines_the_name(question, path, name):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    defined = {
        node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert name in defined, question


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(src/[^`]+|tests/[^`]+)`", PAGE))))
def test_every_path_exists(path):
    assert (ROOT / path).exists()

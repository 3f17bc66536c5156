"""Errors state what happened, why, and what to do."""

import ast
import errno
import re
import sqlite3
from pathlib import Path

import pytest

from tests.unit.test_structure import BANNED
from thresher import errors

SOURCE = Path(__file__).parents[2] / "src"
WITHOUT_TEXT = {"thresher/config/loading.py", "thresher_ui/mcp_server/tools.py"}
"""They join or pass on messages that were made elsewhere."""
USERS = {"BadParameter", "ConfigError", "ExportError", "UsageError"}
"""Errors about what a user wrote: each message names the fault and what would be right, in two clauses at least."""
CLAUSES = re.compile(r"[;:,.] |\bexpected\b|\bneeds?\b|\bmust\b|\bis not an http or https URL")
FOLDER = Path("solar")


def raised():
    """Yield the place, the class and the text of every error that is raised with a text."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                name = getattr(node.exc.func, "id", "") or getattr(node.exc.func, "attr", "")
                parts = [each for argument in node.exc.args for each in ast.walk(argument)]
                text = "".join(
                    part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )
                if text and issubclass_name(name):
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", name, text


def issubclass_name(name):
    return name in USERS or isinstance(getattr(errors, name, None), type)


RAISED = list(raised())


def test_the_messages_are_found():
    assert len(RAISED) > 200


def test_no_message_has_a_private_word():
    assert [(place, text) for place, _, text in RAISED if BANNED.search(text.replace("[notebook]", ""))] == []


def test_what_a_user_wrote_is_named_with_what_would_be_right():
    found = [(place, text) for place, name, text in RAISED if name in USERS and not CLAUSES.search(text)]
    assert [each for each in found if each[0].partition(":")[0] not in WITHOUT_TEXT] == []


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (errors.UnknownName("strategy", "sharck", ["shark", "lpe"]), ["'sharck'", "did you mean 'shark'?", "lpe"]),
        (errors.UnknownCrawl("solar"), ["'solar'", "thresher run"]),
        (errors.NoSeeds(FOLDER / "seeds.txt"), ["solar/seeds.txt", "thresher seeds --into solar"]),
        (errors.RefusedAddress("http://10.0.0.1/", "a private address", "10.0.0.0/8"), ["network.allow"]),
        (errors.CrawlNotFound(FOLDER), ["topic.yaml", "thresher new solar"]),
        (errors.CrawlBusy(FOLDER), ["solar", "one run at a time", "thresher stop solar"]),
        (errors.DiskFull(), ["nothing is lost", "Make room"]),
        (errors.StoreLost("redis://a", "no keys"), ["redis://a", "thresher verify DIR --repair"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_names_the_fault_and_the_next_command(error, named):
    assert [text for text in named if text not in str(error)] == []


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.EACCES, "permissions"),
        (errno.ENOENT, "Check the path"),
        (errno.EROFS, "another disk"),
        (errno.EMFILE, "ulimit"),
        (errno.ENOSPC, "Make room"),
    ],
)
def test_an_error_of_the_system_comes_with_a_remedy(number, remedy):
    assert remedy in str(errors.system_error(OSError(number, "refused", "solar/topic.yaml")))


def test_an_error_of_sqlite_names_the_command_that_checks_the_crawl():
    assert "thresher verify DIR" in str(errors.system_error(sqlite3.OperationalError("no such table")))

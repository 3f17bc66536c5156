"""Where the reference says that 1 is an answer, it is one."""

import pytest

from testing.commands import called
from tests.docs.exit_codes import ANSWERS
from tests.docs.test_reference import find_command

NOTHING = {
    "search": ("search", "solar", "unfindableword"),
    "topics find": ("topics", "find", "topics.yaml", "unfindableword"),
    "why": ("why", "solar", "http://127.0.0.1:9/never-linked-to"),
}


@pytest.mark.parametrize("command", ANSWERS)
def test_commands_that_answer_by_their_code_exist(command):
    assert find_command(command)


@pytest.mark.parametrize("command", NOTHING)
def test_nothing_found_ends_with_1_and_without_an_error(world, command):
    (world.prepared / "topics.yaml").write_text("Sports 体育: [Basketball 篮球]\n", encoding="utf-8")
    done = called(*NOTHING[command], folder=world.prepared)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr

"""What a newcomer types is counted, and every introduction can be followed."""

import ast

import pytest

from bench.speed.first_page import Command, File, introductions

SEED = "http://127.0.0.2:8000/"


def test_enter_is_a_keystroke_and_indentation_is_not():
    assert Command("cd solar").keystrokes == len("cd solar") + 1
    assert File("a.py", "if a:\n    b()\n").keystrokes == len("a.py") + 1 + len("if a:") + 1 + len("b()") + 1


@pytest.mark.parametrize("introduction", introductions(SEED), ids=lambda each: each.crawler)
def test_an_introduction_installs_first_and_names_the_seed_once(introduction):
    assert str(introduction.steps[0]).startswith("$ pip install ")
    assert sum(str(step).count(SEED) for step in introduction.steps) == 1


@pytest.mark.parametrize("introduction", introductions(SEED), ids=lambda each: each.crawler)
def test_every_file_of_an_introduction_is_python(introduction):
    for step in introduction.steps:
        if isinstance(step, File):
            ast.parse(step.text)

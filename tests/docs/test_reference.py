"""What the reference says is what the code does."""

import re

import click
import pytest

from tests.docs.blocks import PAGES as PROSE
from tests.docs.blocks import ROOT
from tests.docs.generate import PAGES
from thresher.cli import COMMANDS, thresher


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_generated_pages_are_up_to_date(page):
    assert page.read_text(encoding="utf-8") == PAGES[page](), "run `make docs`"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_their_own_help_says(name):
    command = thresher.get_command(click.Context(thresher), name)
    assert command.help.partition("\n\n")[0].replace("\n", " ") == COMMANDS[name]


@pytest.mark.parametrize("page", PROSE, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_and_flag_in_the_docs_exists(page):
    text = page.read_text(encoding="utf-8").replace(" \\\n", " ")
    typed = re.findall(r"^(?: *\$ )?thresher ([a-z].*)$", text, flags=re.MULTILINE)
    quoted = re.findall(r"`thresher ([a-z][^`]* --[^`]*)`", text)
    for words in (*typed, *quoted):
        command, rest = find_command(words)
        flags = {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}
        used = re.findall(r"(?<=\s)(--?[a-z][a-z-]*)", rest.partition("#")[0])
        assert set(used) <= flags | {"--help"}, f"thresher {words}"


def find_command(words):
    """Walk from the group to the command that a line of the docs calls."""
    command, rest = thresher, " " + words
    while isinstance(command, click.Group):
        name, _, rest = rest.strip().partition(" ")
        command = command.get_command(click.Context(command), name)
        assert command is not None, f"thresher {words}"
    return command, " " + rest

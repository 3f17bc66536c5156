"""What the reference says is what the code does."""

import re
from pathlib import Path

import click
import pytest

from tests.docs.generate import PAGES, REFERENCE
from thresher.cli import COMMANDS, thresher

ROOT = Path(__file__).parents[2]
PROSE = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("name", PAGES)
def test_the_generated_pages_are_up_to_date(name):
    assert (REFERENCE / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs`"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_their_own_help_says(name):
    command = thresher.get_command(click.Context(thresher), name)
    assert command.help.partition("\n\n")[0].replace("\n", " ") == COMMANDS[name]


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_every_command_and_flag_in_the_docs_exists(page):
    text = page.read_text(encoding="utf-8")
    for words in re.findall(r"^(?:\$ )?thresher ([a-z].*)$", text, flags=re.MULTILINE):
        command, rest = find_command(words)
        flags = {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}
        used = re.findall(r"(?<=\s)(--?[a-z][a-z-]*)", rest.partition("#")[0])
        assert set(used) <= flags | {"--help"}, f"thresher {words}"


def find_command(words):
    """Walk from the group to the command that a line of the docs calls."""
    command, rest = thresher, " " + words.replace(" \\", "")
    while isinstance(command, click.Group):
        name, _, rest = rest.strip().partition(" ")
        command = command.get_command(click.Context(command), name)
        assert command is not None, f"thresher {words}"
    return command, " " + rest


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_every_link_inside_the_docs_leads_somewhere(page):
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target

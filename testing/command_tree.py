"""All commands of the command line, and the examples in their help."""

from __future__ import annotations

import inspect
import json
import re
import shlex
from collections.abc import Iterator, Sequence

import click

from thresher.cli import thresher
from thresher.cli.output import JsonOption


def all_commands() -> dict[str, click.Command]:
    """Return every command that is not a group, by its words, such as ``topics find``."""
    return dict(_commands(thresher, click.Context(thresher, info_name="thresher"), ()))


def _commands(group: click.Group, context: click.Context, path: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command, name
        if isinstance(command, click.Group):
            yield from _commands(command, context, (*path, name))
        else:
            yield " ".join((*path, name)), command


def examples_of(command: click.Command) -> list[str]:
    """Return the lines of the block ``Examples:`` in the help of a command."""
    found = re.search(
        r"^\x08\nExamples:\n((?: {2}.+(?:\n|$))+)", inspect.cleandoc(command.help or ""), flags=re.MULTILINE
    )
    return [line.strip() for line in found[1].splitlines()] if found else []


def words_of(example: str) -> list[str]:
    """Return the words after ``thresher`` of an example, up to a pipe; ``$(…)`` is opened."""
    inner = re.search(r"\$\((.*)\)", example)
    words = shlex.split(inner[1] if inner else example)
    assert words[0] == "thresher", example
    return words[1 : words.index("|")] if "|" in words else words[1:]


def check_json(words: Sequence[str], printed: str) -> None:
    """Check that what a command printed with --json is one document with the keys that the reference lists."""
    if "--json" not in words or not printed:
        return
    commands, words = all_commands(), [word for word in words if word != "--debug"]
    name = next(name for name in (" ".join(words[:2]), words[0]) if name in commands)
    [option] = (option for option in commands[name].params if isinstance(option, JsonOption))
    result = json.loads(printed)
    assert isinstance(result, list) is option.rows or option.note, f"thresher {name}: {type(result)}"
    always = {key for key, meaning in option.keys.items() if not meaning.startswith("Only")}
    for each in result if option.rows and isinstance(result, list) else [result] if not option.rows and result else []:
        assert set(each) <= set(option.keys), f"thresher {name}: {set(each) - set(option.keys)} is not documented"
        assert always <= set(each), f"thresher {name}: {always - set(each)} is missing"

"""The reference pages that are written by the code itself: `make docs` writes them, a test compares them."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_origin

import click
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

import thresher as thresher_api
from testing.command_tree import all_commands
from tests.docs.columns import records_page
from tests.docs.exit_codes import exit_codes_page
from tests.docs.figures import metrics_page
from tests.docs.levels import ARCHITECTURE, architecture_page, modules_page
from tests.docs.rest import rest_page
from tests.docs.scale import SCALE, scale_page
from tests.faults.table import with_reports
from thresher.cli import COMMANDS, TASKS, thresher
from thresher.cli.output import JsonOption
from thresher.config.schema import CrawlConfig, NamedConfig
from thresher.topics.taxonomy.bundled import bundled_nodes

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
FAULTS = REFERENCE / "faults.md"


NOTES = """\
The [exit code](exit-codes.md) says how a command ended. `--json` prints one document with
[stable keys](json.md). Results go to standard output, progress and remarks to standard error.

Commands, options and folders are completed by the shell after `eval "$(thresher completion bash)"`, the same for
`zsh`; for fish: `thresher completion fish | source`.""".splitlines()


def commands_page() -> str:
    lines = ["# Commands", "", "Written by `make docs` from the commands' own help.", ""]
    lines += ["| task | command | does |", "|---|---|---|"]
    for task, commands in TASKS.items():
        first = f"**{task}**"
        for name, does in commands.items():
            lines.append(f"| {first} | [`{name}`](#thresher-{name}) | {does} |")
            first = ""
    lines += ["", *NOTES]
    root = click.Context(thresher, info_name="thresher", **thresher.context_settings)
    for name in COMMANDS:
        lines += _help(thresher.get_command(root, name), name, root, "##")
    return "\n".join([*lines, ""])


def _help(command: click.Command, name: str, parent: click.Context, heading: str) -> Iterator[str]:
    """A command's own help, and that of the commands below it."""
    command._help_option = None  # click keeps the one that was built first, with the names of that call
    context = click.Context(command, info_name=name, parent=parent, max_content_width=100, terminal_width=100)
    yield from ("", f"{heading} {context.command_path}", "", "```text", command.get_help(context), "```")
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            yield from _help(command.get_command(context, below), below, context, f"{heading}#")


JSON_NOTES = """\
With `--json` a command prints one JSON document to standard output, in UTF-8, and nothing else there. Progress and
remarks go to standard error. The [exit code](exit-codes.md) is the same as without it.

A key is always there, unless its meaning begins with *Only*. A later version may add keys. Before 1.0.0 a minor version
may rename one; the changelog says so. Times are seconds since 1970, or ISO 8601 in UTC.""".splitlines()


def json_page() -> str:
    lines = ["# Results as JSON", "", "Written by `make docs` from the commands.", "", *JSON_NOTES]
    for name, command in all_commands().items():
        for option in command.params:
            if isinstance(option, JsonOption):
                lines += _result(name, option)
    return "\n".join([*lines, ""])


def _result(name: str, option: JsonOption) -> Iterator[str]:
    yield from ("", f"## thresher {name} --json", "", "A list; of each entry:" if option.rows else "An object:", "")
    yield from ("| key | meaning |", "|---|---|")
    yield from (f"| `{key}` | {meaning} |" for key, meaning in option.keys.items())
    if option.note:
        yield from ("", option.note)


def keys_page() -> str:
    lines = [
        "# topic.yaml",
        "",
        "Written by `make docs` from `thresher.config.schema`. An unknown key is an error.",
        "",
    ]
    return "\n".join([*lines, "| key | default | meaning |", "|---|---|---|", *_keys(CrawlConfig, ""), ""])


def _keys(model: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        inner = _inner_model(field.annotation)
        if inner is None or inner is NamedConfig:
            yield f"| `{prefix}{name}` | {_default(field.default)} | {field.description} |"
        else:
            yield f"| `{prefix}{name}` | | {field.description} |"
            each = {dict: ".NAME", list: "[]"}.get(get_origin(field.annotation), "")
            yield from _keys(inner, f"{prefix}{name}{each}.")


def _inner_model(annotation: object) -> type[BaseModel] | None:
    options = getattr(annotation, "__args__", (annotation,))
    return next((option for option in options if isinstance(option, type) and issubclass(option, BaseModel)), None)


def _default(value: object) -> str:
    if value is PydanticUndefined:
        return "(must be given)"
    if isinstance(value, BaseModel):
        value = value.model_dump()
    return f"`{json.dumps(value, ensure_ascii=False)}`" if value not in (None, "") else ""


def taxonomy_page() -> str:
    nodes = bundled_nodes()
    lines = [
        "# Bundled taxonomy",
        "",
        "Written by `make docs` from the file that ships with Thresher, which was written for it and is under the same",
        f"licence, Apache-2.0. It has {len(nodes)} topics. `thresher topics show NODE` prints all of one, with",
        "keywords and spellings in URLs. [How to use it](../howto/topics.md).",
        "",
        "A node is never removed or renamed. In a crawl of a node, of this taxonomy or of another, these labels are",
        "also found in URLs as abbreviations, in pinyin and as initials of pinyin.",
        "",
        "| node | English | Chinese | about |",
        "|---|---|---|---|",
    ]
    rows = (
        f"| `{node.path}` | {node.labels['en']} | {node.labels['zh']} | "
        f"{node.descriptions['en']} {node.descriptions['zh']} |"
        for node in nodes
    )
    return "\n".join([*lines, *rows, ""])


def python_page() -> str:
    lines = ["# Python API", "", "Written by `make docs` from `thresher.__all__`; the site shows the docstrings.", ""]
    lines += ["[Use it in Python](../howto/use-in-python.md) has examples. Only these names are stable:", ""]
    names = [name for name in sorted(thresher_api.__all__) if not name.startswith("__")]
    lines += [f"- `thresher.{name}`: {_first_sentence(getattr(thresher_api, name))}" for name in names]
    for name in names:
        lines += ["", f"::: thresher.{name}"]
    return "\n".join([*lines, ""])


def _first_sentence(described: type) -> str:
    return " ".join(inspect.getdoc(described).partition("\n\n")[0].split()).partition(". ")[0].rstrip(".") + "."


PAGES = {
    ARCHITECTURE: architecture_page,
    SCALE: scale_page,
    REFERENCE / "bundled-taxonomy.md": taxonomy_page,
    REFERENCE / "commands.md": commands_page,
    REFERENCE / "exit-codes.md": exit_codes_page,
    FAULTS: lambda: with_reports(FAULTS.read_text(encoding="utf-8")),
    REFERENCE / "json.md": json_page,
    REFERENCE / "metrics.md": metrics_page,
    REFERENCE / "modules.md": modules_page,
    REFERENCE / "python.md": python_page,
    REFERENCE / "records.md": records_page,
    REFERENCE / "rest.md": rest_page,
    REFERENCE / "topic-yaml.md": keys_page,
}

if __name__ == "__main__":
    for path, page in PAGES.items():
        path.write_text(page(), encoding="utf-8")

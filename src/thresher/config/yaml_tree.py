"""YAML as a tree of nodes with line numbers, without tags and aliases: a few aliases can expand to gigabytes."""

from __future__ import annotations

import yaml
from yaml.reader import ReaderError

from thresher.errors import ConfigError
from thresher.locale.translation import _

MAX_BYTES = 1 << 20
"""More than any file written by hand."""
_MAX_DEPTH = 100


def compose(name: str, text: str) -> yaml.Node | None:
    """Parse a document; None when it is empty.

    Raises:
        ConfigError: It is not YAML, nested too deeply, or has aliases; the message names file and line.
    """
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            line = event.start_mark.line + 1 if event.start_mark else 1
            if isinstance(event, yaml.AliasEvent):
                raise ConfigError(
                    _(
                        "{name}:{line}: aliases (*{anchor}) are not read; write the value out.",
                        name=name,
                        line=line,
                        anchor=event.anchor,
                    )
                )
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:
                raise ConfigError(_("{name}:{line}: nested too deeply; write fewer levels.", name=name, line=line))
        root: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
        return root
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(
            _("{name}:{line}: not YAML: {problem}.", name=name, line=line, problem=error.problem)
        ) from error
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(
            _(
                "{name}:{line}: not YAML: the character U+{character:04X} is not allowed.",
                name=name,
                line=line,
                character=error.character,
            )
        ) from error

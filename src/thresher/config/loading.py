"""Read and validate topic.yaml; every error names its line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from thresher.config.renamed_keys import EARLIER_NAMES, with_current_names
from thresher.config.schema import CrawlConfig
from thresher.config.yaml_tree import MAX_BYTES, compose
from thresher.errors import ConfigError

_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
_EXPECTED_IN = {"languages": "a language code", "title": "text by language code", "about": "text by language code"}

_SECRET_KEYS = (["access"], ["network", "proxy"], ["model_labels", "key_env"])
"""Their wrong values are not repeated: somebody may have typed a secret in the place of a variable's name."""


def load_config(path: Path) -> CrawlConfig:
    """Read a topic.yaml.

    Raises:
        ConfigError: It is not YAML, has an unknown key or a wrong value; the message names file and line.
    """
    root = compose(path.name, _read(path))
    values = _plain(path.name, root)
    if isinstance(values, dict):
        values = with_current_names(values)
    try:
        return CrawlConfig.model_validate(values)
    except ValidationError as error:
        raise ConfigError("\n".join(_messages(path.name, root, values, error))) from error


def _read(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        line = data.count(b"\n") + 1
        raise ConfigError(
            f"{path.name}:{line}: more than {MAX_BYTES >> 20} MB; write long lists of seeds into seeds.txt."
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path.name}:{line}: not UTF-8 text (byte {error.start}); save the file as UTF-8."
        ) from error


def _plain(name: str, root: yaml.Node | None) -> Any:
    """Construct plain values; other YAML tags are errors."""
    if root is None:
        return {}
    _refuse_duplicate_keys(name, root)
    try:
        return yaml.SafeLoader("").construct_document(root)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{name}:{line}: {error.problem}.") from error
    except (TypeError, ValueError, OverflowError) as error:  # such as an impossible date
        raise ConfigError(f"{name}:{_line_of_unreadable(root)}: {error}.") from error


def _line_of_unreadable(root: yaml.Node) -> int:
    for node in _nodes(root):
        try:
            if isinstance(node, yaml.ScalarNode):
                yaml.SafeLoader("").construct_document(node)
        except (TypeError, ValueError, OverflowError):
            return int(node.start_mark.line) + 1
    return int(root.start_mark.line) + 1


def _nodes(root: yaml.Node) -> Iterator[yaml.Node]:
    """Yield all nodes of a tree, keys included, in the order of the file."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, yaml.SequenceNode):
            pending.extend(reversed(node.value))
        elif isinstance(node, yaml.MappingNode):
            pending.extend(part for pair in reversed(node.value) for part in reversed(pair))


def _refuse_duplicate_keys(name: str, root: yaml.Node) -> None:
    for node in _nodes(root):
        if isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.value in seen:
                    raise ConfigError(
                        f"{name}:{key.start_mark.line + 1}: {key.value} is given twice; remove one of them."
                    )
                seen.add(str(key.value))


def _messages(name: str, root: yaml.Node | None, values: Any, error: ValidationError) -> list[str]:
    lines = []
    for detail in error.errors(include_url=False):
        path = [part for part in detail["loc"] if part not in ("[key]", "[list]")]
        lines.append(f"{name}:{_line(root, path)}: {_sentence(path, detail, values)}")
    return lines


def _line(node: yaml.Node | None, path: Sequence[int | str]) -> int:
    """Return the line of an error, following its path through the tree as far as possible."""
    line = node.start_mark.line + 1 if node else 1
    for part in path:
        if isinstance(node, yaml.MappingNode):
            names = (str(part), EARLIER_NAMES.get(str(part)))
            pair = next(((key, value) for key, value in node.value if key.value in names), None)
            if pair is None:
                return line
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            return line
    return line


def _sentence(path: Sequence[int | str], detail: ErrorDetails, values: Any) -> str:
    spelled = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    if detail["type"] == "extra_forbidden":
        return f"unknown key {spelled}; known here: {', '.join(_known_keys(path[:-1]))}."
    if detail["type"] == "missing":
        return f"{spelled} is missing."
    if detail["type"] == "value_error":
        return f"{spelled}: {str(detail['ctx']['error']).rstrip('.')}."
    expected = _EXPECTED_IN.get(str(path[0])) if len(path) > 1 else None
    expected = expected or _EXPECTED.get(detail["type"]) or detail["msg"].removeprefix("Input should be ")
    hint = ""
    if isinstance(detail["input"], bool):
        word = "yes" if detail["input"] else "no"
        hint = f' YAML reads a bare {word} as {str(detail["input"]).lower()}; write "{word}".'
    if any(list(path[: len(keys)]) == keys for keys in _SECRET_KEYS):
        return f"{spelled} is not {expected}."
    return f"{spelled or 'the file'} is {_short(detail['input'])}, expected {expected}.{hint}"


def _known_keys(path: Sequence[int | str]) -> list[str]:
    model: type[BaseModel] = CrawlConfig
    for part in path:
        if str(part) not in model.model_fields:  # a place in a list, or a name that the user gave
            continue
        annotation = model.model_fields[str(part)].annotation
        options = getattr(annotation, "__args__", (annotation,))
        model = next(option for option in options if isinstance(option, type) and issubclass(option, BaseModel))
    return sorted(model.model_fields)


def _short(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except ValueError:  # Python refuses to print integers with thousands of digits
        return "a number too long to print"
    return text if len(text) <= 60 else text[:57] + "..."

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
from thresher.locale.translation import Translatable, _, joined

_EXPECTED = {
    "string_type": _("text"),
    "int_type": _("a whole number"),
    "float_type": _("a number"),
    "bool_type": _("true or false"),
    "list_type": _("a list"),
    "dict_type": _("a mapping"),
    "model_type": _("a mapping"),
    "model_attributes_type": _("a mapping"),
}
_EXPECTED_IN = {
    "languages": _("a language code"),
    "title": _("text by language code"),
    "about": _("text by language code"),
}
_BOUNDS = {
    "greater_than": _("greater than {gt:g}"),
    "greater_than_equal": _("greater than or equal to {ge:g}"),
    "less_than": _("less than {lt:g}"),
    "less_than_equal": _("less than or equal to {le:g}"),
    "literal_error": _("one of {expected}"),
}
"""What is expected by the type of an error, with values from its context; the English is pydantic's own."""

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
        raise ConfigError(joined("\n", _messages(path.name, root, values, error))) from error


def _read(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        line = data.count(b"\n") + 1
        raise ConfigError(
            _(
                "{name}:{line}: more than {megabytes} MB; write long lists of seeds into seeds.txt.",
                name=path.name,
                line=line,
                megabytes=MAX_BYTES >> 20,
            )
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            _(
                "{name}:{line}: not UTF-8 text (byte {place}); save the file as UTF-8.",
                name=path.name,
                line=line,
                place=error.start,
            )
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
            for key in (pair[0] for pair in node.value):
                if isinstance(key, yaml.ScalarNode) and key.value in seen:
                    line = key.start_mark.line + 1
                    raise ConfigError(
                        _(
                            "{name}:{line}: {key} is given twice; remove one of them.",
                            name=name,
                            line=line,
                            key=key.value,
                        )
                    )
                seen.add(str(key.value))


def _messages(name: str, root: yaml.Node | None, values: Any, error: ValidationError) -> list[Translatable]:
    lines = []
    for detail in error.errors(include_url=False):
        path = [part for part in detail["loc"] if part not in ("[key]", "[list]")]
        sentence = _sentence(path, detail, values)
        lines.append(_("{name}:{line}: {sentence}", name=name, line=_line(root, path), sentence=sentence))
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
        return _("unknown key {key}; known here: {known}.", key=spelled, known=", ".join(_known_keys(path[:-1])))
    if detail["type"] == "missing":
        return _("{key} is missing.", key=spelled)
    if detail["type"] == "value_error":
        return _("{key}: {error}.", key=spelled, error=_without_stop(detail["ctx"]["error"]))
    expected = _expected(path, detail)
    if any(list(path[: len(keys)]) == keys for keys in _SECRET_KEYS):
        return _("{key} is not {expected}.", key=spelled, expected=expected)
    sentence = _(
        "{key} is {value}, expected {expected}.",
        key=spelled or _("the file"),
        value=_short(detail["input"]),
        expected=expected,
    )
    if isinstance(detail["input"], bool):
        word, value = "yes" if detail["input"] else "no", str(detail["input"]).lower()
        hint = _('YAML reads a bare {word} as {value}; write "{word}".', word=word, value=value)
        return joined(" ", [sentence, hint])
    return sentence


def _expected(path: Sequence[int | str], detail: ErrorDetails) -> str:
    expected = _EXPECTED_IN.get(str(path[0])) if len(path) > 1 else None
    expected = expected or _EXPECTED.get(detail["type"])
    if expected:
        return expected
    english = detail["msg"].removeprefix("Input should be ")
    bound = _BOUNDS.get(detail["type"])
    return _(bound, **detail["ctx"]).in_english(english) if bound else english


def _without_stop(error: Exception) -> str:
    text = str(error)
    return text.rstrip(".") if text.endswith(".") else text


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
        return _("a number too long to print")
    return text if len(text) <= 60 else text[:57] + "..."

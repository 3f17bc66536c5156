"""How parts that are chosen by name are listed and described; each kind adds facts of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from thresher import registry
from thresher.cli.show import echo, echo_json, echo_table

Facts = Mapping[str, tuple[Any, str]]
"""By key: a value for programs, and the sentence that says it to people."""


def echo_registered(kind: str, name: str | None, facts: Callable[[Any], Facts], *, as_json: bool) -> None:
    """Print all parts of a kind, or all about one of them.

    Raises:
        UnknownName: Nobody registered that name.
    """
    found = {each: registry.find(kind, each) for each in ([name] if name else sorted(registry.known(kind)))}
    described = [_describe(each, part, facts(part)) for each, part in found.items()]
    if as_json:
        echo_json(described)
    elif name:
        for line in _lines(described[0], facts(found[name])):
            echo(line)
    else:
        echo_table(["name", "what it does", "source"], [(d["name"], d["does"], d["source"]) for d in described])


def _describe(name: str, found: Any, facts: Facts) -> dict[str, Any]:
    module = inspect.getdoc(inspect.getmodule(found)) or ""
    return {
        "name": name,
        "does": (inspect.getdoc(found) or "").partition("\n")[0],
        "source": module.partition("\n")[0],
        **{key: value for key, (value, _) in facts.items()},
        "parameters": registry.parameters_of(found),
    }


def _lines(described: Mapping[str, Any], facts: Facts) -> list[str]:
    lines = [described["name"], f"  {described['does']}", f"  {described['source']}"]
    lines += [f"  {sentence}" for _, sentence in facts.values()]
    lines += [f"  {parameter}: {default}" for parameter, default in described["parameters"].items()]
    return lines

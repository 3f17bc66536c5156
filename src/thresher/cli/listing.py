"""thresher strategies and thresher judges: list registered parts and their parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import click

from thresher import registry
from thresher.cli.output import echo, echo_json, echo_table, json_option, wide_option

Facts = Mapping[str, tuple[Any, str]]
"""By key: a value for JSON, and a sentence."""


@click.command()
@click.argument("name", required=False)
@wide_option
@json_option(
    {
        "name": "The name in topic.yaml.",
        "does": "What it does, in a sentence.",
        "source": "The paper or page that it follows.",
        "merge": "How the scores of a URL that is found again are combined.",
        "parameters": "The parameters and their defaults.",
    },
    rows=True,
)
def strategies(name: str | None, as_json: bool) -> None:
    """List the crawl strategies, or describe one.

    \b
    Examples:
      thresher strategies
      thresher strategies shark
    """
    _echo_registered("strategy", name, _strategy_facts, as_json=as_json)


def _strategy_facts(found: Any) -> Facts:
    merge = str(getattr(found, "merge", "max"))
    return {"merge": (merge, f"A URL found again: {merge} of its scores")}


@click.command()
@click.argument("name", required=False)
@wide_option
@json_option(
    {
        "name": "The name in topic.yaml.",
        "does": "What it does, in a sentence.",
        "source": "The paper or page that it follows.",
        "learns": "Whether it learns from the pages of the crawl.",
        "parameters": "The parameters and their defaults.",
    },
    rows=True,
)
def judges(name: str | None, as_json: bool) -> None:
    """List the judges of pages, or describe one.

    \b
    Examples:
      thresher judges
      thresher judges adaptive --json
    """
    _echo_registered("judge", name, _judge_facts, as_json=as_json)


def _judge_facts(found: Any) -> Facts:
    learns = hasattr(found, "learn")
    return {"learns": (learns, "Learns from the pages of the crawl" if learns else "Does not learn from the crawl")}


def _echo_registered(kind: str, name: str | None, facts: Callable[[Any], Facts], *, as_json: bool) -> None:
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
    source = getattr(found, "source", None) or inspect.getdoc(inspect.getmodule(found)) or ""
    return {
        "name": name,
        "does": (inspect.getdoc(found) or "").partition("\n")[0],
        "source": source.partition("\n")[0],
        **{key: value for key, (value, _) in facts.items()},
        "parameters": registry.parameters_of(found),
    }


def _lines(described: Mapping[str, Any], facts: Facts) -> list[str]:
    lines = [described["name"], f"  {described['does']}", f"  {described['source']}"]
    lines += [f"  {sentence}" for _, sentence in facts.values()]
    lines += [f"  {parameter}: {default}" for parameter, default in described["parameters"].items()]
    return lines

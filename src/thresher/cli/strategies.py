"""thresher strategies: what there is, and what each can be told."""

from __future__ import annotations

import inspect
from typing import Any

import click

from thresher import registry
from thresher.cli.show import echo_json, echo_table


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def strategies(name: str | None, as_json: bool) -> None:
    """List the crawl strategies, or describe one."""
    names = [name] if name else sorted(registry.known("strategy"))
    described = [_describe(each) for each in names]
    if as_json:
        echo_json(described)
    elif name:
        for line in _lines(described[0]):
            click.echo(line)
    else:
        echo_table(["name", "what it does", "source"], [(d["name"], d["does"], d["source"]) for d in described])


def _describe(name: str) -> dict[str, Any]:
    found = registry.find("strategy", name)
    module = inspect.getdoc(inspect.getmodule(found)) or ""
    return {
        "name": name,
        "does": (inspect.getdoc(found) or "").partition("\n")[0],
        "source": module.partition("\n")[0],
        "merge": str(getattr(found, "merge", "max")),
        "parameters": registry.parameters_of(found),
    }


def _lines(described: dict[str, Any]) -> list[str]:
    lines = [described["name"], f"  {described['does']}", f"  {described['source']}"]
    lines.append(f"  A URL found again: {described['merge']} of its scores")
    for parameter, default in described["parameters"].items():
        lines.append(f"  {parameter}: {default}")
    return lines

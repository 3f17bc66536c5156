"""thresher strategies: what there is, and what each can be told."""

from __future__ import annotations

from typing import Any

import click

from thresher.cli.registered import Facts, echo_registered


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def strategies(name: str | None, as_json: bool) -> None:
    """List the crawl strategies, or describe one."""
    echo_registered("strategy", name, _facts, as_json=as_json)


def _facts(found: Any) -> Facts:
    merge = str(getattr(found, "merge", "max"))
    return {"merge": (merge, f"A URL found again: {merge} of its scores")}

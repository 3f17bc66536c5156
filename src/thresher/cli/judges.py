"""thresher judges: what decides whether a page is on topic, and what each can be told."""

from __future__ import annotations

from typing import Any

import click

from thresher.cli.registered import Facts, echo_registered


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def judges(name: str | None, as_json: bool) -> None:
    """List the judges of pages, or describe one."""
    echo_registered("judge", name, _facts, as_json=as_json)


def _facts(found: Any) -> Facts:
    learns = hasattr(found, "learn")
    return {"learns": (learns, "Learns from the pages of the crawl" if learns else "Does not learn from the crawl")}

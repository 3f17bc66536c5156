"""thresher why: the path from the seed, every part of every score."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from thresher.archive.collection import Hop
from thresher.build import Crawl
from thresher.cli.show import CRAWL, echo, echo_json, values_of, verdict
from thresher.explain import Explanation, explain
from thresher.frontier.base import UrlState


@click.command()
@click.argument("dir", type=CRAWL)
@click.argument("url")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def why(dir: Path, url: str, as_json: bool) -> None:  # noqa: A002 - the argument's name on the command line
    """Say why a page is there: its path from a seed and every part of every score."""
    explanation = asyncio.run(explain(Crawl.open(dir), url))
    if as_json:
        echo_json(explanation.as_json())
    else:
        for line in sentences(explanation):
            echo(line)
    if explanation.entry is None and not explanation.history:
        raise SystemExit(1)


def sentences(explanation: Explanation) -> list[str]:
    """Say it in lines for people."""
    lines = [explanation.url, f"  {_standing(explanation)}"]
    if explanation.path:
        fetched = bool(explanation.history)
        lines += ["", "Path from the seed:" if fetched else "Path from the seed to the page that links to it:"]
        lines += [line for number, hop in enumerate(explanation.path) for line in _hop(number, hop)]
    if len(explanation.history) > 1:
        lines += ["", "Settled several times:"]
        lines += [
            f"  {record.outcome} {record.status or ''} {record.reason}".rstrip() for record in explanation.history
        ]
    return lines


def _standing(explanation: Explanation) -> str:
    entry = explanation.entry
    if entry is None:
        return f"never queued: {explanation.outside or 'no page that was fetched links to it'}"
    if entry.state is UrlState.WAITING:
        return f"waiting with score {entry.score:.3f}, {entry.hops} links from a seed, {entry.tries} tries so far"
    return f"{entry.state}: {entry.reason}" if entry.reason else str(entry.state)


def _hop(number: int, hop: Hop) -> list[str]:
    record = hop.record
    lines = [f"  {number}. {record.url}"]
    if number and hop.parts:
        lines.append(f'     by "{hop.anchor}", score {hop.score:.3f} = {values_of(hop.parts)}')
    elif number:
        lines.append(f'     by "{hop.anchor}", score {hop.score:.3f}' if hop.anchor else "     by redirect")
    else:
        lines.append(f"     a seed, score {record.score:.3f}")
    if record.page:
        lines.append(f"     {verdict(record)}")
        lines.append(f"     {record.title}" if record.title else "     (no title)")
    else:
        lines.append(f"     {record.outcome}: {record.reason}")
    return lines

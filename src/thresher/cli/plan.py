"""thresher plan: what a crawl of a given size needs."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import Any

import click

from thresher.capacity.constants import load_constants, read_measurements
from thresher.capacity.plan import COLUMNS, lines, make_plan, plan_growth, row
from thresher.capacity.request import WAITING_PER_HOST, CapacityRequest, Prices
from thresher.cli.output import echo, echo_json, echo_table, json_option

_REQUEST_OPTIONS = (
    "pages",
    "hosts",
    "days",
    "links",
    "new_share",
    "page_kb",
    "waiting",
    "waiting_per_host",
    "replicas",
    "tiered",
)
_PRICES = Prices()


class Count(click.ParamType[int]):
    """A whole number above 0, also written as 1e9."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse 1000000, 1_000_000 or 1e6."""
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number such as 1000000 or 1e6", param, ctx)
        if not 1 <= number < math.inf or number != int(number):
            self.fail(f"{value!r} is not a whole number above 0", param, ctx)
        return int(number)


_COUNT = Count()
_ABOVE_0 = click.FloatRange(min=0, min_open=True)
_FROM_0 = click.FloatRange(min=0)


@click.command()
@click.option("--pages", type=_COUNT, required=True, help="Total number of fetches, such as 1e9.")
@click.option("--hosts", type=_COUNT, required=True, help="Hosts with waiting URLs, on average, such as 1e5.")
@click.option("--delay", type=_FROM_0, required=True, help="Seconds between two fetches from one host.")
@click.option("--days", type=_ABOVE_0, default=30.0, show_default=True, help="Days until it should be done.")
@click.option("--workers", type=_COUNT, help="Use this many workers, such as 8, regardless of --days.")
@click.option("--links", type=_COUNT, default=60, show_default=True, help="Links per page.")
@click.option(
    "--new-share",
    type=click.FloatRange(min=0, max=1, min_open=True),
    default=0.1,
    show_default=True,
    help="Share of links to a URL not seen before, over the whole crawl.",
)
@click.option("--page-kb", type=_ABOVE_0, default=30.0, show_default=True, help="KB per page as transferred.")
@click.option("--waiting", type=_COUNT, help="URLs waiting at the end, such as 1e8; by default computed from links.")
@click.option("--waiting-per-host", type=_COUNT, default=WAITING_PER_HOST, show_default=True, help="Maximum per host.")
@click.option("--note-kb", type=_FROM_0, default=1.0, show_default=True, help="KB stored per host: its robots.txt.")
@click.option(
    "--worker-pages-per-second", type=_ABOVE_0, help="Speed of one worker, such as 40; by default as measured."
)
@click.option("--node-ram-gb", type=_ABOVE_0, default=32.0, show_default=True, help="RAM of one store machine.")
@click.option("--replicas", type=click.IntRange(min=0), default=0, show_default=True, help="Copies of each store node.")
@click.option("--tiered", is_flag=True, help="Keep worse waiting URLs of a shared store in a cold storage.")
@click.option(
    "--line-mbit", type=_FROM_0, default=0.0, help="Bandwidth of your connection, such as 1000; 0 for unlimited."
)
@click.option("--price-core", type=_FROM_0, default=_PRICES.core, show_default=True, help="A core and a month.")
@click.option(
    "--price-ram-gb", type=_FROM_0, default=_PRICES.ram_gb, show_default=True, help="A GB of RAM and a month."
)
@click.option(
    "--price-disk-gb", type=_FROM_0, default=_PRICES.disk_gb, show_default=True, help="A GB of disk and a month."
)
@click.option(
    "--price-traffic-gb", type=_FROM_0, default=_PRICES.traffic_gb, show_default=True, help="A GB of incoming traffic."
)
@click.option("--table", is_flag=True, help="The same crawl from 10^4 to 10^9 pages, with the same pages per host.")
@click.option("--constants", is_flag=True, help="Also print the measured constants: by which command, when, where.")
@json_option(
    {
        "plans": "One plan per size: request, workers, RAM, store, disk, traffic, days, costs, bottleneck.",
        "constants": "The measured constants: value, command, date, machine.",
    },
)
def plan(delay: float, workers: int | None, table: bool, constants: bool, as_json: bool, **flags: Any) -> None:
    """Estimate workers, memory, disk and days of a crawl.

    Also its store, its traffic, its cost and its bottleneck.

    Everything is computed from measured constants; the default prices are rough, give your own.

    \b
    Examples:
      thresher plan --pages 1e6 --hosts 5000 --delay 2 --days 7
      thresher plan --pages 1e9 --hosts 1e6 --delay 5 --table
    """
    measured = load_constants()
    if flags["worker_pages_per_second"]:
        measured = replace(measured, worker_pages_per_second=flags["worker_pages_per_second"])
    request = _request(delay, flags)
    one, many = make_plan(request, measured, workers=workers), plan_growth(request, measured, workers=workers)
    plans = many if table else [one]
    if as_json:
        echo_json({"plans": [_plain(asdict(each)) for each in plans], "constants": read_measurements()})
        return
    if table:
        echo_table(COLUMNS, map(row, plans))
    else:
        for line in lines(one):
            echo(line)
    if constants:
        _echo_constants()


def _request(delay: float, flags: dict[str, Any]) -> CapacityRequest:
    prices = Prices(**{name: flags[f"price_{name}"] for name in ("core", "ram_gb", "disk_gb", "traffic_gb")})
    more = {name: flags[name] for name in (*_REQUEST_OPTIONS, "note_kb", "node_ram_gb", "line_mbit")}
    return CapacityRequest(delay_seconds=delay, prices=prices, **more)


def _echo_constants() -> None:
    echo()
    rows = [
        (name, each["value"], each["measured_by"], each["on"], each["machine"])
        for name, each in read_measurements().items()
    ]
    echo_table(["constant", "value", "measured by", "on", "machine"], [(a, f"{b:,}", *c) for a, b, *c in rows])


def _plain(value: Any) -> Any:
    """Replace infinity, which JSON lacks, by null."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return None if value == math.inf else value

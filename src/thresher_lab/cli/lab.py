"""thresher lab: strategies tried and compared on frozen webs, without a network."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from thresher.cli.output import echo, echo_json, echo_table, json_option
from thresher.errors import ConfigError, ThresherError
from thresher_lab.cli.compare import compare
from thresher_lab.cli.reproduce import reproduce
from thresher_lab.cli.train import train
from thresher_lab.cli.web import PAGES, SEEDS, WEB, opened, without_curves

if TYPE_CHECKING:
    from thresher_lab.statistics.result_rows import Row

EXTRA = frozenset({"cryptography", "matplotlib", "pyarrow", "scipy"})
"""Packages that only the lab needs."""

ROW_KEYS = {
    "web": "The web.",
    "topic": "The topic.",
    "strategy": "The strategy.",
    "seed_set": "The number of the seed set.",
    "judge": "The judge.",
    "pages": "Fetches that were allowed.",
    "seeds": "Pages that the crawl started from.",
    "parameters": "Parameters of the strategy that differ from its defaults.",
    "training": "Share of the pages of the topic that was used for training.",
    "distance": "Links from the seeds to the topic.",
    "host_pages": "Pages that each host may give; 0 for all.",
    "targets": "Pages of the topic that can be reached.",
    "fetched": "Pages fetched.",
    "dead": "Fetches that returned no page.",
    "percent_of_oracle": "Pages of the topic found, in percent of what the oracle finds.",
    "mean_percent_of_oracle": "The same, as a mean over the crawl.",
    "harvest_rate": "Pages of the topic per fetch.",
    "percent_of_oracle_60": "percent_of_oracle after the first 60 fetches.",
    "harvest_60": "harvest_rate after the first 60 fetches.",
    "sum_of_information": "Sum of information, as defined in the papers.",
    "recall": "Share of the targets that was found.",
    "area": "Area below the curve of recall.",
    "hr_at_r": "Harvest rate after as many fetches as there are targets.",
    "relevant_hosts": "Hosts with a page of the topic that was found.",
    "ms_per_page": "Only without an upper bound: milliseconds per page.",
    "scoring_ms_per_page": "Only without an upper bound: milliseconds per page for scoring links.",
    "peak_mb": "Only without an upper bound: peak memory in MB.",
    "bytes_per_relevant_page": "Only without an upper bound: bytes fetched per page of the topic, or null.",
    "recall_at_1pc": "Recall after 1 percent of the web.",
    "recall_at_2pc": "Recall after 2 percent of the web.",
    "recall_at_5pc": "Recall after 5 percent of the web.",
    "recall_at_10pc": "Recall after 10 percent of the web.",
    "recall_at_20pc": "Recall after 20 percent of the web.",
    "pages_to_50pc": "Fetches until 50 percent of the targets were found; null if never.",
    "pages_to_90pc": "Fetches until 90 percent of the targets were found; null if never.",
    "pages_to_95pc": "Fetches until 95 percent of the targets were found; null if never.",
}
"""The result of one crawl."""


class LabGroup(click.Group):
    """Lists commands in order, and reports how to install missing packages of the lab."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            name = (error.name or "").partition(".")[0]
            if name not in EXTRA:
                raise
            raise ThresherError(f'the lab needs {name}: pip install "thresher-crawler[lab]"') from error


@click.group(cls=LabGroup)
def lab() -> None:
    """Compare strategies on frozen webs, without a network.

    The webs are *.pages.jsonl.zst files in the folder that THRESHER_WEBS names.
    """


@lab.command()
@click.option("--import", "with_import", is_flag=True, help="Import webs that were not opened before.")
@json_option(
    {
        "web": "The name of the web.",
        "imported": "Whether it can be opened without an import.",
        "pages": "Its pages; null before the import.",
        "hosts": "Its hosts; null before the import.",
        "topics": "Its topics; null before the import.",
        "dev": "Topics for tuning.",
        "test": "Topics for testing.",
    },
    rows=True,
)
def webs(with_import: bool, as_json: bool) -> None:
    """List the webs: their pages, hosts and topics.

    Dev and test are the topics for tuning and for testing strategies.

    \b
    Examples:
      thresher lab webs
      thresher lab webs --import --json
    """
    listed = [_describe(name, is_ready or with_import) for name, is_ready in _offered_webs()]
    if as_json:
        echo_json(listed)
        return
    numbers = ["dev", "test", "pages", "hosts", "topics"]
    rows = [[web["web"], *("" if web[name] is None else web[name] for name in numbers), _state(web)] for web in listed]
    echo_table(["web", *numbers, ""], rows)
    if not all(web["imported"] for web in listed):
        echo("A web is imported when it is first used, or now: thresher lab webs --import", err=True)


def _offered_webs() -> Iterator[tuple[str, bool]]:
    """Yield the webs of the folder, and whether each can be opened without importing it first."""
    from thresher_lab.webs.archipelago import PARTS
    from thresher_lab.webs.importers.pagefile import SUFFIX
    from thresher_lab.webs.webstore import cache_folder, known_webs, webs_folder

    if not os.environ.get("THRESHER_WEBS"):
        raise ConfigError(f"THRESHER_WEBS is not set. Name the folder of *{SUFFIX} files: export THRESHER_WEBS=~/webs")
    names = known_webs(webs_folder())
    if not names:
        raise ConfigError(
            f"THRESHER_WEBS is {webs_folder()}, where no *{SUFFIX} file is; name the folder that has them"
        )
    ready = {name: _is_imported(name) for name in names}
    yield from ready.items()
    if set(PARTS.values()) <= set(names):
        is_planned = any(cache_folder().glob("archipelago-*.json"))
        yield "archipelago", is_planned and all(ready[name] for name in PARTS.values())


def _is_imported(name: str) -> bool:
    from thresher_lab.webs.webstore import cache_folder, code_fingerprint

    hexadecimal = "[0-9a-f]" * 10
    return any(cache_folder().glob(f"{name}-{hexadecimal}-{code_fingerprint()}.db"))


def _describe(name: str, may_open: bool) -> dict[str, Any]:
    described: dict[str, Any] = {"web": name, "imported": may_open, "pages": None, "hosts": None, "topics": None}
    if may_open:
        with opened(name) as web:
            described |= {"pages": len(web), "hosts": len(web.hosts()), "topics": len(web.topics())}
    return described | _split_sizes(name)


def _state(described: Mapping[str, Any]) -> str:
    return "" if described["imported"] else "not imported yet"


def _split_sizes(name: str) -> dict[str, int]:
    from thresher_lab.simulation.topic_splits import split

    try:
        return {"dev": len(split(name, "dev")), "test": len(split(name, "test"))}
    except ConfigError:
        return {"dev": 0, "test": 0}


@lab.command("run")
@WEB
@click.option("--topic", required=True, metavar="NAME", help="The topic to crawl for.")
@click.option("--strategy", required=True, metavar="NAME", help="The strategy, or an upper bound such as oracle.")
@click.option("--seed-set", type=click.IntRange(min=0), default=0, show_default=True, help="Number of the seed set.")
@SEEDS
@PAGES
@click.option("--judge", default="perfect", show_default=True, metavar="NAME", help="perfect, or: thresher judges.")
@json_option(ROW_KEYS)
def run_once(
    web_name: str,
    topic: str,
    strategy: str,
    seed_set: int,
    seeds_per_set: int,
    pages: int,
    judge: str,
    as_json: bool,
) -> None:
    """Crawl a web once, and print the metrics of the crawl.

    \b
    Examples:
      thresher lab run --web webkb --topic faculty --strategy shark
      thresher lab run --web webkb --topic course --strategy oracle --pages 200 --json
    """
    from thresher_lab.simulation.comparison_plan import checked_judges, checked_strategies
    from thresher_lab.simulation.tasks import Task, TaskRunner

    [contender], [judge] = checked_strategies([strategy]), checked_judges([judge])
    with opened(web_name) as web:
        web.targets(topic)
        bench = TaskRunner(web)
        task = Task(
            web=web_name,
            topic=topic,
            strategy=contender.strategy,
            parameters=contender.parameters,
            seed_set=seed_set,
            judge=judge,
            pages=pages,
            seeds=seeds_per_set,
        )
        row = without_curves(bench.run(task))
        bench.flush()
    if as_json:
        echo_json(row)
    else:
        echo_table(["", "value"], _metric_lines(row))


def _metric_lines(row: Row) -> list[tuple[str, Any]]:
    return [(name.replace("_", " "), "never" if value is None else value) for name, value in row.items() if value != {}]


lab.add_command(compare)


@lab.command()
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "-o",
    "--output",
    default=Path("report.html"),
    show_default=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page.",
)
@click.option(
    "--png", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Write the curves there too."
)
@click.option("--baseline", default="breadth-first", show_default=True, help="What the others are compared with.")
@json_option(
    {
        "report": "The page.",
        "pictures": "The curves that were written; empty without --png.",
    },
)
def report(files: Sequence[Path], output: Path, png: Path | None, baseline: str, as_json: bool) -> None:
    """Write results of compare as one HTML page.

    It has tables, curves and definitions, and loads nothing else.

    \b
    Examples:
      thresher lab report webkb.jsonl wikispeedia.jsonl -o report.html --png curves
    """
    from thresher_lab.reports.comparisons import make_sections
    from thresher_lab.reports.html_report import current_provenance, html_report
    from thresher_lab.statistics.result_rows import read_rows

    sections = make_sections([row for file in files for row in read_rows(file)], baseline)
    names = " ".join(shlex.quote(file.name) for file in files)
    page = html_report(sections, current_provenance(f"thresher lab report {names} --baseline {shlex.quote(baseline)}"))
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(page, encoding="utf-8")
    pictures: list[Path] = []
    if png:
        from thresher_lab.reports.overview import write_pictures

        pictures += write_pictures(sections, png)
    if as_json:
        echo_json({"report": str(output), "pictures": list(map(str, pictures))})
        return
    for path in (output, *pictures):
        echo(path)


@lab.command()
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--baseline", default="breadth-first", show_default=True, help="What the others are compared with.")
@json_option(
    {
        "summary": "Per web, judge and strategy: means with intervals, and the difference to the baseline.",
    },
)
def overview(files: Sequence[Path], baseline: str, as_json: bool) -> None:
    """Print results of compare on many webs as one table per judge, in Markdown.

    \b
    Examples:
      thresher lab overview webkb.jsonl wikispeedia.jsonl
      thresher lab overview webkb.jsonl --baseline best-first
    """
    from thresher_lab.reports.comparisons import make_sections
    from thresher_lab.reports.overview import overview as lines
    from thresher_lab.statistics.result_rows import read_rows

    sections = make_sections([row for file in files for row in read_rows(file)], baseline)
    if as_json:
        echo_json({"summary": [line for section in sections for line in section.summary()]})
        return
    for line in lines(sections):
        echo(line)


lab.add_command(reproduce)
lab.add_command(train)


@lab.command()
@click.argument("web")
@click.option(
    "--port",
    type=click.IntRange(0, 65_534),
    default=0,
    show_default=True,
    help="Port for http; https takes the next one. 0 for any.",
)
@click.option(
    "--latency-ms",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Milliseconds until each response.",
)
def serve(web: str, port: int, latency_ms: float) -> None:
    """Serve a web over HTTP on this machine, until Ctrl-C.

    \b
    Examples:
      thresher lab serve wikispeedia
      thresher lab serve wikispeedia --port 8080 --latency-ms 50
    """
    from thresher_lab.webs.server import serve_web

    serve_web(web, port=port, latency_seconds=latency_ms / 1000, on_start=_print_addresses)


def _print_addresses(connect_to: Mapping[str, str], seed: str) -> None:
    """Print the setting for a crawl's topic.yaml, and a page to start from."""
    echo("network:")
    echo('  allow: ["127.0.0.0/8"]')
    echo("  tls: record  # the server signs its certificate itself")
    echo("  connect_to:")
    for pattern, address in connect_to.items():
        echo(f'    "{pattern}": "{address}"')
    echo("Put this into topic.yaml, in the place of its line network. Ctrl-C stops.", err=True)
    echo(f"A page to start from: {seed}", err=True)

"""thresher lab: strategies tried and compared on frozen webs, without a network."""

from __future__ import annotations

import os
import re
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from thresher.cli.reproduce import reproduce
from thresher.cli.show import echo, echo_json, echo_table
from thresher.errors import ConfigError, ThresherError

if TYPE_CHECKING:
    from thresher.lab.plan import Plan
    from thresher.lab.sections import Section
    from thresher.lab.tasks import Row
    from thresher.lab.virtualweb import Web

PLAIN_SECONDS = 5.0
STOPPED = 11
"""The exit code of what a user stopped."""

EXTRA = frozenset({"numpy", "scipy", "matplotlib"})
"""What only the lab needs."""


class LabGroup(click.Group):
    """Says how to install what the lab needs, where it is missing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order a user meets them."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command of the lab."""
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            name = (error.name or "").partition(".")[0]
            if name not in EXTRA:
                raise
            raise ThresherError(f'the lab needs {name}: pip install "thresher[lab]"') from error


@click.group(cls=LabGroup)
def lab() -> None:
    """Try and compare strategies on frozen webs, without a network.

    The webs are *.pages.jsonl.zst files in the folder that THRESHER_WEBS names.
    """


@lab.command()
@click.option("--import", "with_import", is_flag=True, help="Import webs that were not opened before.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def webs(with_import: bool, as_json: bool) -> None:
    """List the webs: their pages, hosts and topics.

    Dev and test are the topics that are set down for making and for testing strategies.
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
    from thresher.lab.archipelago import PARTS
    from thresher.lab.importers.pagefile import SUFFIX
    from thresher.lab.webstore import cache_folder, known_webs, webs_folder

    if not os.environ.get("THRESHER_WEBS"):
        raise ConfigError(f"THRESHER_WEBS is not set. Name the folder of *{SUFFIX} files: export THRESHER_WEBS=~/webs")
    names = known_webs(webs_folder())
    if not names:
        raise ConfigError(f"THRESHER_WEBS is {webs_folder()}, where no *{SUFFIX} file is")
    ready = {name: _is_imported(name) for name in names}
    yield from ready.items()
    if set(PARTS.values()) <= set(names):
        is_planned = any(cache_folder().glob("archipelago-*.json"))
        yield "archipelago", is_planned and all(ready[name] for name in PARTS.values())


def _is_imported(name: str) -> bool:
    from thresher.lab.webstore import cache_folder, code_fingerprint

    hexadecimal = "[0-9a-f]" * 10
    return any(cache_folder().glob(f"{name}-{hexadecimal}-{code_fingerprint()}.db"))


def _describe(name: str, may_open: bool) -> dict[str, Any]:
    described: dict[str, Any] = {"web": name, "imported": may_open, "pages": None, "hosts": None, "topics": None}
    if may_open:
        with _opened(name) as web:
            described |= {"pages": len(web), "hosts": len(web.hosts()), "topics": len(web.topics())}
    return described | _split_sizes(name)


def _state(described: Mapping[str, Any]) -> str:
    return "" if described["imported"] else "not imported yet"


def _split_sizes(name: str) -> dict[str, int]:
    from thresher.lab.splits import split

    try:
        return {"dev": len(split(name, "dev")), "test": len(split(name, "test"))}
    except ConfigError:
        return {"dev": 0, "test": 0}


@contextmanager
def _opened(name: str) -> Iterator[Web]:
    from thresher.lab.virtualweb import open_web

    web = open_web(name)
    try:
        yield web
    finally:
        close = getattr(web, "close", None)
        if close:
            close()


WEB = click.option("--web", "web_name", required=True, metavar="WEB", help="The web; thresher lab webs lists them.")
PAGES = click.option("--pages", type=click.IntRange(min=1), default=500, show_default=True, help="Fetches per crawl.")
SEEDS = click.option(
    "--seeds-per-set", type=click.IntRange(min=1), default=5, show_default=True, help="Pages that a crawl starts from."
)


@lab.command("run")
@WEB
@click.option("--topic", required=True, help="The topic to crawl for.")
@click.option("--strategy", required=True, metavar="NAME", help="The strategy, or oracle.")
@click.option("--seed-set", type=click.IntRange(min=0), default=0, show_default=True, help="Which draw of seeds.")
@SEEDS
@PAGES
@click.option("--judge", default="perfect", show_default=True, metavar="NAME", help="perfect, or: thresher judges.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
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
    """Crawl a web once, and print what the crawl was worth."""
    from thresher.lab.plan import checked_judges, checked_strategies
    from thresher.lab.tasks import Bench, Task

    [contender], [judge] = checked_strategies([strategy]), checked_judges([judge])
    with _opened(web_name) as web:
        web.targets(topic)
        bench = Bench(web)
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
        row = _without_curves(bench.run(task))
        bench.flush()
    if as_json:
        echo_json(row)
    else:
        echo_table(["", "value"], _metric_lines(row))


def _metric_lines(row: Row) -> list[tuple[str, Any]]:
    return [(name.replace("_", " "), "never" if value is None else value) for name, value in row.items() if value != {}]


def _without_curves(row: Row) -> Row:
    return {name: value for name, value in row.items() if not name.endswith("curve")}


@lab.command()
@WEB
@click.option("--strategies", required=True, metavar="NAMES", help="Parted by commas, or all; lpe(threshold=0.1).")
@click.option(
    "--topics", default="dev", show_default=True, metavar="NAMES", help="Parted by commas, or dev, test, test:20, all."
)
@click.option("--seeds", type=click.IntRange(min=1), default=5, show_default=True, help="Seed sets per topic.")
@SEEDS
@PAGES
@click.option(
    "--judge", default="perfect", show_default=True, metavar="NAMES", help="Parted by commas; perfect knows the labels."
)
@click.option(
    "--training",
    type=click.FloatRange(0, 0.9),
    metavar="SHARE",
    help="Of each topic's pages, set aside to train on.  [default: 0.3 if a strategy must be trained]",
)
@click.option("--distance", type=click.IntRange(0, 20), default=0, help="Links from the seeds to the topic.")
@click.option("--host-pages", type=click.IntRange(min=0), default=0, help="Pages that each host may give; 0 for all.")
@click.option("--baseline", default="breadth-first", show_default=True, help="What the others are compared with.")
@click.option("--workers", type=click.IntRange(1, 256), help="Processes.  [default: the machine's cores]")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The rows; those that are there are not run again.  [default: thresher-lab/WEB.jsonl]",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(
    web_name: str,
    strategies: str,
    topics: str,
    seeds: int,
    seeds_per_set: int,
    pages: int,
    judge: str,
    training: float | None,
    distance: int,
    host_pages: int,
    baseline: str,
    workers: int | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compare strategies over topics, with intervals and tests.

    The baseline is run too when it is not among the strategies. Stopped, the same command goes on.
    """
    from thresher.lab.plan import Plan, checked_judges, checked_strategies, chosen_topics
    from thresher.lab.sections import make_sections

    path = output or Path("thresher-lab") / f"{web_name}.jsonl"
    if path.suffix == ".parquet":
        raise click.BadParameter("name a .jsonl file; the Parquet file is written beside it", param_hint="-o")
    names = checked_strategies([*_names(strategies), baseline])
    with _opened(web_name) as web:
        chosen = chosen_topics(web, _names(topics), seeds=seeds_per_set)
    plan = Plan(
        web=web_name,
        strategies=names,
        topics=chosen,
        judges=checked_judges(_names(judge)),
        seed_sets=seeds,
        seeds=seeds_per_set,
        pages=pages,
        training=training,
        distance=distance,
        host_pages=host_pages,
    )
    rows = _run_plan(plan, path, workers or os.cpu_count() or 1)
    _print_comparison(rows, make_sections(rows, baseline), as_json=as_json)
    echo(f"Rows: {path}. A page with curves: thresher lab report {path} -o report.html", err=True)


def _names(parted_by_commas: str) -> list[str]:
    found = (name.strip() for name in re.findall(r"[^,(]+(?:\([^)]*\))?", parted_by_commas))
    return [name for name in found if name]


def _run_plan(plan: Plan, path: Path, workers: int) -> list[Row]:
    from thresher.lab.compare import read_rows, run_tasks, write_parquet

    try:
        with Reporter() as reporter:
            rows = run_tasks(plan.tasks(), path, processes=workers, progress=reporter.show)
    except KeyboardInterrupt:
        echo(f"Stopped. What was done is in {path}; the same command goes on.", err=True)
        sys.exit(STOPPED)
    write_parquet(read_rows(path), path.with_suffix(".parquet"))
    return rows


class Reporter:
    """A bar on a terminal; elsewhere a plain line every few seconds, and at the end."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(file=sys.stderr), transient=True)
        self._task = self._bar.add_task("crawls", total=None)
        self._next = 0.0

    def __enter__(self) -> Reporter:
        if self._bar.console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar.console.is_terminal:
            self._bar.stop()

    def show(self, done: int, total: int) -> None:
        """Show how many crawls are done."""
        if self._bar.console.is_terminal:
            self._bar.update(self._task, completed=done, total=total)
        elif done == total or time.monotonic() >= self._next:
            self._next = time.monotonic() + PLAIN_SECONDS
            echo(f"{done:,} of {total:,} crawls", err=True)


def _print_comparison(rows: Sequence[Row], sections: Sequence[Section], *, as_json: bool) -> None:
    summary = [line for section in sections for line in section.summary()]
    if as_json:
        echo_json({"rows": [_without_curves(row) for row in rows], "summary": summary})
        return
    columns = ["judge", "strategy", "% of oracle", "difference", "p (Holm)", "wins/losses", "worst topic"]
    first = 0 if len(sections) > 1 else 1  # one judge needs no column
    echo_table(columns[first:], [_line(each)[first:] for each in summary])


def _line(each: Mapping[str, Any]) -> tuple[str, ...]:
    from thresher.lab.tasks import ORACLE

    is_tested = each["strategy"] not in (each["baseline"], ORACLE)
    return (
        each["judge"],
        each["strategy"],
        _interval(each["mean"], ""),
        "baseline" if each["strategy"] == each["baseline"] else _interval(each["difference"], "+"),
        f"{each['p']:.4f}" if is_tested else "",
        f"{each['wins']}/{each['losses']}" if is_tested else "",
        f"{each['worst']['topic']} ({each['worst']['value']:.1f})" if each["strategy"] != ORACLE else "",
    )


def _interval(interval: Mapping[str, float], sign: str) -> str:
    return f"{interval['mean']:{sign}.1f} [{interval['low']:{sign}.1f}, {interval['high']:{sign}.1f}]"


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
def report(files: Sequence[Path], output: Path, png: Path | None, baseline: str) -> None:
    """Write results of compare as one HTML page.

    It holds tables, curves and definitions, and needs nothing else.
    """
    from thresher.lab.compare import read_rows
    from thresher.lab.report import html_report, made_now
    from thresher.lab.sections import make_sections

    sections = make_sections([row for file in files for row in read_rows(file)], baseline)
    names = " ".join(shlex.quote(file.name) for file in files)
    page = html_report(sections, made_now(f"thresher lab report {names} --baseline {shlex.quote(baseline)}"))
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(page, encoding="utf-8")
    echo(output)
    if png:
        from thresher.lab.pictures import write_pictures

        for path in write_pictures(sections, png):
            echo(path)


@lab.command()
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--baseline", default="breadth-first", show_default=True, help="What the others are compared with.")
def overview(files: Sequence[Path], baseline: str) -> None:
    """Print results of compare on many webs as one table per judge, in Markdown."""
    from thresher.lab.compare import read_rows
    from thresher.lab.overview import overview as lines
    from thresher.lab.sections import make_sections

    for line in lines(make_sections([row for file in files for row in read_rows(file)], baseline)):
        echo(line)


lab.add_command(reproduce)


@lab.command()
@click.argument("web")
@click.option("--port", type=click.IntRange(0, 65_534), default=0, help="For http; https takes the next. 0: any.")
@click.option("--latency-ms", type=click.FloatRange(min=0), default=0.0, help="How long each answer takes.")
def serve(web: str, port: int, latency_ms: float) -> None:
    """Serve a web over HTTP on this machine, until Ctrl-C."""
    from thresher.lab.serve import serve_web

    serve_web(web, port=port, latency_seconds=latency_ms / 1000, told=_print_addresses)


def _print_addresses(connect_to: Mapping[str, str]) -> None:
    """Print what a crawl's topic.yaml must say."""
    echo("network:")
    echo('  allow: ["127.0.0.0/8"]')
    echo("  connect_to:")
    for pattern, address in connect_to.items():
        echo(f'    "{pattern}": "{address}"')
    echo("Put this into topic.yaml; Ctrl-C stops.", err=True)

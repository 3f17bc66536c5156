"""thresher demo: a made-up bilingual web on loopback, crawled twice through the real engine, side by side."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import click
from rich.console import Console
from rich.live import Live
from rich.table import Table

from thresher.cli.output import echo
from thresher.config.folder import CrawlFolder
from thresher.crawl import CrawlSetup
from thresher.operations.explain import explain
from thresher.runner.limits import Limits
from thresher.runner.supervisor import Supervisor, SupervisorOptions
from thresher.storage.reader import PageStoreReader
from thresher_lab.webs.generator import generate
from thresher_lab.webs.server import WebServer
from thresher_lab.webs.virtualweb import Web

TOPIC = "Arts/Music"
STRATEGIES = ("breadth-first", "best-first", "thresher")
WEB_PAGES, WEB_HOSTS = 20_000, 200
_CONFIG = """\
title: {{en: music, zh: 音乐}}
keywords:
  - song concert orchestra piano violin guitar melody rhythm chord opera symphony singer composer album band choir
  - 歌曲 音乐会 乐团 钢琴 小提琴 吉他 旋律 节奏 和弦 歌剧 交响乐 歌手 作曲家 专辑 乐队 合唱 指挥 乐谱 演奏
strategy: {{name: {strategy}}}
scope: {{max_pages_per_host: {pages}, first_pages_per_host: null, traps: follow}}
politeness: {{delay_seconds: 0}}
engine: {{concurrency: 8}}
network: {{allow: [127.0.0.0/8], tls: record, connect_to: {{"*:80": "{http}", "*:443": "{https}"}}}}
"""
_BARS = "▁▂▃▄▅▆▇█"


@dataclass
class Contestant:
    """One crawl of the demo, and its requests."""

    strategy: str
    folder: CrawlFolder
    on_topic: Callable[[str], bool]
    found: list[bool] = field(default_factory=list)

    def asked(self, url: str) -> None:
        """Record a request; the web's labels decide whether it was on topic."""
        if not url.endswith("/robots.txt"):
            self.found.append(self.on_topic(url))

    @property
    def harvest(self) -> float:
        """The share of requests that returned a page about the topic."""
        return sum(self.found) / len(self.found) if self.found else 0.0

    def curve(self, width: int = 30) -> str:
        """Plot the harvest of each part of the crawl."""
        step = max(1, len(self.found) // width)
        parts = [self.found[start : start + step] for start in range(0, len(self.found), step)]
        shares = [sum(part) / len(part) for part in parts]
        return "".join(_BARS[round(share * (len(_BARS) - 1))] for share in shares[:width])


@click.command()
@click.option("--pages", type=click.IntRange(50, 5000), default=400, show_default=True, help="Pages per crawl.")
def demo(pages: int) -> None:
    """Crawl a made-up web on this machine; no network needed.

    Three strategies crawl it side by side, and the harvest rates are compared.

    \b
    Examples:
      thresher demo
      thresher demo --pages 1000
    """
    console = Console(file=sys.stderr)
    console.print(
        f"A made-up web of {WEB_PAGES:,} pages in English and Chinese, served on this machine.\n"
        f"Three crawls look for pages about [bold]music[/bold] (音乐), {pages} pages each.\n"
    )
    with tempfile.TemporaryDirectory(prefix="thresher-demo-") as folder:
        contestants = asyncio.run(_race(Path(folder), pages, console))
        _show_result(contestants)
        _show_path(contestants[-1])
    echo()
    echo("Now with your own topic:")
    echo('  thresher new solar --topic "perovskite solar cells; 钙钛矿太阳能电池" --seed https://… --contact you@…')
    echo("  thresher run solar --pages 500")


async def _race(root: Path, pages: int, console: Console) -> list[Contestant]:
    web = generate(7, pages=WEB_PAGES, hosts=WEB_HOSTS, tunnel_depth=0)
    contestants = [
        Contestant(strategy, CrawlFolder(root / strategy), lambda url: web.is_topic(url, TOPIC))
        for strategy in STRATEGIES
    ]
    servers = [WebServer(web, asked=contestant.asked, with_https=False) for contestant in contestants]
    for contestant, server in zip(contestants, servers, strict=True):
        _write_crawl(contestant, await server.start(), web, pages)
    with Live(_table(contestants), console=console, refresh_per_second=8) as live:
        await asyncio.gather(
            *(_run(contestant, pages, lambda: live.update(_table(contestants))) for contestant in contestants)
        )
    for server in servers:
        await server.close()
    return contestants


def _write_crawl(contestant: Contestant, places: dict[str, str], web: Web, pages: int) -> None:
    contestant.folder.root.mkdir()
    seeds = [web.url_of(min(web.targets(TOPIC))), web.url_of(0)]  # one good page, and a front page somewhere
    contestant.folder.seeds.write_text("\n".join(seeds), encoding="utf-8")
    text = _CONFIG.format(strategy=contestant.strategy, pages=pages, http=places["*:80"], https=places["*:443"])
    contestant.folder.topic.write_text(text, encoding="utf-8")


async def _run(contestant: Contestant, pages: int, show: Callable[[], None]) -> None:
    crawl = CrawlSetup.open(contestant.folder.root)
    options = SupervisorOptions(limits=Limits(pages=pages), report=lambda _: show(), handles_signals=False)
    await Supervisor(crawl, options).run()


def _table(contestants: list[Contestant]) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("strategy", "requests", "on topic", "harvest rate", "over time"):
        table.add_column(column, justify="right" if column in ("requests", "on topic", "harvest rate") else "left")
    for each in contestants:
        numbers = (f"{len(each.found):,}", f"{sum(each.found):,}", f"{each.harvest:.2f}")
        table.add_row(each.strategy, *numbers, each.curve())
    return table


def _show_result(contestants: list[Contestant]) -> None:
    worst, *_, ours = contestants
    echo()
    for each in contestants:
        echo(f"{each.strategy:>14}: {sum(each.found)} of {len(each.found)} requests on topic ({each.harvest:.2f})")
    if worst.harvest:
        times = ours.harvest / worst.harvest
        echo(f"{ours.strategy} found {times:.1f} times as many as {worst.strategy} for the same effort.")


def _show_path(contestant: Contestant) -> None:
    """Print the explanation of one of the best pages, a few links away from the seeds."""
    with PageStoreReader(contestant.folder.pages) as collection:
        ranked = list(collection.ranked())
    shown = next((page for page in ranked if 2 <= page.depth <= 3), ranked[0])
    explanation = asyncio.run(explain(CrawlSetup.open(contestant.folder.root), shown.url))
    echo()
    echo("Why one of the pages was crawled:")
    echo()
    for line in explanation.lines():
        echo(f"  {line}")

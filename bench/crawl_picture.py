"""The terminal picture of the README: ``python -m bench.crawl_picture [--pages N] [-o FILE]``.

A generated web is served on loopback. The commands of the picture run against it, and what they print is drawn as an
SVG file; nothing is typed in by hand. The file loads no font or script. Lines that are left out are marked by "…".
Then the first rows of the export are printed, which the README shows.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import io
import json
import os
import re
import shlex
import sys
import tempfile
from itertools import islice
from pathlib import Path

import yaml
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from thresher_lab.webs.generator import GeneratedWeb, generate
from thresher_lab.webs.server import WebServer

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "crawl.svg"
TOPIC, PHRASE, ON_TOPIC = "Arts/Music", "classical music; 古典音乐", re.compile(r"orchestra|symphon|concert|交响|音乐")
WEB_PAGES, WEB_HOSTS = 20_000, 200
COLUMNS, PROGRESS_LINES, WHY_LINES = 96, 3, 2
SAMPLE_ROWS = 9
THEME = TerminalTheme(
    (30, 34, 42),
    (205, 211, 222),
    [
        *((80, 86, 100), (224, 108, 117), (137, 201, 121), (229, 192, 123)),
        *((97, 175, 239), (198, 120, 221), (86, 182, 194), (205, 211, 222)),
    ],
)
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" class="rich-terminal" viewBox="0 0 {width} {height}" role="img">
<title>A crawl in the terminal: thresher new, thresher run, thresher why</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""
"""The format of rich without its title font, which other hosts would serve."""


class Terminal:
    """Runs commands in a folder and draws them with what they print."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)

    async def run(self, command: str) -> list[str]:
        """Run a command; return what it prints, on both streams."""
        words = [sys.executable, "-m", *shlex.split(command.replace("\\\n", ""))]
        environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": str(COLUMNS)}
        streams = {"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.STDOUT}
        process = await asyncio.create_subprocess_exec(*words, cwd=self._folder, env=environment, **streams)
        printed, _ = await process.communicate()
        if process.returncode:
            raise SystemExit(f"{command} ended with {process.returncode}:\n{printed.decode()}")
        return printed.decode().splitlines()

    def show(self, command: str, lines: list[str]) -> None:
        """Draw a command and lines of its output."""
        self._console.print(Text("$ ", "green") + Text(command, "bold"))
        for line in lines:
            text = Text(line)
            text.highlight_regex(r"\b\d+ relevant\b|^Relevant:|relevance [\d.]+|\bharvest rate [\d.]+", "yellow")
            text.highlight_regex(r"“[^”]*”", "cyan")
            self._console.print(text)
        self._console.print()

    def write(self, path: Path) -> None:
        """Write the picture."""
        svg = self._console.export_svg(title="thresher", theme=THEME, code_format=SVG, unique_id="crawl")
        path.write_text(svg, encoding="utf-8")


async def draw(path: Path, pages: int) -> None:
    """Crawl and draw."""
    web = generate(7, pages=WEB_PAGES, hosts=WEB_HOSTS, tunnel_depth=0)
    server = WebServer(web)
    places = await server.start()
    with tempfile.TemporaryDirectory() as folder:
        terminal = Terminal(Path(folder))
        await _crawl(terminal, Path(folder) / "music", _seed(web), places, pages)
        terminal.write(path)
        await _print_sample(terminal)
    await server.close()


async def _print_sample(terminal: Terminal) -> None:
    rows = csv.DictReader(await terminal.run("thresher export music -f csv --relevant"))
    print("relevance,depth,title,url,anchor")
    for row in islice(rows, SAMPLE_ROWS):
        print(f"{float(row['relevance']):.2f},{row['depth']},{row['title']},{row['url']},{row['anchor']}")


async def _crawl(terminal: Terminal, crawl: Path, seed: str, places: dict[str, str], pages: int) -> None:
    new = f'thresher new music --topic "{PHRASE}" \\\n    --seed {seed} --contact me@example.org'
    terminal.show(new, await terminal.run(new))
    _connect(crawl / "topic.yaml", places)
    run = f"thresher run music --pages {pages}"
    terminal.show(run, _shorter(await terminal.run(run)))
    why = f"thresher why music {await _linked_page(terminal)}"
    terminal.show(why, [*(await terminal.run(why))[:WHY_LINES], "…"])


def _seed(web: GeneratedWeb) -> str:
    """Choose a page of the topic by its title."""
    titles = ((page, web.get(web.url_of(page)).title) for page in sorted(web.targets(TOPIC)))
    return web.url_of(next(page for page, title in titles if ON_TOPIC.search(title.lower())))


def _connect(topic: Path, places: dict[str, str]) -> None:
    """Lead the crawl to the server, without delays: all hosts are this machine."""
    config = yaml.safe_load(topic.read_text(encoding="utf-8"))
    config["politeness"]["delay_seconds"] = 0
    config["network"] = {"allow": ["127.0.0.0/8"], "tls": "record", "connect_to": places}
    topic.write_text(json.dumps(config, ensure_ascii=False), encoding="utf-8")  # JSON is YAML


def _shorter(lines: list[str]) -> list[str]:
    """Leave out all progress lines but the last ones."""
    progress = [line for line in lines if "pages/s" in line]
    rest = [line for line in lines if "pages/s" not in line]
    return ["…", *progress[-PROGRESS_LINES:], *rest] if len(progress) > PROGRESS_LINES else lines


async def _linked_page(terminal: Terminal) -> str:
    """Choose the best page that is two links away from the seed and has a link text on the topic."""
    rows = csv.DictReader(await terminal.run("thresher export music -f csv --relevant"))
    return next(row["url"] for row in rows if row["depth"] == "2" and ON_TOPIC.search(row["anchor"].lower()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("-o", "--output", type=Path, default=PICTURE)
    options = parser.parse_args()
    asyncio.run(draw(options.output, options.pages))


if __name__ == "__main__":
    main()

"""A crawl in which one hostile name stands wherever a stranger can put a name: address, host, title, topic, web."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from pathlib import Path

from click.testing import CliRunner

from thresher import cli
from thresher.assembly import build_pipeline
from thresher.crawl import CrawlSetup
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import FetchedPage
from thresher.urls.canonical import canonicalize
from thresher_lab.reports.comparisons import Section, Setting
from thresher_lab.reports.overview import file_names


def use(root: str, name: str) -> None:
    """Make, run and export a crawl full of a name, in a folder of its own below the root."""
    own = Path(root) / hashlib.sha256(name.encode()).hexdigest()[:12]
    command = ["new", str(own), "--topic", f"{name} solar", "--keywords", name, "--contact", "me@a.example"]
    CliRunner().invoke(cli.thresher, [*command, "--seed", "http://a.example/"], catch_exceptions=False)
    asyncio.run(_crawl(own, name))
    for form in ("jsonl", "csv", "parquet"):
        output = str(own / f"out.{form}")
        CliRunner().invoke(cli.thresher, ["export", str(own), "-f", form, "-o", output], catch_exceptions=False)
    _draw(own, name)


async def _crawl(folder: Path, name: str) -> None:
    crawl = CrawlSetup.open(folder)
    pipeline = build_pipeline(crawl, "w1")
    written = [f"http://a.example/{name}", f"http://{name}.example/x", f"http://b.example/?file={name}", name]
    await pipeline.seed(list(filter(None, (canonicalize(text, "http://a.example/") for text in written))))
    links = "".join(f'<a href="{text}">{name}</a>' for text in written)
    body = f"<html lang='{name}'><title>{name} solar</title><h1>{name}</h1><p>solar {links} {name}".encode()
    headers = {"content-type": "text/html", "content-disposition": f'attachment; filename="{name}"'}
    for _ in range(4):
        for lease in await pipeline.frontier.lease(10, seconds=60):
            page = FetchedPage(url=lease.url, status=200, headers=headers, body=body, fetched_at=1.0)
            status = 302 if lease.hops else 200
            location = {**headers, "location": name}
            await pipeline.process(lease, replace(page, status=status, headers=location))
            await pipeline.frontier.park(lease.host, Reason.of(ReasonKind.BLOCKED_BY_USER, name))
    await pipeline.close()


def _draw(folder: Path, name: str) -> None:
    """Make the files that pictures of a web of this name would be."""
    setting = Setting(web=name, judge=name, pages=1, seeds=1, training=0.0, distance=0)
    section = Section(setting=setting, baseline="", rows=(), left_out=0, comparisons=())
    for made in file_names([section, section]):
        (folder / made.encode()[:200].decode(errors="ignore")).touch()

"""A site with pages about a topic and others, and every number that commands print of a crawl of it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from random import Random

import thresher
from testing.commands import called
from tests.e2e.conftest import Site, quick
from thresher.crawl import CrawlSetup
from thresher_ui.dashboard.open_crawl import OpenCrawl
from thresher_ui.dashboard.views.harvest import harvest
from thresher_ui.dashboard.views.hosts import hosts

TOPIC = "solar cell panel silicon perovskite photon voltage module wafer sunlight roof tandem layer".split()  # noqa: SIM905
OTHER = "river stone castle king battle harvest village sheep weather market bread window garden".split()  # noqa: SIM905
PAGES, ON_TOPIC, DUPLICATES = 160, 48, 4
STATUS = ("pages", "duplicates", "relevant", "expected", "waiting", "failed")


def fill(site: Site) -> str:
    """Fill a site with pages that link to each other; return its first page."""
    random = Random(7)
    for number in range(PAGES):
        words = TOPIC if number < ON_TOPIC else OTHER
        text = " ".join(random.choices(words, k=80))
        links = "".join(
            f'<a href="/{other}">{" ".join(random.choices(TOPIC if other < ON_TOPIC else OTHER, k=2))}</a> '
            for other in random.sample(range(PAGES), 6)
        )
        title = " ".join(random.choices(words, k=3))
        site.pages[f"/{number}"] = f"<html><title>{title} {number}</title><p>{text}</p>{links}</html>"
    for number in range(DUPLICATES):
        site.pages[f"/{PAGES + number}"] = site.pages[f"/{number}"]
        site.pages[f"/{PAGES - 1 - number}"] += f'<a href="/{PAGES + number}">copy</a>'
    every = "".join(
        f'<a href="/{number}">{TOPIC[0] if number < ON_TOPIC else OTHER[0]}</a> ' for number in range(PAGES)
    )
    site.pages["/"] = f"<html><title>solar cell panel</title><p>{' '.join(TOPIC * 3)}</p>{every}</html>"
    return site.url("/")


def new_crawl(folder: Path, seed: str, **sections: str) -> Path:
    """Make a crawl of the site."""
    made = called("new", "solar", "--topic", "solar cells", "--seed", seed, folder=folder)
    assert made.returncode == 0, made.stderr
    everything = {"network": '{allow: ["127.0.0.0/8"]}', "scope": "{traps: follow, first_pages_per_host: null}"}
    quick(folder / "solar", **everything, **sections)
    return folder / "solar"


def numbers(folder: Path) -> dict[str, dict[str, float]]:
    """Return what is counted apart from each other of a crawl, by who says it and under which name."""
    return {
        "status": {name: getattr(thresher.Crawl(folder).status(), name) for name in STATUS},
        "hosts": _hosts(json.loads(_out("hosts", folder, "--json"))),
        "export": _export(folder),
        "export relevant": {"relevant": len(_lines("export", folder, "--relevant"))},
        "export hosts": _export_hosts(folder),
        "search": _search(folder),
        "python": {"relevant": sum(page.relevant for page in thresher.Crawl(folder).pages())},
        **asyncio.run(_dashboard(folder)),
    }


def by_name(printed: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Turn them round: under each name, who says which number."""
    names = {name for values in printed.values() for name in values}
    return {name: {who: values[name] for who, values in printed.items() if name in values} for name in sorted(names)}


def _out(*arguments: object) -> str:
    done = called(*arguments, folder=Path.cwd())
    assert done.returncode == 0, done.stderr
    return done.stdout


def _lines(*arguments: object) -> list[dict[str, object]]:
    return [json.loads(line) for line in _out(*arguments).splitlines()]


def _hosts(listed: list[dict[str, float]]) -> dict[str, float]:
    return {name: sum(host[name] for host in listed) for name in ("pages", "relevant", "waiting", "failed")}


def _export(folder: Path) -> dict[str, float]:
    rows = _lines("export", folder, "--duplicates")
    originals = [row for row in rows if not row["duplicate_of"]]
    return {
        "pages": len(rows),
        "duplicates": len(rows) - len(originals),
        "relevant": sum(bool(row["relevant"]) for row in originals),
        "expected": round(sum(row["relevance"] for row in originals), 1),
    }


def _export_hosts(folder: Path) -> dict[str, float]:
    return {"relevant": sum(row["relevant"] for row in _lines("export", folder, "--hosts"))}


def _search(folder: Path) -> dict[str, float]:
    found = json.loads(_out("search", folder, " ".join({*TOPIC, *OTHER}), "--limit", 1000, "--json"))
    return {"relevant and found": sum(hit["relevant"] for hit in found)}


async def _dashboard(folder: Path) -> dict[str, dict[str, float]]:
    open_crawl = OpenCrawl(CrawlSetup.open(folder), "solar")
    try:
        curve = await harvest(open_crawl)
        return {
            "harvest curve": {"pages": curve["pages"], "relevant": curve["relevant"]},
            "hosts screen": _hosts((await hosts(open_crawl))["hosts"]),
        }
    finally:
        await open_crawl.close()

"""Crawls as an earlier version left them: ``python -m tests.release.recorded ARCHIVE [--source SRC]``.

Version 0.1.0 trains with another command: ``--training "train layers --from whole"``.

The version whose package lies in SRC crawls a small site of this module half-way: one crawl in a SQLite file, with
labels; one on a Redis server, whose dump is kept; and one with layers that were trained on a whole crawl. All is packed
into one archive in `formats/`. Tests unpack it and go on with the code of now.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from testing.crawl_process import merge
from testing.recording_server import page, recorder
from testing.servers import store_server

FORMATS = Path(__file__).parent / "formats"
HOST, HALF, TEA_PAGES = "solar.test", 20, 10
SOLAR = "Perovskite solar cells: perovskite layers make solar cells cheap, number {number} of the solar cells."
TEA = "How to brew green tea, and which pot to use for it; cup {number} of green tea."
SETTINGS: dict[str, Any] = {
    "engine": {"timeout_seconds": 2, "lease_seconds": 8},  # a store started again grants nothing while a lease may last
    "manners": {"delay_seconds": 0.0},
    "network": {"allow": ["127.0.0.0/8"]},
    "output": {"keep_irrelevant": True},
    "scope": {"first_pages_per_host": None},
}
TRAINING = "collect layers --from whole --pages 0"
ENDED_WELL = (0, 14)
"""Exit codes; until 0.1.0 a run that reached its limit of pages ended with 14."""
PLACEHOLDER = "127.0.0.1:1"
"""Stands for the store in an archive; a test writes the address of its own."""


def site() -> dict[str, dict[str, str]]:
    """Return a start page, ten pages about tea that it links to, and forty about solar cells that these link to."""
    pages = {"/": page("Solar", SOLAR.format(number=0), [f"/tea{number}" for number in range(TEA_PAGES)])}
    for number in range(TEA_PAGES):
        links = [f"/solar{child}" for child in range(4 * number, 4 * number + 4)]
        pages[f"/tea{number}"] = page(f"Tea {number}", TEA.format(number=number), links)
        pages |= {link: page(link.strip("/"), SOLAR.format(number=link.removeprefix("/solar"))) for link in links}
    return {HOST: pages}


class Recorder:
    """Calls the commands of a version on folders in one place."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.folder = folder
        self._environment = {**os.environ, "PYTHONPATH": str(source)}

    def __call__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "thresher", *arguments]
        done = subprocess.run(command, cwd=self.folder, env=self._environment, stdout=subprocess.DEVNULL)
        if done.returncode not in ENDED_WELL:
            raise SystemExit(f"thresher {' '.join(arguments)} ended with {done.returncode}")

    def new(self, name: str, connect_to: Mapping[str, str], **settings: Any) -> None:
        seed = f"http://{HOST}/"
        self("new", name, "--topic", "perovskite solar cells", "--seed", seed, "--contact", "tests@example.org")
        settings = merge(SETTINGS, {"network": {"connect_to": dict(connect_to)}, **settings})
        rewrite(self.folder / name, settings)


def rewrite(folder: Path, settings: Mapping[str, Any]) -> None:
    """Write settings over those of a crawl."""
    path = folder / "topic.yaml"
    merged = merge(yaml.safe_load(path.read_text(encoding="utf-8")), settings)
    path.write_text(yaml.safe_dump(merged, allow_unicode=True), encoding="utf-8")


def record(source: Path, folder: Path, training: str) -> None:
    """Crawl with a version, each crawl half-way."""
    thresher = Recorder(source, folder)
    with recorder(site()) as server, store_server("redis", folder / "redis") as store:
        thresher.new("local", server.connect_to)
        thresher("run", "local", "--pages", str(HALF))
        thresher("label", "local", "--yes", f"http://{HOST}/", "--no", f"http://{HOST}/tea0")
        thresher.new("whole", server.connect_to)
        thresher("run", "whole")
        thresher.new("layers", server.connect_to, strategy={"name": "layers"})
        thresher(*training.split())
        thresher.new("shared", server.connect_to, store=store.url)
        thresher("run", "shared", "--pages", str(HALF))
        store.client().save()
        address = store.url.removeprefix("redis://").partition("/")[0]
    for path in (folder / "shared").rglob("*"):
        if path.is_file() and address.encode() in (content := path.read_bytes()):
            path.write_bytes(content.replace(address.encode(), PLACEHOLDER.encode()))


def main() -> None:
    """Record and pack."""
    parser = argparse.ArgumentParser(prog="python -m tests.release.recorded", description="Record crawls for tests.")
    parser.add_argument("archive", help="its name, without a folder")
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[2] / "src")
    parser.add_argument("--training", default=TRAINING, help="the command that trains the crawl `layers`")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "redis").mkdir()
        record(options.source.resolve(), folder, options.training)
        with tarfile.open(FORMATS / options.archive, "w:xz") as archive:
            for part in ("local", "layers", "shared", "redis/dump.rdb"):
                archive.add(folder / part, part)


if __name__ == "__main__":
    main()

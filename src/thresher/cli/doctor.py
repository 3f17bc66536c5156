"""thresher doctor: check the installation and the machine."""

from __future__ import annotations

import os
import platform
import re
import resource
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import click

from thresher import __version__
from thresher.cli.output import CRAWL, echo, echo_json
from thresher.errors import ThresherError
from thresher.project import CrawlProject

_PURPOSES = {
    "browser": "pages that need JavaScript",
    "collection": "the pages of all machines on object storage",
    "lab": "comparisons on frozen webs",
    "learn": "judges and strategies that need scikit-learn",
    "llm": "labels by a language model",
    "mcp": "the server for AI agents",
    "metrics": "metrics for Prometheus",
    "notebook": "tables and curves in notebooks",
    "redis": "crawls on many machines",
    "scrapy": "the add-on for Scrapy projects",
    "ui": "the dashboard",
    "warc": "WARC files",
}
_NOT_FOR_USERS = {"dev"}
_OLDEST_SQLITE = (3, 38, 0)


@dataclass(frozen=True)
class DoctorCheck:
    """The result of one check."""

    what: str
    ok: bool
    found: str
    remedy: str = ""
    is_optional: bool = False


@click.command()
@click.argument("dir", type=CRAWL, required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(dir: Path | None, as_json: bool) -> None:  # noqa: A002 - the argument's name on the command line
    """Check this machine: what is installed, what is missing, how to get it.

    With DIR, also check that crawl.
    """
    findings = [*_machine(dir or Path()), *_optional(), *(_crawl(dir) if dir else [])]
    if as_json:
        echo_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            remedy = f"  → {finding.remedy}" if finding.remedy else ""
            echo(f"{'ok' if finding.ok else '--':>3}  {finding.what:<16} {finding.found}{remedy}")
    sys.exit(0 if all(finding.ok or finding.is_optional for finding in findings) else 1)


def _machine(folder: Path) -> Iterator[DoctorCheck]:
    yield DoctorCheck("thresher", True, __version__)
    yield DoctorCheck(
        "python",
        sys.version_info >= (3, 11),
        platform.python_version(),
        "" if sys.version_info >= (3, 11) else "3.11 or newer",
    )
    sqlite_ok = sqlite3.sqlite_version_info >= _OLDEST_SQLITE
    yield DoctorCheck("sqlite", sqlite_ok, sqlite3.sqlite_version, "" if sqlite_ok else "3.38 or newer")
    yield DoctorCheck("pycurl", True, version("pycurl"))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    yield DoctorCheck("machine", True, f"{os.cpu_count()} cores, {memory:.0f} GiB of memory")
    free = shutil.disk_usage(folder).free / 2**30
    yield DoctorCheck(
        "disk", free >= 1, f"{free:.0f} GiB free", "" if free >= 1 else "make room: a page takes 5 to 20 KiB"
    )
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    yield DoctorCheck("open files", files >= 1024, str(files), "" if files >= 1024 else "ulimit -n 4096")


def _optional() -> Iterator[DoctorCheck]:
    """Check every extra that the installed package declares."""
    for extra, packages in sorted(_extras().items()):
        purpose = f", for {_PURPOSES[extra]}" if extra in _PURPOSES else ""
        found = {package: _version(package) for package in packages}
        missing = [package for package, number in found.items() if not number]
        if missing:
            remedy = f'pip install "thresher-crawler[{extra}]"'
            yield DoctorCheck(
                f"[{extra}]", False, f"not installed: {', '.join(missing)}{purpose}", remedy, is_optional=True
            )
        else:
            there = ", ".join(f"{package} {number}" for package, number in found.items())
            yield DoctorCheck(f"[{extra}]", True, f"{there}{purpose}", is_optional=True)


def _extras() -> dict[str, list[str]]:
    """Return the packages of each extra, from the metadata of the installed package."""
    extras: dict[str, list[str]] = {}
    for requirement in requires("thresher-crawler") or ():
        package, extra = re.match(r"[\w.-]+", requirement), re.search(r"extra == ['\"](\w+)['\"]", requirement)
        if package and extra and extra[1] not in _NOT_FOR_USERS and package[0] != "thresher-crawler":
            extras.setdefault(extra[1], []).append(package[0])
    return extras


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _crawl(folder: Path) -> Iterator[DoctorCheck]:
    try:
        crawl = CrawlProject.open(folder)
        yield DoctorCheck("topic.yaml", True, crawl.name)
        crawl.check()
        yield DoctorCheck("crawl", True, f"{len(crawl.seeds())} seeds, strategy {crawl.config.strategy.name}")
    except ThresherError as error:
        yield DoctorCheck("crawl", False, str(error))
        return
    contact = crawl.config.manners.contact
    yield DoctorCheck("contact", bool(contact), contact or "none", "" if contact else "manners.contact: me@example.org")

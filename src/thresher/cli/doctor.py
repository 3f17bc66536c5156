"""thresher doctor: check the installation and the machine."""

from __future__ import annotations

import os
import platform
import re
import resource
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path

import click

from thresher import __version__, native
from thresher.assembly import check_crawl
from thresher.cli.output import CRAWL, echo, echo_json, json_option, padded
from thresher.crawl import CrawlSetup
from thresher.errors import ThresherError
from thresher.locale.translation import _, localized

EXTRAS = {
    "browser": _("pages that need JavaScript"),
    "collection": _("the pages of all machines on object storage"),
    "identity": _("signed requests (Web Bot Auth)"),
    "lab": _("comparisons on frozen webs"),
    "learn": _("judges and strategies that need scikit-learn"),
    "llm": _("labels by a language model"),
    "mcp": _("the server for AI agents"),
    "metrics": _("metrics for Prometheus"),
    "notebook": _("tables and curves in notebooks"),
    "parquet": _("Parquet files: exports, batch jobs, collections and cold storage"),
    "ray": _("batch jobs on a Ray cluster"),
    "redis": _("crawls on many machines"),
    "scrapy": _("the add-on for Scrapy projects"),
    "speed": _("another event loop for workers; it makes no result different"),
    "ui": _("the dashboard"),
    "warc": _("WARC files"),
}
"""The extras of the package, and what each is for."""
NOT_FOR_USERS = {"dev"}
_DISTRIBUTION = "thresher-crawler"
_COMPILE = _(
    "install a C compiler, then: pip install --force-reinstall --no-deps --no-binary thresher-crawler thresher-crawler"
)
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
@json_option(
    {
        "what": "The part that was checked; an extra is in brackets.",
        "ok": "Whether it is there and good enough.",
        "found": "What was found.",
        "remedy": "How to get what is missing; empty when nothing is.",
        "is_optional": "Whether a crawl works without it.",
    },
    rows=True,
)
def doctor(dir: Path | None, as_json: bool) -> None:  # noqa: A002 - the argument's name on the command line
    """Check what is installed and what is missing.

    Each part that is missing comes with the command that installs it. With DIR, that crawl is checked too. The exit
    code is 1 when something that a crawl needs is missing.

    \b
    Examples:
      thresher doctor
      thresher doctor solar --json
    """
    findings = [*_machine(dir or Path()), *_optional(), *(_crawl(dir) if dir else [])]
    if as_json:
        echo_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            remedy = f"  → {localized(finding.remedy)}" if finding.remedy else ""
            state = "ok" if finding.ok else "--"
            echo(f"{state:>3}  {padded(finding.what, 16)} {localized(finding.found)}{remedy}")
    sys.exit(0 if all(finding.ok or finding.is_optional for finding in findings) else 1)


def _machine(folder: Path) -> Iterator[DoctorCheck]:
    yield DoctorCheck("thresher", True, __version__)
    yield DoctorCheck(
        "python",
        sys.version_info >= (3, 11),
        platform.python_version(),
        "" if sys.version_info >= (3, 11) else _("3.11 or newer"),
    )
    sqlite_ok = sqlite3.sqlite_version_info >= _OLDEST_SQLITE
    yield DoctorCheck("sqlite", sqlite_ok, sqlite3.sqlite_version, "" if sqlite_ok else _("3.38 or newer"))
    yield DoctorCheck("pycurl", True, version("pycurl"))
    switched_off = os.environ.get("THRESHER_NATIVE") == "0"
    yield DoctorCheck(
        _("compiled loops"),
        native.compiled is not None,
        _("in use") if native.compiled else _("not in use; a page takes more processor time"),
        "" if native.compiled else "unset THRESHER_NATIVE" if switched_off else _COMPILE,
        is_optional=True,
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    capacity = _("{cores} cores, {memory:.0f} GiB of memory", cores=os.cpu_count(), memory=memory)
    yield DoctorCheck(_("machine"), True, capacity)
    free = shutil.disk_usage(folder).free / 2**30
    room = "" if free >= 1 else _("make room: a page takes 5 to 20 KiB")
    yield DoctorCheck(_("disk"), free >= 1, _("{free:.0f} GiB free", free=free), room)
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    yield DoctorCheck(_("open files"), files >= 1024, str(files), "" if files >= 1024 else "ulimit -n 4096")


def _optional() -> Iterator[DoctorCheck]:
    """Check every extra that the installed package declares for users."""
    declared = _declared()
    for extra in sorted(declared.keys() - NOT_FOR_USERS):
        found = {package: _version(package) for package in _packages(extra, declared)}
        missing = [package for package, number in found.items() if not number]
        if missing:
            state = _("not installed: {packages}", packages=", ".join(missing))
            remedy = f'pip install "{_DISTRIBUTION}[{extra}]"'
        else:
            there = ", ".join(f"{package} {number}" for package, number in found.items())
            state, remedy = _("installed: {packages}", packages=there) if there else _("installed"), ""
        state = _("{state}; for {purpose}", state=state, purpose=EXTRAS[extra])
        yield DoctorCheck(f"[{extra}]", not missing, state, remedy, is_optional=True)


def _declared() -> dict[str, list[str]]:
    """Return the requirements of each extra, from the metadata of the installed package."""
    declared: dict[str, list[str]] = {name: [] for name in metadata(_DISTRIBUTION).get_all("Provides-Extra") or ()}
    for requirement in requires(_DISTRIBUTION) or ():
        if extra := re.search(r"extra == ['\"]([\w-]+)['\"]", requirement):
            declared[extra[1]].append(requirement)
    return declared


def _packages(extra: str, declared: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the packages of an extra and of the extras that it includes, for this platform."""
    packages: list[str] = []
    for requirement in declared[extra]:
        name = re.match(r"([\w.-]+)(?:\[([\w,-]+)\])?", requirement)
        assert name
        if name[1] == _DISTRIBUTION:
            packages += [each for inner in name[2].split(",") for each in _packages(inner, declared)]
        elif "sys_platform" not in requirement or f"'{sys.platform}'" in requirement.replace('"', "'"):
            packages.append(name[1])
    return list(dict.fromkeys(packages))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _crawl(folder: Path) -> Iterator[DoctorCheck]:
    try:
        crawl = CrawlSetup.open(folder)
        yield DoctorCheck("topic.yaml", True, crawl.name)
        check_crawl(crawl)
        found = _(
            "{n:,} seed, strategy {strategy}",
            "{n:,} seeds, strategy {strategy}",
            n=len(crawl.seeds()),
            strategy=crawl.config.strategy.name,
        )
        yield DoctorCheck(_("crawl"), True, found)
    except ThresherError as error:
        yield DoctorCheck(_("crawl"), False, str(error))
        return
    contact = crawl.config.politeness.contact
    yield DoctorCheck(
        _("contact"), bool(contact), contact or _("none"), "" if contact else "politeness.contact: me@example.org"
    )

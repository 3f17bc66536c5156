"""A small crawl on a real store, and the command line with or without the variable that names it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from testing.servers.store import StoreServer, store_server
from tests.e2e.conftest import Site

PAGES = 12
PASSWORD = "s3cr@t/wo#rd:x"
ENCODED = "s3cr%40t%2Fwo%23rd%3Ax"


def page(number: int, pages: int = PAGES) -> str:
    """Return a page about the topic that links to the two pages below it."""
    links = "".join(f'<a href="/{to}">solar cell {to}</a> ' for to in (2 * number + 1, 2 * number + 2) if to < pages)
    return f"<html><title>Solar cell {number}</title><body>Solar cells of kind {number}. {links}</body></html>"


def write_crawl(site: Site, root: Path, *, pages: int = PAGES, hosts: Sequence[str] = ("127.0.0.1",), **more: object):
    """Fill a site, and write the folder of a crawl that starts at its first page."""
    site.pages.update({f"/{number}": page(number, pages) for number in range(pages)})
    topic = {
        "title": {"en": "solar cells"},
        "languages": ["en"],
        "seeds": ["seeds.txt"],
        "strategy": {"name": "breadth-first"},
        "sitemaps": "off",
        "scope": {"traps": "follow", "first_pages_per_host": None},
        "politeness": {"delay_seconds": 0},
        "engine": {"timeout_seconds": 2, "lease_seconds": 8},
        "network": {"allow": ["127.0.0.0/8"]},
        **more,
    }
    root.mkdir(parents=True)
    (root / "topic.yaml").write_text(yaml.safe_dump(topic), encoding="utf-8")
    (root / "seeds.txt").write_text("".join(f"{site.url('/0', host)}\n" for host in hosts), encoding="utf-8")


@dataclass(frozen=True)
class Ended:
    """A crawl that has fetched all pages of its site, on this machine. Copies of it are cheap."""

    folder: Path
    site: Site

    @classmethod
    def make(cls, site: Site, root: Path) -> Ended:
        """Crawl a site."""
        write_crawl(site, root / "solar")
        done = Shell(root)("run", "solar", timeout=120)
        assert done.returncode == 0, done.stderr
        return cls(root / "solar", site)

    def copied(self, root: Path) -> Path:
        """Copy the folder, and forget what was asked for."""
        self.site.requests.clear()
        return shutil.copytree(self.folder, root / "solar")


@dataclass(frozen=True)
class Begun:
    """A crawl that was begun, and ended, in a store: what its folder and its store held then.

    Copies of it are cheap: a test gets its own folder and its own server, and no page is fetched.
    """

    folder: Path
    data: Path
    site: Site

    @classmethod
    def make(cls, site: Site, root: Path) -> Begun:
        """Crawl a site."""
        write_crawl(site, root / "solar")
        with store_server("redis", root / "store", options=["--appendfsync", "always"]) as server:
            done = Shell(root)("run", "solar", "--store", server.url, timeout=120)
            assert done.returncode == 0, done.stderr
        return cls(root / "solar", root / "store", site)

    @contextmanager
    def copied(self, root: Path) -> Iterator[StoreServer]:
        """Copy folder and store; the copy of the store has a port of its own, as a store that has moved has."""
        shutil.copytree(self.folder, root / "solar")
        shutil.copytree(self.data, root / "store")
        self.site.requests.clear()
        with store_server("redis", root / "store") as server:
            path = root / "solar" / "store.json"
            path.write_text(json.dumps({**json.loads(path.read_text()), "store": server.url}))
            yield server


@dataclass(frozen=True)
class Shell:
    """Runs commands in a folder, each in a process of its own."""

    folder: Path

    def __call__(self, *arguments: object, store: str = "", timeout: float = 60.0) -> subprocess.CompletedProcess[str]:
        """Run a command, with the variable that names the store or without."""
        with self.started(*arguments, store=store) as process:
            out, err = process.communicate(timeout=timeout)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    @contextmanager
    def started(self, *arguments: object, store: str = "") -> Iterator[subprocess.Popen[str]]:
        """Start a command; one that is left running is killed."""
        environment = {name: value for name, value in os.environ.items() if name != "THRESHER_STORE"}
        environment |= {"NO_COLOR": "1", **({"THRESHER_STORE": store} if store else {})}
        process = subprocess.Popen(
            [sys.executable, "-m", "thresher", *map(str, arguments)],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.communicate()


def locked(server: StoreServer, password: str = PASSWORD) -> str:
    """Let a store ask for a password; return its address with the password written as a user might, unencoded."""
    with server.client() as client:
        client.config_set("requirepass", password)
    return server.url.replace("://", f"://:{password}@")


def wait_until(condition, seconds: float = 30.0) -> None:
    """Wait for something to come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.05)

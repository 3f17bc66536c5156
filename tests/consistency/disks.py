"""Crawl folders on disks that refuse: a small crawl, and commands run where a disk is full or read-only.

Mounts are made in a namespace of the command's own, so nobody else sees them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.e2e.conftest import CommandLine, Site, quick


def can_mount() -> bool:
    """Whether this user may mount file systems in a namespace of their own."""
    test = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(test, capture_output=True, check=False).returncode == 0


needs_mounts = pytest.mark.skipif(not can_mount(), reason="no file systems can be mounted here")


def small_crawl(folder: Path, site: Site, pages: int = 6) -> Path:
    """Crawl a few pages about orchards; return the crawl's folder."""
    text = "Apple and pear trees of the orchard are pruned in winter. "
    for number in range(pages):
        path = f"/p{number}" if number else "/"
        own = " ".join(f"{word}{number}" for word in ("harvest", "cellar", "meadow", "cider", "blossom"))
        site.pages[path] = f"<title>Orchard {number}</title><p>{text * 3}{own}</p>" + "".join(
            f'<a href="/p{other}">orchard {other}</a>' for other in range(1, pages)
        )
    thresher = CommandLine(folder)
    made = thresher("new", "crawl", "--topic", "apple orchard", "--seed", site.url("/"), "--seed", site.url("/p1"))
    assert made.returncode == 0, made.stderr
    quick(folder / "crawl")
    run = thresher("run", "crawl", "--pages", pages)
    assert f"{pages} pages" in run.stderr, run.stderr
    return folder / "crawl"


def on_full_disk(crawl: Path, *commands: list[str]) -> list[CompletedProcess[str]]:
    """Run commands on a copy of a crawl, called `crawl`, on a disk without room."""
    return _in_namespace(
        f"""
        mount -t tmpfs -o size=2m none /mnt && cp -r "{crawl}" /mnt/crawl && cd /mnt || exit 99
        dd if=/dev/zero of=filling bs=1k 2>/dev/null
        """,
        commands,
    )


def on_read_only_disk(crawl: Path, *commands: list[str]) -> list[CompletedProcess[str]]:
    """Run commands on a crawl, called `crawl`, that is mounted read-only."""
    return _in_namespace(
        f"""
        mount -t tmpfs none /mnt && mkdir /mnt/crawl && mount --bind "{crawl}" /mnt/crawl || exit 99
        mount -o remount,ro,bind /mnt/crawl && cd /mnt || exit 99
        """,
        commands,
    )


def with_limit(limit: str, folder: Path, *arguments: object) -> CompletedProcess[str]:
    """Run a command under a limit of the shell, such as ``-f 8``."""
    script = f'ulimit {limit}; exec {sys.executable} -m thresher "$@"'
    done = _bash([], script, folder, *map(str, arguments))
    assert "Traceback" not in done.stderr, done.stderr
    return done


def _in_namespace(script: str, commands: Sequence[list[str]]) -> list[CompletedProcess[str]]:
    script += f'exec {sys.executable} -m tests.consistency.disks "$@"'
    done = _bash(["unshare", "-rm"], script, Path("/"), json.dumps(commands))
    assert done.returncode == 0, done.stderr
    return [CompletedProcess(*values) for values in json.loads(done.stdout)]


def _bash(before: list[str], script: str, folder: Path, *arguments: str) -> CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [*before, "bash", "-c", script, "bash", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, env=environment, check=False
    )


def main(commands: list[list[str]]) -> None:
    """Run commands here, in one process but for those that need their own, and print how each ended."""
    line = CommandLine(Path.cwd())
    done = [line(*command) for command in commands]
    print(json.dumps([(each.args, each.returncode, each.stdout, each.stderr) for each in done]))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

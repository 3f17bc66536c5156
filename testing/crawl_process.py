"""Drive a crawler from outside, as a user does: its commands, its folder, its processes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from testing import processes
from testing.commands import called

THRESHER = (sys.executable, "-m", "thresher")
COMMAND_SECONDS = 120.0
GONE_SECONDS = 10.0
REPOSITORY = Path(__file__).parents[1]


class CrawlStalled(TimeoutError):
    """A crawl that did not come to its end in time, with the last words it printed."""


@dataclass(frozen=True)
class Crawl:
    """A crawl folder and the command that works on it."""

    folder: Path
    command: Sequence[str] = THRESHER

    def create(self, seed_url: str, settings: Mapping[str, Any]) -> None:
        """Make the folder with ``new``, then write our settings over its topic.yaml."""
        topic = ["--topic", "perovskite solar cells", "--seed", seed_url, "--contact", "tests@example.org"]
        self._call("new", str(self.folder), *topic)
        path = self.folder / "topic.yaml"
        merged = merge(yaml.safe_load(path.read_text(encoding="utf-8")), settings)
        path.write_text(yaml.safe_dump(merged, allow_unicode=True), encoding="utf-8")

    def start(self, *options: str) -> Run:
        """Start ``run`` in a process group of its own."""
        with (self.folder / "run.out").open("ab") as output:
            process = subprocess.Popen(
                [*self.command, "run", str(self.folder), *options],
                cwd=REPOSITORY,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        return Run(process, self.folder / "run.out")

    def kept_urls(self) -> list[str]:
        """Return the URLs of all pages in the collection, by ``export``."""
        path = self.folder / "exported.jsonl"
        path.unlink(missing_ok=True)
        self._call("export", str(self.folder), "-f", "jsonl", "-o", str(path))
        return [json.loads(line)["url"] for line in path.read_text(encoding="utf-8").splitlines()]

    def _call(self, *arguments: str) -> None:
        if tuple(self.command[-len(THRESHER) :]) == THRESHER:
            done = called(*arguments, folder=REPOSITORY)
        else:
            command = [*self.command, *arguments]
            done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=COMMAND_SECONDS)
        if done.returncode:
            raise RuntimeError(f"{arguments[0]} ended with {done.returncode}: {done.stderr[-2000:]}")


@dataclass(frozen=True)
class Run:
    """A run that goes on, and the file with what it says."""

    process: subprocess.Popen[bytes]
    output: Path

    @property
    def ended(self) -> bool:
        """Whether the run is over."""
        return self.process.poll() is not None

    def workers(self) -> list[int]:
        """Return the process numbers of its workers."""
        return processes.workers(self.process.pid)

    def kill_all(self) -> None:
        """End the run and all it has started, with SIGKILL, and wait until they are gone."""
        family = [] if self.ended else processes.kill_family(self.process.pid)
        processes.kill_group(self.process.pid)  # and those that it left behind
        self.process.wait(GONE_SECONDS)
        wait_for(lambda: not any(map(processes.is_alive, family)), seconds=GONE_SECONDS)

    def wait(self, seconds: float) -> int:
        """Return the exit code.

        Raises:
            CrawlStalled: The run went on for longer; it is killed.
        """
        try:
            return self.process.wait(max(seconds, 0.0))
        except subprocess.TimeoutExpired as error:
            self.kill_all()
            raise CrawlStalled(f"not done after {seconds:.0f} s; {self.last_words()}") from error

    def last_words(self) -> str:
        """Return the end of what the run has printed."""
        return self.output.read_text(encoding="utf-8", errors="replace")[-2000:]


def merge(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return `old` with the values of `new` written over it, mapping by mapping."""
    merged = dict(old)
    for name, value in new.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(name), Mapping)
        merged[name] = merge(merged[name], value) if both else value
    return merged


def wait_for(condition: Callable[[], object], *, seconds: float, step_seconds: float = 0.02) -> bool:
    """Return whether a condition came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(step_seconds)
    return True

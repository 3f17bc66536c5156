"""A folder in which the blocks of one page run, one after another, as a reader would type them.

What stands for a reader's own (`https://…`, a store's address) is replaced by what is there; a crawl that is begun gets
no delays; commands that only look need no process of their own; what should not be done here is checked instead.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, chdir
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from testing.commands import PROCESSES, called
from testing.servers.ports import free_port
from tests.docs.blocks import ROOT
from tests.docs.checks import CHECKS, Failed, require
from tests.docs.world import World
from tests.e2e.conftest import quick

SHELL = {"cat", "cp", "curl", "echo", "head", "ls", "mkdir", "printf", "rm", "sleep", "wc"}
PLAIN = re.compile(r"""(?:[^|<>$;&`*"']|"[^"$`]*"|'[^']*')*""")
MANY_SECONDS = 120
IDLE = re.compile(r"thresher (run solar( --(pages|workers) \d+)*|try \w+ \S+)")
"""On a crawl that is over this has nothing to do, or the same as on another page; it is tried once."""
FIRST_RUN = re.compile(r"thresher run (?P<crawl>\w+)( --pages \d+)?")
"""The first run of a crawl that was begun like the one that is over: it would fetch the same pages once more."""
FINE = {"curl": (0, 28)}
"""Exit codes that are no failure, beside 0 alone: a limit of time ends curl with 28."""
SMALL_DEMO = (
    "from thresher.cli import main; from thresher_lab.cli import demo; "
    "demo.WEB_PAGES, demo.WEB_HOSTS = 1000, 20; main()"
)
"""The demo as it is, on a smaller web: making the usual one takes longest."""
SHORTER = [
    (re.compile(r"^thresher demo$"), "thresher demo --pages 50"),
    (re.compile(r"(?<=--topics )(dev|test)\b(:\d+)?"), r"\1:1"),
    (re.compile(r"(?<=lab compare )(?P<all>.*--pages) \d+"), r"\g<all> 20"),
    (re.compile(r"^(thresher lab compare (?:(?!--pages).)*)$"), r"\1 --pages 20"),
    (re.compile(r"^(thresher lab compare .*--seeds) \d+"), r"\1 1"),
    (re.compile(r"^(thresher lab compare (?:(?!--seeds ).)*)$"), r"\1 --seeds 1"),
    (re.compile(r"^(thresher lab compare (?:(?!--workers).)*)$"), r"\1 --workers 1"),
    (re.compile(r"(?<=--workers )[4-9]"), "2"),
    (re.compile(r"(?<=--host )0\.0\.0\.0"), "127.0.0.1"),
    (re.compile(r"^curl -N"), "curl --max-time 1 -N"),
    (re.compile(r"^(thresher ui (?:(?!--no-open).)*?)( &)?$"), r"\1 --no-open\2"),
]
"""The same commands with less to do, or without a browser that opens."""


@dataclass
class Stage:
    """Runs commands in a folder; to be closed.

    Args:
        store_url: Starts a store when it is first asked for, and says where it is.
        idle: What was tried on the crawl that is over, on any page; None where there is no such crawl.
    """

    folder: Path
    world: World
    store_url: Callable[[], str]
    idle: set[str] | None = None
    environment: dict[str, str] = field(default_factory=dict)
    names: dict[str, object] = field(default_factory=dict)
    kept: ExitStack = field(default_factory=ExitStack)
    ports: dict[str, str] = field(default_factory=dict)
    printed: str = ""

    def close(self) -> None:
        """End what was started in the background."""
        self.kept.close()

    def do(self, command: str) -> bool:
        """Do what a reader would do; say whether it was run, and not only checked.

        Raises:
            Failed: It ended in an error, or nobody knows how to run it.
        """
        self.printed = ""
        line = self.adapted(command)
        program, *words = shlex.split(line.removesuffix("&"), comments=True)
        if program in CHECKS:
            CHECKS[program](words, line, self.folder)
            return False
        if program == "export":
            self._set(line)
        elif program == "thresher":
            self._thresher(line, words)
        elif program == "python" and words[:1] == ["-m"]:
            return self._module(words)
        elif program in SHELL:
            if shutil.which(program) is None:
                return False
            self._shell(line, fine=FINE.get(program, (0,)))
        else:
            raise Failed(f"nobody knows how to run {program!r}; give the block <!-- not run: reason -->")
        return True

    def check_output(self, shown: Sequence[str]) -> None:
        """Compare shown lines with what the last command printed; numbers and hosts may differ, "…" is anything.

        Raises:
            Failed: A line was not printed.
        """
        printed = {_shape(line) for line in self.printed.splitlines()}
        for line in shown:
            pattern = re.escape(_shape(line)).replace("…", ".*")
            if not any(re.fullmatch(pattern, real) for real in printed):
                raise Failed(f"{line!r} is shown, but this was printed:\n{self.printed}")

    def adapted(self, command: str) -> str:
        """Put what is there in the place of what stands for a reader's own."""
        line = re.sub(r"\s*\\\n\s*", " ", command)
        line = line if line.startswith("vi ") else re.sub(r"\s+# .*$", "", line)
        line = line.replace("--seed https://…", f"--seed {self.world.seed}").replace("https://…", self.world.good)
        line = line.replace("https://search.example.org/search", self.world.search).replace("$PWD", str(self.folder))
        line = re.sub(r"(?<=--host )edu\b", f"127.0.0.1:{self.world.site.port}", line)
        if "redis://" in line:
            line = re.sub(r"redis://[^\s'\"]+", self.store_url(), line)
        for port in ("8000", "8765", "9100"):
            if re.search(rf"\b{port}\b", line):
                line = re.sub(rf"\b{port}\b", self.ports.setdefault(port, str(free_port())), line)
        for long, short in SHORTER:
            line = long.sub(short, line)
        return line

    def _set(self, line: str) -> None:
        name, _, value = shlex.split(line, comments=True)[1].partition("=")
        raw = line.partition("=")[2]
        self.environment[name] = self._shell(f"printf %s {raw}") if "$(" in raw else value

    def _thresher(self, line: str, words: list[str]) -> None:
        if words[0] == "ui" or words[:2] == ["lab", "serve"]:
            self._serve(words)
        elif words[0] == "run" and "--workers 0" in line:  # it only watches, until others have done the work
            self._start([sys.executable, "-m", "thresher", *words], until="waiting")
        elif not PLAIN.fullmatch(line):
            self._shell(line)
        else:
            self._command(words, line)
        if words[0] == "new":
            own = {} if "--seed" in words else {"network": '{allow: ["127.0.0.0/8"]}'}
            quick(self.folder / words[1], **own)

    def _command(self, words: list[str], line: str) -> None:
        if self._is_done_already(line):
            return
        folder = self.folder / "elsewhere" if words[0] == "join" else self.folder  # as another machine would
        folder.mkdir(exist_ok=True)
        if words[0] in PROCESSES or "--source" in words or "THRESHER_SEED_SOURCES" in self.environment:
            program = ["-c", SMALL_DEMO] if words[0] == "demo" else ["-m", "thresher"]
            command = [sys.executable, *program, *words]
            done = _run(command, folder, self._whole_environment())
        else:
            with patch.dict("os.environ", self.environment):
                done = called(*words, folder=folder)
        self.printed = f"{done.stdout}\n{done.stderr}"
        if done.returncode not in FINE.get(words[0], (0,)):
            raise Failed(f"thresher {shlex.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")

    def _is_done_already(self, line: str) -> bool:
        """Say whether a crawl that is over makes this needless; take over its pages where they are wanted."""
        if self.idle is None or self.environment:
            return False
        over = self.world.prepared / "solar"
        begun = FIRST_RUN.fullmatch(line)
        if begun and begun["crawl"] != "solar":
            crawl = self.folder / begun["crawl"]
            if (crawl / "seeds.txt").read_bytes() == (over / "seeds.txt").read_bytes():
                shutil.copytree(over, crawl, dirs_exist_ok=True, ignore=shutil.ignore_patterns("topic.yaml"))
                return True
        known = re.sub(r"(?<=thresher try )\w+", "solar", line)
        if not IDLE.fullmatch(line):
            return False
        seen = known in self.idle
        self.idle.add(known)
        return seen

    def _serve(self, words: list[str]) -> None:
        """Start a command that runs until Ctrl-C, and wait until it says where it is."""
        self.kept.close()  # as Ctrl-C would, before another one is started
        if "--store" in words:
            self._begin_shared(words[words.index("--store") :][:2])
        if words[0] == "ui":
            words = [
                *words,
                *(() if "--port" in words else ("--port", self.ports.setdefault("8765", str(free_port())))),
            ]
        command = [sys.executable, "-m", "thresher", *(re.sub("^8080$", "0", word) for word in words)]
        self._start(command, until="://" if words[0] == "ui" else "127.0.0.1:")

    def _begin_shared(self, store: list[str]) -> None:
        """Begin a crawl in a store, so that there is one to look at; the one that is there lives on this machine."""
        shared = self.folder / "shared"
        shared.mkdir(exist_ok=True)
        for name in ("topic.yaml", "seeds.txt"):
            shutil.copy(self.folder / "solar" / name, shared)
        self._command(["run", "shared", *store, "--pages", "1"], "")

    def _module(self, words: list[str]) -> bool:
        if words[1].startswith("bench."):
            require((ROOT / words[1].replace(".", "/")).with_suffix(".py"))
            return False
        if words[1] == "http.server":
            self._start([sys.executable, "-u", *words], until="Serving")
            return True
        raise Failed(f"nobody knows how to run python -m {words[1]}")

    def _start(self, command: list[str], *, until: str) -> None:
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env={**self._whole_environment(), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.kept.callback(_end, process)
        assert process.stdout is not None
        printed = ""
        for line in process.stdout:
            printed += line
            if until in line:
                return
        raise Failed(f"{shlex.join(command)} did not start:\n{printed}")

    def _shell(self, line: str, *, fine: Sequence[int] = (0,)) -> str:
        program = f'thresher() {{ "{sys.executable}" -m thresher "$@"; }}\n{line}'
        done = _run(["bash", "-c", program], self.folder, self._whole_environment())
        if done.returncode not in fine:
            raise Failed(f"{line} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        self.printed = done.stdout
        return done.stdout

    def _whole_environment(self) -> dict[str, str]:
        return {**os.environ, "NO_COLOR": "1", **self.environment}

    def execute(self, program: str) -> None:
        """Execute a block of Python; the names that it makes are there for the next one of the page."""
        text = program.replace("https://…", self.world.seed).replace("pages=500", "pages=3")
        if "import scrapy" in text:  # its event loop needs a process of its own
            quick(self.folder, network='{allow: ["127.0.0.0/8"]}')
            done = _run([sys.executable, "-c", text], self.folder, self._whole_environment())
            if done.returncode or "Traceback" in done.stderr:
                raise Failed(done.stderr)
            return
        with chdir(self.folder), patch.dict("os.environ", self.environment):
            exec(compile(text, "<block>", "exec"), self.names)


def _shape(line: str) -> str:
    """Return a line of output without what differs from run to run."""
    line = re.sub(r"https?://(127\.0\.0\.1:\d+|[ab]\.example)", "URL", line)
    line = re.sub(r"\b(127\.0\.0\.1:\d+|[ab]\.example)", "HOST", line)
    return re.sub(r"\d[\d.,]*", "0", " ".join(line.split()))


def _run(command: list[str], folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    with subprocess.Popen(
        command, cwd=folder, env=dict(environment), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            out, err = process.communicate(timeout=MANY_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    process.communicate(timeout=20)

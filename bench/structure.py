"""The size of the code in numbers: ``python -m bench.structure [SRC …]``.

Each SRC is a folder that holds the package `thresher`: this checkout's ``src`` when none is given, or those of several
versions to compare. Counted are files, lines, public names of modules, class names that are defined more than once,
modules at the root of the package, modules with a single importer, and what stands for the coupling of the outer parts:
uses of the class that opened all resources and of the question whether a store is shared (`--uses NAME` counts further
names), places that build a worker or compute a status, and tests of the words of a reason. Files visited per page are
traced: one worker of that version crawls a generated site, and every source file of which code runs between one lease
and the next is counted, for cycles that commit a page. The median over all pages is printed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import yaml

from bench.speed.full_speed import full_speed
from testing.crawl_process import merge
from testing.recording_server.process import running
from testing.recording_server.site import Site

SMALL_LINES = 40
USES = ("CrawlProject", "is_shared")
"""Names whose uses are always counted."""
BUILT = {"WorkerContext": "places that build a worker", "CrawlStatus": "places that compute a status"}
WORDS = re.compile(
    r"reason\w*\.(?:startswith|endswith|removeprefix|partition)\(|reason (?:LIKE|GLOB)|startswith\(reason"
)
"""Tests of the words of a reason; the package that reads those of earlier versions is left out."""
PAGES, FIRST_PAGES = 80, 10
"""Pages that are crawled, and the first of them, which also read robots.txt and are not counted."""
SITE = Site(pages=400, hosts=4, page_bytes=8 * 1024, links=20)
HOOK = """\
import atexit, json, os, sys, threading

if sys.orig_argv[1:2] == ["-m"] and sys.orig_argv[2:3] and sys.orig_argv[2].endswith(".worker"):
    SOURCE = os.environ["STRUCTURE_SOURCE"]
    cycles, seen, is_page = [], set(), [False]

    def trace(frame, event, argument):
        if event == "call":
            path = frame.f_code.co_filename
            if path.startswith(SOURCE):
                name = frame.f_code.co_name
                if name == "lease" and "sqlite" in path:
                    if is_page[0]:
                        cycles.append(sorted(seen))
                    seen.clear()
                    is_page[0] = False
                is_page[0] |= name == "commit" and "sqlite" in path
                seen.add(path[len(SOURCE) + 1 :])

    def save():
        with open(os.environ["STRUCTURE_OUTPUT"], "w") as output:
            json.dump(cycles, output)

    atexit.register(save)
    threading.setprofile(trace)
    sys.setprofile(trace)
"""


@dataclass(frozen=True)
class Module:
    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @property
    def public_names(self) -> Iterator[str]:
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node.name
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                yield from (target.id for target in targets if isinstance(target, ast.Name))

    @property
    def classes(self) -> Iterator[str]:
        return (node.name for node in self.tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_")

    def uses(self, name: str) -> int:
        """Return how often a name is read or called; imports and definitions are not counted."""
        nodes = (node for node in ast.walk(self.tree) if isinstance(node, ast.Name | ast.Attribute))
        return sum((node.id if isinstance(node, ast.Name) else node.attr) == name for node in nodes)

    def calls(self, name: str) -> int:
        """Return how often a function or class with this name is called."""
        calls = (node.func for node in ast.walk(self.tree) if isinstance(node, ast.Call))
        return sum(isinstance(called, ast.Name) and called.id == name for called in calls)

    def imports(self, known: set[str]) -> Iterator[str]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                yield from (
                    full if (full := f"{node.module}.{alias.name}") in known else node.module for alias in node.names
                )


def modules_of(source: Path, package: str) -> list[Module]:
    found = []
    for path in sorted((source / package).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        name = ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
        found.append(Module(name, path, text, ast.parse(text)))
    return found


def counted(source: Path, names: Sequence[str] = USES) -> dict[str, int | float]:
    packages = {path.name: modules_of(source, path.name) for path in sorted(source.glob("thresher*/"))}
    core, both = packages["thresher"], [module for modules in packages.values() for module in modules]
    known = {module.name for module in both}
    importers = Counter(name for module in both for name in set(module.imports(known)) if name in known)
    classes = Counter(name for module in both for name in module.classes)
    small = [m for m in both if m.lines < SMALL_LINES and importers[m.name] == 1 and m.path.name != "__init__.py"]
    return {
        **{f"files of {name}": len(modules) for name, modules in packages.items()},
        **{f"lines of {name}": sum(module.lines for module in modules) for name, modules in packages.items()},
        "lines of all packages": sum(module.lines for module in both),
        "public names": sum(name[0] != "_" for module in both for name in module.public_names),
        "class names defined more than once": sum(number > 1 for number in classes.values()),
        "modules at the root": len([m for m in core if m.path.parent == source / "thresher"]),
        "modules with one importer": sum(importers[m.name] == 1 for m in both if m.path.name != "__init__.py"),
        f"modules under {SMALL_LINES} lines with one importer": len(small),
        **{f"uses of {name}": sum(module.uses(name) for module in both) for name in names},
        **{place: sum(module.calls(name) for module in core) for name, place in BUILT.items()},
        "tests of the words of a reason": sum(
            len(WORDS.findall(module.text)) for module in core if not module.name.startswith("thresher.reasons")
        ),
    }


def lines_by_package(source: Path) -> dict[str, int]:
    """Return the lines of each package of the core, the largest first; modules at its root are one."""
    lines: Counter[str] = Counter()
    for module in modules_of(source, "thresher"):
        parent, *below = module.path.relative_to(source / "thresher").parts
        lines[parent if below else "modules at the root"] += module.lines
    return {f"lines of {name}": number for name, number in lines.most_common()}


def visited(source: Path) -> list[list[str]]:
    """Return the source files that were visited for each page of a crawl."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sitecustomize.py").write_text(HOOK, encoding="utf-8")
        output = folder / "cycles.json"
        environment = {
            **os.environ,
            "PYTHONPATH": f"{source}:{folder}",
            "STRUCTURE_SOURCE": str(source),
            "STRUCTURE_OUTPUT": str(output),
        }
        with running(SITE, folder / "hits.csv") as server:
            command = [sys.executable, "-m", "thresher"]
            topic = ["--topic", "perovskite solar cells", "--seed", server.seed_url, "--contact", "bench@example.org"]
            subprocess.run([*command, "new", "crawl", *topic], cwd=folder, env=environment, check=True, stdout=-3)
            path = folder / "crawl" / "topic.yaml"
            settings = merge(yaml.safe_load(path.read_text(encoding="utf-8")), full_speed(engine={"concurrency": 1}))
            path.write_text(yaml.safe_dump(settings, allow_unicode=True), encoding="utf-8")
            run = [*command, "run", "crawl", "--pages", str(PAGES), "--workers", "1"]
            subprocess.run(run, cwd=folder, env=environment, check=True, stdout=-3, stderr=-3)
        cycles: list[list[str]] = json.loads(output.read_text(encoding="utf-8"))
        return cycles[FIRST_PAGES:]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.structure", description="The size of the code in numbers.")
    parser.add_argument("sources", nargs="*", type=Path, metavar="SRC", default=[Path(__file__).parents[1] / "src"])
    parser.add_argument("--files", action="store_true", help="list the files that most pages visit")
    parser.add_argument("--packages", action="store_true", help="count the lines of each package of the core")
    parser.add_argument("--uses", action="append", default=[*USES], metavar="NAME", help="count the uses of a name")
    options = parser.parse_args()
    columns = []
    for source in map(Path.resolve, options.sources):
        cycles = visited(source)
        columns.append({**counted(source, options.uses), "files visited per page (median)": median(map(len, cycles))})
        if options.files:
            often = Counter(path for cycle in cycles for path in cycle)
            print(*sorted(path for path, number in often.items() if number > len(cycles) / 2), sep="\n")
    if options.packages:
        sizes = [lines_by_package(source.resolve()) for source in options.sources]
        columns = [{**column, **size} for column, size in zip(columns, sizes, strict=True)]
    for row in columns[0]:
        print(f"{row:45} " + " ".join(f"{column.get(row, 0):>10,}" for column in columns))


if __name__ == "__main__":
    main()

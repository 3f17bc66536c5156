"""Outputs and inputs: what pages, model files and topic files of strangers can do to the user's machine.

Each function takes its size, and returns a tally: how many cases there were, and which of them broke the promise.
Nothing here dials anybody.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
import logging
import re
import subprocess
import sys
import unicodedata
from dataclasses import dataclass, field
from itertools import cycle, islice, product
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from click.testing import CliRunner

from tests.faults.table import Outcome as Filled
from thresher import cli
from thresher.config.event_log import JsonLines
from thresher.config.loading import load_config
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError, ThresherError
from thresher.export.rows import harmless, write_csv
from thresher.reasons.legacy import legacy_reason
from thresher.records import Candidate, FetchedPage, Outcome
from thresher.storage.page_store import FoundLink, PageRecord, PageStoreWriter
from thresher.urls.canonical import canonicalize, fingerprint


@dataclass
class Tally:
    """Cases tried, and what went wrong in which."""

    cases: int = 0
    broken: list[str] = field(default_factory=list)

    def count(self, held: bool, what: str) -> None:
        """Count one case."""
        self.cases += 1
        if not held:
            self.broken.append(what)


# D3: text for terminals and logs

_OBEYED = [
    "\x1b[2J\x1b[H", "\x1b[31;1mred", "\x1b]0;title\x07", "\x1b]0;title\x1b\\", "\x1b]52;c;cm0gLXJm\x07",
    "\x1b]8;;http://evil.example/\x1b\\click\x1b]8;;\x1b\\", "\x1bP$q\"p\x1b\\", "\x1b_apc\x1b\\", "\x1b^pm\x1b\\",
    "\x1bXsos\x1b\\", "\x1bc", "\x1b[6n", "\x1b[1A\x1b[2K", "\x1b(0", "\x1b#8", "\x9b2J", "\x9d0;title\x9c",
    "\x90$q\x9c", "\x9fapc\x9c", "\x84\x85\x8d", "\x07\x07", "\x08\x08\x08", "\rFORGED", "\nFORGED", "\r\nFORGED",
    "\x0b\x0c", "\x00", "\x7f", "\u2028FORGED", "\u2029FORGED", "\x85FORGED", "\x1eFORGED", "\u202egpj.exe",
    "\u202dabc\u202c", "\u2066abc\u2069", "\u2067abc\u2069", "\u2068abc\u2069", "\u200f\u200e", "\u061c",
    "\U000e0041\U000e007f", "\u206a\u206f", "\ufff9a\ufffab\ufffb",
]  # fmt: skip
_AROUND = ["{}", "Solar cells {} and more", "太阳能{}电池", "{}{}"]


def payloads(number: int) -> list[str]:
    """Return `number` titles that a terminal would obey, or that would read as something else."""
    ways = [around.replace("{}", obeyed) for around, obeyed in product(_AROUND, _OBEYED)]
    return list(islice(cycle(ways), number))


def terminal(folder: Path, number: int = 100) -> Tally:
    """Print hostile titles, anchors, reasons and addresses by every command that shows page text, and log them."""
    texts, tally = payloads(number), Tally()
    urls = _crawled(folder, texts)
    runs = [[name, str(folder)] for name in ("status", "hosts", "frontier")]
    runs += [["frontier", str(folder), "--limit", "1000"], ["hosts", str(folder), "--limit", "1000"]]
    runs += [["export", str(folder), "-f", form, "--text"] for form in ("jsonl", "csv")]
    runs += [["why", str(folder), url] for url in urls]
    runs += [[*run, "--json"] for run in runs if run[0] != "export"]
    for run in runs:
        tally.count(*_safe(run[0], _output(run)))
    for text in texts:
        with patch("thresher.cli.try_page.fetch_once", lambda _, asked, text=text: _answers(asked, text)):
            for more in ([], ["--json"]):
                tally.count(*_safe("try", _output(["try", str(folder), "http://a.example/t", "--no-seeds", *more])))
        tally.count(*_safe("log", _logged(text)))
        tally.count(*_safe("error", _output(["why", str(folder), f"no address{text}"])))
    return tally


def _crawled(folder: Path, texts: list[str]) -> list[str]:
    """Fill a crawl's stores as if pages had brought these texts, past the parser, which would clean some of them."""
    folder.mkdir(parents=True)
    (folder / "topic.yaml").write_text("title: {en: solar cells}\npoliteness: {contact: me@a.example}\n")
    (folder / "seeds.txt").write_text("http://a.example/\n")
    urls = [canonicalize(f"http://h{number}.example/{text}?q={text}") or "" for number, text in enumerate(texts)]
    writer = PageStoreWriter(folder / "pages" / "w1.db")
    for number, (text, url) in enumerate(zip(texts, urls, strict=True)):
        links = [FoundLink(url=f"http://w{number}.example/", anchor=text, score=0.5, parts={"page": 0.5})]
        writer.write([_record(url, text, links)])
    writer.close()
    asyncio.run(_queued(folder, texts, urls))
    return urls


def _record(url: str, text: str, links: list[FoundLink]) -> PageRecord:
    return PageRecord(
        fingerprint=fingerprint(url), url=url, status=200, outcome=Outcome.DONE, fetched_at=1.0, page=True, parent=0,
        relevance=0.5, relevant=True, parts={"cosine en": 0.5}, title=text, language="en", text=text,
        reason=legacy_reason(text),
        links=links,
    )  # fmt: skip


async def _queued(folder: Path, texts: list[str], urls: list[str]) -> None:
    frontier = CrawlSetup.open(folder).backend.frontier()
    for number, (text, url) in enumerate(zip(texts, urls, strict=True)):
        waiting = Candidate(url=f"http://w{number}.example/", score=0.5, parent=fingerprint(url))
        await frontier.add([waiting, Candidate(url=url, score=0.4)])
        await frontier.park(f"w{number}.example", legacy_reason(f"parked: {text}"))
    await frontier.close()


def _answers(asked: list[str], text: str) -> dict[str, FetchedPage | str]:
    body = f"<title>{text}</title><h1>{text}</h1><p>solar cells {text} <a href='/x{text}'>{text}</a> solar cells</p>"
    headers = {"content-type": "text/html; charset=utf-8"}
    return {
        url: FetchedPage(url=url, status=200, headers=headers, body=body.encode("utf-8", "replace"), fetched_at=1.0)
        for url in asked
    }


def _output(arguments: list[str]) -> str:
    try:
        result = CliRunner().invoke(cli.thresher, arguments, catch_exceptions=False)
    except ThresherError as error:  # as `main` prints it
        return "\n".join(map(cli.printable, str(error).splitlines()))
    return result.output


def _logged(text: str) -> str:
    try:
        raise ValueError(text)
    except ValueError:
        record = logging.LogRecord("thresher", 30, "", 0, "no robots.txt: %s", (text,), sys.exc_info())
    line = JsonLines("w1").format(record)
    assert text in json.loads(line)["message"]  # nothing is lost
    return line


def _safe(where: str, output: str) -> tuple[bool, str]:
    """Tell whether a terminal could be given this: no control but the line's end, no direction, no forged line."""
    obeyed = {c for c in output if c != "\n" and unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")}
    turned = set(re.findall("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ufff9-\ufffb\U000e0000-\U000e007f]", output))
    forged = any(line.startswith("FORGED") for line in output.split("\n"))
    return bool(output) and not obeyed and not turned and not forged, f"{where}: {sorted(obeyed | turned)!r} {forged}"


# D4: cells of spreadsheets

_STARTS = ["=", "+", "-", "@", "\t", "\r", "\n", "\t=", "\r@", " =", "\u3000+", "＝", "＋", "－", "＠"]
_FORMULAS = ["1+1", "cmd|' /C calc'!A0", 'HYPERLINK("http://evil.example/";"x")', "SUM(1,2)", "a"]


def cells() -> Tally:
    """Write cells that a spreadsheet would run; read them back."""
    tally = Tally()
    for start, formula in product(_STARTS, _FORMULAS):
        cell = start + formula
        out = io.StringIO()
        row = dict.fromkeys(("url", "title"), cell)
        raw = io.StringIO()
        for file, is_raw in ((out, False), (raw, True)):
            write_csv([row], file, raw=is_raw, columns=dict.fromkeys(row, "string"))
        [_, *rows] = csv.reader(io.StringIO(out.getvalue(), newline=""))
        tally.count(all(read.startswith("'") for read in rows[0]) and len(rows) == 1, repr(cell))
        [_, [first, _]] = csv.reader(io.StringIO(raw.getvalue(), newline=""))
        tally.count(first == cell, f"raw {cell!r}")
    tally.count(harmless(-1.5) == -1.5, "a number")
    return tally


# D6: topic.yaml


def topic_files() -> dict[str, str]:
    """Return topic files that must be refused, by what is wrong with them."""
    many = "".join(f"k{n}: &k{n} [{', '.join([f'*k{n - 1}'] * 9 if n else ['x'] * 9)}]\n" for n in range(9))
    return {
        "code by apply": "name: x\ntitle: !!python/object/apply:os.system ['true']\n",
        "code by new": "!!python/object/new:subprocess.Popen [['true']]\n",
        "code by name": "seeds:\n  - !!python/name:os.system\n",
        "module": "name: !!python/module:os\n",
        "own tag": "name: !env HOME\n",
        "binary": "keywords: [!!binary 'AAAA']\n",
        "set": "keywords: !!set {a, b}\n",
        "value": "name: =\n",
        "anchors that unfold": many,
        "anchor in itself": "&a [*a]\n",
        "merge by alias": "scope: &s {max_depth: 1}\nstop:\n  <<: *s\n",
        "5,000 brackets": "name: x\nkeywords: " + "[" * 5000 + "]" * 5000 + "\n",
        "3,000 braces": "scope: " + "{a: " * 3000 + "}" * 3000,
        "2 MB": "# much\n" * 300_000,
        "no as a language": "languages:\n  - en\n  - no\n",
        "no as a key": "title: {no: solceller}\n",
        "lang: no": "name: x\nlang: no\n",
        "key twice": "name: a\nscope:\n  max_depth: 1\n  max_depth: 2\n",
        "key twice, once quoted": 'name: a\n"name": b\n',
        "list as a key": "? [a, b]\n: c\n",
        "number as a key": "1: 2\n",
        "no such day": "name: x\nkeywords:\n  - 2026-02-31\n",
        "5,000 digits": "scope:\n  max_depth: " + "9" * 5000 + "\n",
        "not a number": "politeness:\n  delay_seconds: .nan\n",
        "endless": "politeness:\n  delay_seconds: .inf\n",
        "NUL": "name: a\nabout: \0\n",
        "escape": "name: a\nabout: \x1b[2J\n",
        "two documents": "name: a\n---\nname: b\n",
        "unknown key": "scope: {max_dept: 1}\n",
        "text for a number": "scope: {max_depth: deep}\n",
    }


def topics(folder: Path) -> Tally:
    """Read topic files that must be refused: each with its line, in bounded time, and without running anything."""
    folder.mkdir(parents=True)
    path, tally = folder / "topic.yaml", Tally()
    for name, text in topic_files().items():
        path.write_text(text, encoding="utf-8")
        try:
            load_config(path)
            tally.count(False, f"{name}: accepted")
        except ConfigError as error:
            tally.count(re.match(r"topic\.yaml:\d+: ", str(error)) is not None, f"{name}: {error}")
        except Exception as error:  # anything else is a traceback for the user
            tally.count(False, f"{name}: {type(error).__name__}")
    return tally


# D7: names of files

_NAMES = [
    "..", "../..", "../../evil", "/etc/evil", "..\\..\\evil", "a/../../evil", "\0", "evil\0.txt", "x" * 300, "长" * 300,
    "CON", "NUL.txt", "aux", "COM1", "con.", ".", "...", "~", "~root", "-rf", "$(touch evil)", "`touch evil`",
    "a;touch evil", "a\nb", "\u202egpj.exe", "evil.db", "frontier.db", "%2e%2e%2fevil", "....//evil", "C:\\evil",
    "\\\\host\\evil", "file:///evil", "| touch evil", "*", "?", "'", '"', "<x>", " ", "",
]  # fmt: skip

_WATCH = """
import asyncio, json, os, sys
outside, written, root = [], [], os.path.realpath(sys.argv[1])
ACTS = {"open": 1, "os.mkdir": 1, "os.rename": 2, "os.link": 2, "os.symlink": 2, "os.remove": 1, "sqlite3.connect": 1}
def watch(event, args):
    if event not in ACTS: return
    if event == "open" and not (isinstance(args[1], str) and set(args[1]) & set("wax+") or (args[2] or 0) & 3): return
    for path in args[:ACTS[event]]:
        if isinstance(path, int) or path is None or "mode=ro" in os.fsdecode(path): continue
        place = os.path.realpath(os.fsdecode(path))
        (written if place.startswith(root + os.sep) or place == root else outside).append(f"{event} {place}")
sys.addaudithook(watch)
from tests.faults.named import use
for name in json.loads(sys.argv[2]):
    use(root, name)
outside = [place for place in outside if "/dev/" not in place and "__pycache__" not in place]
print(json.dumps({"outside": outside, "inside": len(written)}))
"""


def names(folder: Path) -> Tally:
    """Crawl, judge, export and draw with hostile hosts, paths, topics; watch every file that is made."""
    folder.mkdir(parents=True)
    command = [sys.executable, "-c", _WATCH, str(folder), json.dumps(_NAMES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        return Tally(cases=len(_NAMES), broken=[done.stderr[-2000:]])
    watched = json.loads(done.stdout.splitlines()[-1])
    return Tally(cases=watched["inside"], broken=watched["outside"])


# The rows


def d3() -> Filled:
    """Fill row D3."""
    with TemporaryDirectory() as folder:
        tally = terminal(Path(folder) / "crawl", 100)
    figure = f"raw control or direction characters in {len(tally.broken)} of {tally.cases:,} outputs, of 100 payloads"
    return Filled(held=not tally.broken, figure=figure)


def d4() -> Filled:
    """Fill row D4."""
    tally = cells()
    return Filled(held=not tally.broken, figure=f"{tally.cases - len(tally.broken)} of {tally.cases} cells right")


def d6() -> Filled:
    """Fill row D6."""
    with TemporaryDirectory() as folder:
        tally = topics(Path(folder) / "topics")
    figure = f"{tally.cases - len(tally.broken)} of {tally.cases} refused with their line"
    return Filled(held=not tally.broken, figure=figure)


def d7() -> Filled:
    """Fill row D7."""
    with TemporaryDirectory() as folder:
        tally = names(Path(folder) / "names")
    figure = f"{len(_NAMES)} names; {tally.cases:,} writes inside the folder, {len(tally.broken)} outside"
    return Filled(held=not tally.broken, figure=figure)

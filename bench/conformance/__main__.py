"""Public suites and real pages that we did not make: ``python -m bench.conformance [FOLDER] [--pages FOLDER]``.

FOLDER holds copies of public suites: `wpt-urltestdata.json` (web-platform-tests), `google-robots-cases.bin` (cases of
google/robotstxt with its verdicts), `html5lib-encoding/` (html5lib-tests), `article-extraction-html/` with
`article-extraction-ground-truth.json` (scrapinghub/article-extraction-benchmark), and `phrases.tsv` (language, phrase).
``--pages`` names a folder of HTML files in many languages, such as `tests/cache` of adbar/trafilatura; without it the
language of pages is not measured. Every row is of the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from bench.conformance import suites
from bench.conformance.suites import Row
from testing.machine import hardware, today

DEFAULT_FOLDER = Path(os.environ.get("THRESHER_SUITES", "../shared/data/realweb"))
SUITES: dict[str, Callable[[Path], list[Row]]] = {
    "articles": suites.main_text,
    "urls": suites.urls,
    "robots": suites.robots,
    "charsets": suites.charsets,
    "markup": suites.markup,
    "links": suites.links,
    "phrases": suites.phrases,
}


def table(rows: list[Row]) -> str:
    """Return the rows as a table in Markdown."""
    lines = ["| suite | program | result | CPU ms per case |", "|---|---|---|---|"]
    for row in rows:
        cost = "" if row.milliseconds is None else f"{row.milliseconds:.3g}"
        lines.append(f"| {row.suite} | {row.program} | {row.result} | {cost} |")
    return "\n".join(lines)


def main() -> None:
    """Run the suites and print one table."""
    parser = argparse.ArgumentParser(prog="python -m bench.conformance", description="Public suites and real pages.")
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT_FOLDER)
    parser.add_argument("--pages", type=Path, help="a folder of HTML files in many languages")
    parser.add_argument("--only", choices=[*SUITES, "languages"], help="one suite")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows to a file")
    options = parser.parse_args()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    print(f"{today()}, {hardware()}, commit {commit or 'unknown'}\n")
    rows = [row for name, suite in SUITES.items() if options.only in (None, name) for row in suite(options.folder)]
    if options.pages and options.only in (None, "languages"):
        rows += suites.languages(options.pages)
    print(table(rows))
    if options.json:
        options.json.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()

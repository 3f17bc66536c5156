"""The rows of reports that are checked, and the tests that check each: found by their names.

A test of row U5 is called ``test_u5_…``. `docs/reference/faults.md` lists every row with its tests.
"""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent
ROWS = {
    "U1": "every command, screen and API reports the same number of pages and of relevant pages",
    "U2": "relevance is one calibrated probability, and relevant means relevance at or above one threshold",
    "U3": "a forecast is an interval that holds, or there is none; never 100 % while URLs wait",
    "U4": "the phrase counts with one seed, and clear pages of the topic are relevant",
    "U5": "the exit code is 0 when the requested work was done, and not 0 when nothing could be fetched",
    "U6": "summary, status and why name the reasons of failures, with hosts and counts",
    "U7": "one or two labels do not degrade the order of the queue",
    "U8": "why starts with one plain sentence; details follow",
    "U9": "new refuses what run would refuse, or says what is missing",
    "U10": "a label on a URL that was never crawled is reported as such",
    "U11": "the Scrapy add-on logs refused addresses as errors, and a rerun goes on",
    "U12": "an export that cannot be written is refused in words",
    "U13": "commands start quickly",
    "U14": "screens never show numbers that are not known yet",
    "U15": "refusals and lists say what would be right",
    "U16": "every command uses the store that the crawl was begun on",
    "A1": "the crawl folder records its store, without the password",
    "A2": "run with another store than the recorded one is refused",
    "A3": "scope and deny lists hold when a URL is leased, not only when it enters",
    "A4": "verify finds done URLs without a stored row, and --repair fetches them again",
    "A5": "a store that has lost the crawl is detected and reported",
    "A6": "verdicts do not collapse at any share of on-topic pages",
    "A7": "commands that only read work on a read-only folder",
    "A8": "a full disk and a damaged file are reported in words",
    "A9": "work waits for a crawl that does not exist yet, with a limit",
    "A10": "no password is written into a file of the crawl",
    "A11": "no part of a password in a store URL is printed",
    "A12": "a file size limit is reported as a full disk",
    "A13": "a limit of open files that is too low is reported in words",
    "A14": "a read-only replica as a store is reported in words",
    "A15": "stop reports when the run does not react",
    "A16": "a body with broken chunks is marked as truncated",
}


def checks_of(row: str) -> list[str]:
    """Return the tests of a row, as pytest names them."""
    pattern = re.compile(rf"^(?:async )?def (test_{row.lower()}_\w+)", re.MULTILINE)
    return [
        f"tests/consistency/{path.name}::{name}"
        for path in sorted(FOLDER.glob("test_*.py"))
        for name in pattern.findall(path.read_text(encoding="utf-8"))
    ]

"""E2 without a crawl: do the URLs of real directory entries spell the labels of the path that they are filed under?

People filed these URLs, so no crawler's preference for URLs is in the figures. The same URLs with paths of other
entries, drawn at random, show how many spell a label by chance.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from thresher.topics.profile import UrlEvidence
from thresher.topics.taxonomy.paths import label_language
from thresher.topics.token_table import TokenTable
from thresher_lab.reproduce.measures import url_counts
from thresher_lab.reproduce.text_corpora import records, rows
from thresher_lab.reproduce.trial_runner import Progress
from thresher_lab.statistics.result_rows import add_rows, read_rows

DIRECTORY = "directory"
"""The field of a row that names the directory; rows of crawls lack it."""


class DirectoryEntry(NamedTuple):
    """A URL and the labels of its path in the directory, from the top."""

    labels: tuple[str, ...]
    url: str


def read_directories() -> dict[str, list[DirectoryEntry]]:
    """Read the entries of all directories in the folder that THRESHER_WEBS names.

    Raises:
        OSError: A file is not there.
    """
    odp = (DirectoryEntry(_labels(row[0]), row[1]) for row in rows("dmoz_entries_sample") if row[0] != "topic")
    hosts = (DirectoryEntry((row[1],), f"http://{row[0]}/") for row in rows("dmoz_hosts15") if "|" not in row[1])
    chinese = (DirectoryEntry(_labels(entry["category"]), entry["url"]) for entry in records("nav_directory_zh"))
    return {
        "Open Directory, regional entries (Germany, Australia)": list(odp),
        "Open Directory, hosts by top category": [entry for entry in hosts if entry.labels != ("dmoz_top_categories",)],
        "Chinese link directories": [entry for entry in chinese if entry.labels],
    }


def _labels(path: str) -> tuple[str, ...]:
    """Return the labels of a path; the root and single letters, which are indexes, are none."""
    labels = (label.replace("_", " ").strip() for label in path.split("/"))
    return tuple(label for label in labels if label != "Top" and (len(label) > 1 or not label.isascii()))


def spelled_labels(entries: Iterable[DirectoryEntry]) -> dict[str, int]:
    """Count entries by what their URLs spell; see `url_counts`."""
    urls: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for entry in entries:
        urls[entry.labels].append(entry.url)
    totals: defaultdict[str, int] = defaultdict(int)
    for labels, own in urls.items():
        path = [{label_language(label): label} for label in labels]
        for field, number in url_counts(UrlEvidence([path], TokenTable.shipped()), own).items():
            totals[field] += number
    return dict(totals)


def directory_row(name: str, entries: Sequence[DirectoryEntry]) -> dict[str, object]:
    """Count the entries of a directory, and once more with paths exchanged at random."""
    paths = [entry.labels for entry in entries]
    Random(f"{name} paths").shuffle(paths)  # noqa: S311 - no secret
    exchanged = [DirectoryEntry(path, entry.url) for path, entry in zip(paths, entries, strict=True)]
    levels = max(len(entry.labels) for entry in entries)
    return {DIRECTORY: name, "levels": levels, **spelled_labels(entries), "by_chance": spelled_labels(exchanged)}


def directories_run(path: Path, progress: Progress) -> list[str]:
    """Add a row for each directory that has none; return what could not be read."""
    if "THRESHER_WEBS" not in os.environ:
        return ["not available: THRESHER_WEBS must name the folder with the directories"]
    known = {row.get(DIRECTORY) for row in read_rows(path)}
    try:
        found = {name: entries for name, entries in read_directories().items() if name not in known}
    except OSError as error:
        return [f"not available: the directories must be in the folder that THRESHER_WEBS names ({error})"]
    for number, (name, entries) in enumerate(found.items(), start=1):
        add_rows(path, [directory_row(name, entries)])
        progress(number, len(found))
    return []


def shares(counts: Mapping[str, int]) -> tuple[float, float, float]:
    """Return Rat, Ract and Ra in per cent."""
    Rat, Ract = (100 * counts[field] / max(counts["relevant"], 1) for field in ("own", "only_context"))
    return Rat, Ract, Rat + Ract

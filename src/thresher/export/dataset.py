"""A dataset folder: Parquet shards and a dataset card, as `datasets`, DuckDB, pandas and polars read them.

The folder appears under its name only when it is complete. The card states what was counted while the shards were
written, and nothing else.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import yaml

from thresher.errors import ExportError, is_disk_full
from thresher.export.rows import Columns, Row, write_parquet
from thresher.text.terminal import printable

SHARD_CHARACTERS = 256 << 20
"""A shard is complete when its texts have this many characters."""
CARD = "README.md"
_ORIGIN = "Pages that the focused crawler Thresher fetched for the topic"

_MAX_LICENSES = 1_000
_SHOWN_LICENSES = 20
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_MEANINGS = {
    "text": "main text, with its paragraphs",
    "markdown": "main content as Markdown",
    "author": "as the page states it",
    "published": "date of publication, as the page states it",
    "license": "licence, as the page states it",
    "language": "detected from the text",
    "relevance": "probability that the page is about the topic, by the classifier of the crawl",
    "relevant": "whether the relevance reached the threshold of the crawl",
    "fetched_at": "when this text was fetched, in UTC",
}


@dataclass(slots=True)
class DatasetCounts:
    """What is counted while the rows pass."""

    pages: int = 0
    relevant: int = 0
    characters: int = 0
    first: str = ""
    last: str = ""
    languages: Counter[str] = field(default_factory=Counter)
    licenses: Counter[str] = field(default_factory=Counter)
    hosts: set[str] = field(default_factory=set)

    def counted(self, table: Iterable[Row]) -> Iterator[Row]:
        """Pass rows on, except those without text."""
        for row in table:
            if not row["text"]:
                continue
            self.pages += 1
            self.relevant += bool(row["relevant"])
            self.characters += len(row["text"])
            self.first = min(self.first or row["fetched_at"], row["fetched_at"])
            self.last = max(self.last, row["fetched_at"])
            self.languages[row["language"]] += 1
            self.hosts.add(row["host"])
            known = row["license"] in self.licenses or len(self.licenses) < _MAX_LICENSES
            self.licenses[row["license"] if known else "other"] += 1
            yield row


def write_dataset(table: Iterable[Row], folder: Path, *, columns: Columns, name: str, topic: str) -> DatasetCounts:
    """Write a dataset folder; one of an earlier export is replaced, and nothing else.

    Args:
        table: The rows, with text and Markdown.
        folder: The folder.
        columns: The columns of the rows.
        name: The name of the crawl.
        topic: Its topic, in words.

    Raises:
        ExportError: The folder cannot be written, or holds other files.
    """
    unfinished = folder.with_name(f"{folder.name}.part")
    _check(folder, unfinished)
    counts = DatasetCounts()
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        (unfinished / "data").mkdir(parents=True)
        _write_shards(counts.counted(table), unfinished / "data", columns)
        card = dataset_card(counts, columns=columns, name=name, topic=topic)
        (unfinished / CARD).write_text(card, encoding="utf-8", errors="replace")
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.replace(folder)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        if is_disk_full(error):
            raise
        raise ExportError(f"{folder} cannot be written: {error.strerror}; choose another place") from error
    return counts


def _check(folder: Path, unfinished: Path) -> None:
    """Refuse folders with files that no export of a dataset wrote."""
    if folder.exists() and not folder.is_dir():
        raise ExportError(f"{folder} is a file; a dataset needs a folder: name another")
    card = folder / CARD
    if card.exists() and _ORIGIN not in card.read_text(encoding="utf-8", errors="replace"):
        raise ExportError(f"{card} was not written by an export; name a new folder")
    for place in (folder, unfinished):
        files = (path.relative_to(place) for path in place.rglob("*") if not path.is_dir())
        other = next((path for path in files if str(path) != CARD and not path.match("data/pages-*.parquet*")), None)
        if other or (place == folder and (folder / "data").exists() and not card.exists()):
            raise ExportError(f"{place} holds {other or 'data'}, which is not part of a dataset; name a new folder")


def _write_shards(table: Iterator[Row], folder: Path, columns: Columns) -> None:
    number = 0
    while (first := next(table, None)) is not None or not number:  # an empty dataset has a shard too
        rows = _until_full(chain([first], table)) if first else iter(())
        write_parquet(rows, folder / f"pages-{number:05}.parquet", columns=columns)
        number += 1


def _until_full(table: Iterator[Row]) -> Iterator[Row]:
    characters = 0
    for row in table:
        yield row
        characters += len(row["text"]) + len(row["markdown"])
        if characters >= SHARD_CHARACTERS:
            return


def dataset_card(counts: DatasetCounts, *, columns: Columns, name: str, topic: str) -> str:
    """Return the card: YAML for machines, and the same for people."""
    codes = sorted(code for code in counts.languages if code)
    head = {
        "pretty_name": printable(name),
        **({"language": codes} if codes else {}),
        "license": "other",
        "license_name": "per-page",
        "size_categories": [next((text for most, text in _SIZES if counts.pages < most), "n>1M")],
        "configs": [{"config_name": "default", "data_files": [{"split": "train", "path": "data/*.parquet"}]}],
    }
    front = yaml.safe_dump(head, allow_unicode=True, sort_keys=False)
    return "\n".join(["---", front.rstrip(), "---", "", *_prose(counts, columns, name, topic), ""])


def _prose(counts: DatasetCounts, columns: Columns, name: str, topic: str) -> Iterator[str]:
    yield f"# {_inline(name)}"
    yield f"\n{_ORIGIN} {_inline(topic)}.\n"
    yield f"- pages: {counts.pages:,}, of which {counts.relevant:,} were judged relevant; hosts: {len(counts.hosts):,}"
    yield f"- {counts.characters:,} characters of main text"
    if counts.pages:
        yield f"- fetched from {counts.first} to {counts.last}"
    yield from ("\n## Languages\n", *_table("language", counts.languages, "not detected"))
    yield "\n## Licences\n"
    yield "As the pages state them by `rel=license`, meta elements or JSON-LD. A page that states none is not free of"
    yield "rights; Thresher did not check any statement.\n"
    yield from _table("licence", counts.licenses, "none stated")
    yield from ("\n## Columns\n", "| column | meaning |", "|---|---|")
    yield from (f"| `{column}` | {_MEANINGS.get(column, 'as in `thresher export`')} |" for column in columns)


def _table(title: str, numbers: Mapping[str, int], missing: str) -> Iterator[str]:
    yield from (f"| {title} | pages |", "|---|---|")
    shown = Counter(numbers).most_common(_SHOWN_LICENSES)
    yield from (f"| {_inline(value) or missing} | {number:,} |" for value, number in shown)
    if rest := sum(numbers.values()) - sum(number for _, number in shown):
        yield f"| others | {rest:,} |"


def _inline(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "\\<").replace("[", "\\[")

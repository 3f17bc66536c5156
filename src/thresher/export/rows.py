"""Streaming exports of the collection: rows ranked by relevance, as JSON lines, CSV or Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from thresher.atomic_file import atomic_write
from thresher.errors import ExportError, require
from thresher.locale.translation import _
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader
from thresher.storage.visits import VisitHistory, visit_history
from thresher.text.terminal import printable, printable_json
from thresher.urls.canonical import host_key

if TYPE_CHECKING:
    from thresher.parsing.main_content import PageContent
    from thresher.text.quality import MeasuredText

TIME = "time"
"""The type of a column of times: ISO 8601 in UTC as text, a timestamp in Parquet."""

COLUMNS = {
    "url": "string",
    "host": "string",
    "title": "string",
    "relevance": "float64",
    "relevant": "bool",
    "language": "string",
    "depth": "int32",
    "parent": "string",
    "anchor": "string",
    "score": "float64",
    "fetched_at": TIME,
    "checked_at": TIME,
    "gone": "bool",
    "status": "int32",
    "text_hash": "string",
    "duplicate_of": "string",
    "opt_outs": "string",
    "signals": "string",
}
"""The columns of every format, in order, with their types; others follow when they are requested."""
TOPIC_COLUMNS = {**COLUMNS, "topics": "string"}
"""The columns of crawls of several topics: also the relevance for each topic, by its name, as JSON."""
TEXT_COLUMNS = {"text": "string"}
MARKDOWN_COLUMNS = {"author": "string", "published": "string", "license": "string", "markdown": "string"}
QUALITY_COLUMNS = {
    "quality": "float64",
    "quality_failed": "string",
    "quality_words": "int32",
    "quality_word_length": "float64",
    "quality_symbols": "float64",
    "quality_stop_words": "float64",
    "quality_ended_lines": "float64",
    "quality_repeated_lines": "float64",
    "quality_repeated_words": "float64",
}
"""The share of the rules of `thresher.text.quality` that the main text passes, the others, and what they measure."""

_FORMULA_STARTS = tuple("=+-@＝＋－＠")  # the wide forms count too in spreadsheets of East Asia
_ROWS_PER_GROUP = 5_000
_CHARACTERS_PER_GROUP = 8 << 20

Row = dict[str, Any]
Columns = Mapping[str, str]


def page_columns(
    *, several: bool = False, text: bool = False, markdown: bool = False, quality: bool = False
) -> Columns:
    """Return the columns of an export of pages.

    Args:
        several: Whether the crawl has several topics.
        text: Whether the main text is wanted.
        markdown: Whether the main content as Markdown is wanted, with what the page states about itself.
        quality: Whether the quality of the main text is wanted.
    """
    more = ((TEXT_COLUMNS, text), (MARKDOWN_COLUMNS, markdown), (QUALITY_COLUMNS, quality))
    wanted = {name: kind for columns, is_wanted in more if is_wanted for name, kind in columns.items()}
    return {**(TOPIC_COLUMNS if several else COLUMNS), **wanted}


def rows(
    collection: PageStoreReader,
    *,
    min_relevance: float = 0.0,
    relevant: bool = False,
    duplicates: bool = False,
    topic: str = "",
    text: bool = False,
    markdown: bool = False,
    quality: bool = False,
    min_quality: float = 0.0,
    since: float = 0.0,
) -> Iterator[Row]:
    """Yield one row per page, most relevant first; with `since` only pages that are new or changed from then on.

    With `topic`, relevance, verdict and order are those for this topic, of several. `text`, `markdown` and `quality`
    are those of `page_columns`. With `min_quality`, pages of less or unknown quality are left out.
    """
    link_of = lru_cache(maxsize=512)(lambda parent: {link.url: link for link in collection.links(parent)})
    url_of = lru_cache(maxsize=65_536)(lambda fingerprint: _url(collection, fingerprint))
    with closing(collection.repeats()) as repeats:
        ranked = collection.ranked(min_relevance=min_relevance, relevant=relevant, duplicates=duplicates, topic=topic)
        for record in ranked:
            if record.fetched_at < since:
                continue
            wanted = text or markdown or quality or min_quality
            content = collection.content(record.fingerprint) if wanted else None
            measured = quality_of(content, record.language) if content and (quality or min_quality) else {}
            if min_quality and (measured["quality"] or 0.0) < min_quality:
                continue
            several = repeats.has_several(record.fingerprint)
            seen = visit_history(collection.history(record.fingerprint)) if several else VisitHistory(record.fetched_at)
            link = link_of(record.parent).get(record.url) if record.parent else None
            row = _row(record, seen, parent=url_of(record.parent), anchor=link.anchor if link else "")
            row["duplicate_of"] = url_of(record.duplicate_of)
            row["opt_outs"] = " ".join(record.opt_outs)
            row["signals"] = [signal._asdict() for signal in record.signals]
            if record.topics:
                row["topics"] = {name: judgement.relevance for name, judgement in record.topics.items()}
            if content:
                row |= {"text": content.text} if text else {}
                row |= {**asdict(content.metadata), "markdown": content.markdown} if markdown else {}
                row |= measured if quality else {}
            yield row


def page_contents(
    collection: PageStoreReader, *, since: float = 0.0, min_quality: float = 0.0, **chosen: Any
) -> Iterator[tuple[PageRecord, PageContent]]:
    """Yield the pages that have stored text, most relevant first, with their main content.

    Args:
        collection: The pages.
        since: Only pages that are new or changed from then on.
        min_quality: Only pages whose text has this quality.
        chosen: Which pages, as for `PageStoreReader.ranked`.
    """
    for record in collection.ranked(**chosen):
        if record.fetched_at >= since:
            content = collection.content(record.fingerprint)
            if content.blocks and has_quality(content, record.language, min_quality):
                yield record, content


def has_quality(content: PageContent, language: str, least: float) -> bool:
    """Return whether the main text of a page has a quality, which is measured only above 0."""
    return not least or (quality_of(content, language)["quality"] or 0.0) >= least


def quality_of(content: PageContent, language: str) -> Row:
    """Return the quality of a page's main text; each value is None where there is no text, or no such measure."""
    from thresher.text.quality import verdicts  # here and below: most commands measure nothing

    text = measured_text(content, language)
    if not text.words:
        return dict.fromkeys(QUALITY_COLUMNS)
    found = verdicts(text)
    measures = {
        "words": text.words,
        "word_length": text.word_length,
        "symbols": text.symbols,
        "stop_words": text.stop_words,
        "ended_lines": text.ended_lines,
        "repeated_lines": text.repeated_lines,
        "repeated_words": text.repeated_words,
    }
    return {
        "quality": round(sum(found.values()) / len(found), 4),
        "quality_failed": " ".join(name for name, passes in found.items() if not passes),
        **{f"quality_{name}": value and round(value, 4) for name, value in measures.items()},
    }


def measured_text(content: PageContent, language: str) -> MeasuredText:
    """Return the main text of a page, to be measured."""
    from thresher.parsing.content_blocks import ContentKind
    from thresher.text.quality import MeasuredText

    items = sum(block.kind is ContentKind.ITEM for block in content.blocks)
    return MeasuredText(text=content.text, language=language, items=items)


def _url(collection: PageStoreReader, fingerprint: int) -> str:
    record = collection.find(fingerprint) if fingerprint else None
    return record.url if record else ""


def _row(record: PageRecord, seen: VisitHistory, **joined: str) -> Row:
    return {
        "url": record.url,
        "host": host_key(record.url),
        "title": record.title,
        "relevance": record.relevance,
        "relevant": record.relevant,
        "language": record.language,
        "depth": record.depth,
        **joined,
        "score": record.score,
        "fetched_at": time_text(record.fetched_at),
        "checked_at": time_text(seen.checked_at),
        "gone": seen.gone,
        "status": record.status,
        "text_hash": f"{record.text_hash & 0xFFFFFFFFFFFFFFFF:016x}",
    }


def time_text(seconds: float) -> str:
    """Format a time as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def write_jsonl(table: Iterable[Row], out: IO[str], *, raw: bool = False, columns: Columns = COLUMNS) -> int:
    """Write one JSON object per line; return their number."""
    number = 0
    for number, row in enumerate(table, start=1):  # noqa: B007 - the last number is the result
        out.write(printable_json(row) + "\n")
    return number


def write_csv(table: Iterable[Row], out: IO[str], *, raw: bool = False, columns: Columns = COLUMNS) -> int:
    """Write comma-separated rows; unless `raw`, formulas and terminal control characters are made harmless."""
    if raw:  # a bare carriage return would end its row
        writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    else:
        writer = csv.writer(out, lineterminator="\n")
    names = list(columns)
    writer.writerow(names)
    number = 0
    for number, row in enumerate(table, start=1):  # noqa: B007 - the last number is the result
        cells = (_cell(row.get(name)) for name in names)
        writer.writerow(cells if raw else map(harmless, cells))
    return number


def _cell(value: Any) -> Any:
    """Return a value as one cell: a mapping or a list as JSON, an empty one as nothing."""
    if isinstance(value, Mapping | list):
        return json.dumps(value, ensure_ascii=False) if value else ""
    return value


def harmless(cell: Any) -> Any:
    """Prefix a spreadsheet formula with an apostrophe, and remove terminal control characters."""
    if not isinstance(cell, str):
        return cell
    starts_one = cell.startswith(("\t", "\r", "\n")) or cell.lstrip().startswith(_FORMULA_STARTS)
    return f"'{printable(cell)}" if starts_one else printable(cell)


def require_parquet(form: str) -> None:
    """Check that what a format needs is installed.

    Raises:
        MissingExtra: It is not.
    """
    if form in PARQUET_FORMATS:
        require("pyarrow", extra="parquet", what=_("the format {name}", name=form))


def write_parquet(table: Iterable[Row], path: Path, *, columns: Columns = COLUMNS) -> int:
    """Write a Parquet file atomically and in bounded memory; return the number of rows.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    require_parquet("parquet")
    import pyarrow.parquet as pq

    number = 0
    with (
        atomic_write(path) as unfinished,
        pq.ParquetWriter(unfinished, arrow_schema(columns), compression="zstd") as writer,
    ):
        for group in arrow_groups(table, columns):
            writer.write_table(group)
            number += len(group)
    return number


def arrow_schema(types: Columns) -> Any:
    """Return the columns as an Arrow schema."""
    import pyarrow as pa

    kinds = {
        name: pa.timestamp("ms", "UTC") if kind == TIME else pa.type_for_alias(kind) for name, kind in types.items()
    }
    return pa.schema(kinds.items())


def arrow_groups(table: Iterable[Row], types: Columns) -> Iterator[Any]:
    """Yield the rows as Arrow tables of a few thousand rows and a few megabytes."""
    import pyarrow as pa

    schema, times = arrow_schema(types), [name for name, kind in types.items() if kind == TIME]
    for group in _groups(table):
        for row in group:
            row.update({name: datetime.fromisoformat(row[name]) for name in times})
            row.update({name: _cell(value) for name, value in row.items()})
        yield pa.Table.from_pylist(group, schema=schema)


def _groups(table: Iterable[Row]) -> Iterator[list[Row]]:
    group: list[Row] = []
    characters = 0
    for row in table:
        group.append(row)
        characters += len(row.get("text") or "") + len(row.get("markdown") or "")
        if len(group) >= _ROWS_PER_GROUP or characters >= _CHARACTERS_PER_GROUP:
            yield group
            group, characters = [], 0
    if group:
        yield group


PARQUET_FORMATS = ("parquet", "dataset", "url-index")
TEXT_WRITERS: dict[str, Callable[..., int]] = {"jsonl": write_jsonl, "csv": write_csv}
FORMATS = (*TEXT_WRITERS, "parquet")


def refuse_taken(path: Path, *, replace: bool, option: str) -> None:
    """Refuse to write over a file or a folder with files, unless it is to be replaced.

    Args:
        option: How the caller says that it is, for the message.

    Raises:
        ExportError: There is one.
    """
    if not replace and path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise ExportError(
            _("{path} is there already; name another, or replace that export: {option}", path=path, option=option)
        )


def export(
    table: Iterable[Row],
    form: str,
    path: Path | None,
    out: IO[str],
    *,
    raw: bool = False,
    columns: Columns = COLUMNS,
) -> int:
    """Write rows in a format, into a file or to `out`; return their number.

    Args:
        columns: Names and types of the columns.

    Raises:
        ExportError: Parquet was requested without a file.
    """
    if form == "parquet":
        if path is None:
            raise ExportError(_("parquet is not for a terminal or pipe; name a file: -o pages.parquet"))
        return write_parquet(table, path, columns=columns)
    write = TEXT_WRITERS[form]
    with text_file(path, out) as file:
        return write(table, file, raw=raw, columns=columns)


@contextmanager
def text_file(path: Path | None, out: IO[str]) -> Iterator[IO[str]]:
    """Open a text file for atomic writing; without a path, yield `out`."""
    if path is None:
        yield out
    else:
        with atomic_write(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
            yield file

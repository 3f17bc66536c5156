"""The page on what comes out of a crawl: the columns as the code names them, each with what it means."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import get_type_hints

from thresher.export.chunks import CHUNK_COLUMNS
from thresher.export.hosts import HOST_COLUMNS
from thresher.export.link_graph import LINK_COLUMNS
from thresher.export.rows import TIME, arrow_schema, page_columns
from thresher.search.mirrors import MIRROR_COLUMNS
from thresher.storage.page_store import PageRecord

PAGE_MEANINGS = {
    "url": "Its address, in canonical spelling; unique in an export.",
    "host": "Host and, where it is not the usual one, port.",
    "title": "Its title.",
    "relevance": "How likely it is about the topic, from 0 to 1, as it is judged now.",
    "relevant": "Whether the relevance reaches the judge's threshold.",
    "language": "`en`, `zh` or another code; empty when the page has too little text to tell.",
    "depth": "Links from a seed.",
    "parent": "The page on which it was found; empty for a seed.",
    "anchor": "The words of the link that led here.",
    "score": "The score by which it was fetched.",
    "fetched_at": "When this text was fetched: new or changed then.",
    "checked_at": "When it was looked at last.",
    "gone": "Whether it was no longer there then.",
    "status": "The status of the server's answer.",
    "text_hash": "64 bits of its text, in hexadecimal digits; pages with the same text share it.",
    "duplicate_of": "The page that brought the same text first; only with `--duplicates`.",
    "opt_outs": "The uses that the site opts out of, separated by blanks: `ai-train`, `ai-input`, `noai`, `tdm`, ….",
    "signals": "The usage signals behind them, and others: source, statement and value of each, as JSON.",
}
CONTENT_MEANINGS = {
    "text": "The main text, with its paragraphs; with `--text`. Empty where none is kept.",
    "author": "As the page states it; with `--markdown`.",
    "published": "The date of publication as the page states it, such as `2026-11-17`; with `--markdown`.",
    "license": "The URL or the name of the licence as the page states it; with `--markdown`.",
    "markdown": "The main content as Markdown; with `--markdown`. Empty where none is kept.",
}
QUALITY_MEANINGS = {
    "quality": "Share of the rules of published filters that the main text passes; these columns with `--quality`. "
    "Empty, as all of them, where no text is kept.",
    "quality_failed": "The rules that it does not pass, separated by blanks, such as `gopher-words c4-sentences`.",
    "quality_words": "Its number of words; in Chinese, Japanese and Thai half the number of characters.",
    "quality_word_length": "Mean number of characters in a word; empty in scripts without spaces and in Korean.",
    "quality_symbols": "Hash signs or ellipses per word, whichever are more.",
    "quality_stop_words": "Share of the words that are stop words; empty for a language without a list of them.",
    "quality_ended_lines": "Share of the lines that end with punctuation; empty in Thai.",
    "quality_repeated_lines": "Share of the characters in lines that occurred before.",
    "quality_repeated_words": "Share of the characters in sequences of five words that occurred before.",
}
CHUNK_MEANINGS = {
    "id": "The fingerprint of the page and the position; unique in an export.",
    "url": "The address of the page.",
    "title": "The title of the page.",
    "headings": "The headings around it, outermost first, separated by ` > `.",
    "position": "Its number in the page, from 0.",
    "text": "Its Markdown.",
    "language": "The language of the page.",
    "relevance": "How likely the page is about the topic.",
    "relevant": "Whether that reaches the judge's threshold.",
    "author": "As the page states it.",
    "published": "The date of publication as the page states it.",
    "license": "The URL or the name of the licence as the page states it.",
    "fetched_at": "When the page was fetched.",
    "opt_outs": "The uses that the site of the page opts out of.",
    "hash": "64 bits of its text, in hexadecimal digits.",
}
HOST_MEANINGS = {
    "host": "Host and, where it is not the usual one, port.",
    "pages": "Pages that it gave.",
    "relevant": "How many of them are relevant.",
    "relevance": "Mean relevance of its pages.",
    "best_url": "Its most relevant page.",
    "best_title": "The title of that page.",
    "best_relevance": "The relevance of that page.",
    "languages": "Languages of its pages, most frequent first.",
    "is_new": "Whether it is none of the seeds' hosts.",
    "first_url": "The page that was fetched first.",
    "first_at": "When that was.",
    "found_on": "The page whose link led to it; empty for a seed.",
    "anchor": "The words of that link.",
}
LINK_MEANINGS = {
    "source": "The page that the link stands on.",
    "target": "Where it leads.",
    "anchor": "Its words.",
    "score": "The score that the strategy gave it.",
    "source_relevance": "Relevance of the page that it stands on.",
    "target_relevance": "Relevance of the page that it leads to; empty when that is not among the exported pages.",
}
MIRROR_MEANINGS = {
    "host": "The host with more pages in the collection.",
    "other": "The other one.",
    "common": "Groups of near duplicates with pages on both.",
    "share": "How much of the smaller one that is.",
}
KINDS = {"string": "text", "float64": "number", "bool": "true or false", "int32": "whole number", TIME: "time"}
_ARGUMENT = re.compile(r"^    (\w+): (.+(?:\n      .+)*)", flags=re.MULTILINE)
_ALSO = {
    "url": "As it was asked for, in canonical spelling.",
    "status": "Of the server's answer; 0 when there was none.",
    "fetched_at": "When, in seconds since 1970, by the store's clock.",
    "title": "Of the page.",
    "language": "Of its text.",
    "relevance": "From 0 to 1; rewritten when the page is judged again.",
    "relevant": "The verdict; rewritten likewise.",
    "elapsed_seconds": "How long the answer took.",
    "bytes": "Size of the body, unpacked.",
}
"""What the docstring of a record leaves to the names of its fields."""


def records_page() -> str:
    """Write the page."""
    return "\n".join([*_beginning(), *_tables(), *_stored(), ""])


def _beginning() -> Iterator[str]:
    yield from ("# Records", "", "Written by `make docs` from the code that writes them.", "")
    yield "Every format has the same columns, in this order. CSV has them as its first line; JSON lines are one object"
    yield "per row with these names; a bulk file for OpenSearch has such an object on every second line. Times are"
    yield "ISO 8601 in UTC as text, and timestamps in Parquet. The commands are in"
    yield "[get pages out](../howto/get-pages-out.md)."


def _tables() -> Iterator[str]:
    pages = page_columns(text=True, markdown=True, quality=True)
    meanings = {**PAGE_MEANINGS, **CONTENT_MEANINGS, **QUALITY_MEANINGS}
    yield from _table("Pages", "`thresher export DIR`", pages, meanings)
    yield from _table("Chunks", "`thresher export DIR --chunks`", CHUNK_COLUMNS, CHUNK_MEANINGS)
    yield from _table("Hosts", "`thresher export DIR --hosts`", HOST_COLUMNS, HOST_MEANINGS)
    yield from _table("Links", "`thresher export DIR --links`", LINK_COLUMNS, LINK_MEANINGS)
    yield from _table("Mirrors", "`thresher export DIR --mirrors`", MIRROR_COLUMNS, MIRROR_MEANINGS)


def _table(title: str, command: str, columns: Mapping[str, str], meanings: Mapping[str, str]) -> Iterator[str]:
    if columns.keys() != meanings.keys():
        raise ValueError(f"{title}: no meaning, or no column, for {columns.keys() ^ meanings.keys()}")
    yield from ("", f"## {title}", "", f"{command}, one row each.", "")
    yield from ("| column | is | in Parquet | meaning |", "|---|---|---|---|")
    schema = arrow_schema(columns)
    for name, kind in columns.items():
        yield f"| `{name}` | {KINDS[kind]} | `{schema.field(name).type}` | {meanings[name]} |"


def _stored() -> Iterator[str]:
    """A row of the page store: names and types of the record, meanings of its docstring."""
    printed = {name: " ".join(words.split()) for name, words in _ARGUMENT.findall(inspect.getdoc(PageRecord) or "")}
    yield from ("", "## The page store", "")
    yield "`pages/*.db` in a crawl's folder: SQLite, one segment per worker, table `page`, one row per settled fetch,"
    yield "refusals too. It is what commands read, and it may change between versions; exports do not. Texts,"
    yield "markup and links are packed with zstd, parts are JSON. WARC files hold the same row as JSON in a page's"
    yield "`metadata` record, without texts, markup and links."
    yield from ("", "| field | type | meaning |", "|---|---|---|")
    for name, kind in get_type_hints(PageRecord).items():
        yield f"| `{name}` | `{_type_name(kind)}` | {printed.get(name) or _ALSO[name]} |"


def _type_name(kind: object) -> str:
    name = kind.__name__ if isinstance(kind, type) else str(kind)
    return re.sub(r"[a-z_]+\.(?=[a-zA-Z])", "", name).replace("|", "or")

"""The link graph of a collection: as rows, one per link, and as GraphML.

Links are those that pages added to the frontier: nofollow links, links out of scope and links of duplicates are not
among them. The set of nodes is kept in a temporary file, so memory does not grow with the collection.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import IO
from xml.sax.saxutils import quoteattr

from thresher.export.rows import Row
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader
from thresher.text.terminal import printable
from thresher.urls.canonical import fingerprint, host_key

LINK_COLUMNS = {
    "source": "string",
    "target": "string",
    "anchor": "string",
    "score": "float64",
    "source_relevance": "float64",
    "target_relevance": "float64",
}
"""The columns of the list of links; `target_relevance` is empty for a URL that is not among the pages."""

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KEYS = {"url": "string", "title": "string", "host": "string", "relevance": "double", "relevant": "boolean"}
_LINK_KEYS = {"anchor": "string", "score": "double"}


class LinkGraphExport:
    """The pages of a collection above a relevance, and the links between them; close it after use."""

    def __init__(
        self,
        collection: PageStoreReader,
        *,
        min_relevance: float = 0.0,
        relevant: bool = False,
        duplicates: bool = False,
        topic: str = "",
    ) -> None:
        self._collection = collection
        self._pages = partial(
            collection.ranked, min_relevance=min_relevance, relevant=relevant, duplicates=duplicates, topic=topic
        )
        self._db = collection.scratch()
        self._db.execute("CREATE TEMP TABLE node (fingerprint INTEGER PRIMARY KEY, relevance REAL)")
        self._db.execute("BEGIN")
        nodes = ((record.fingerprint, record.relevance) for record in self._pages())
        self._db.executemany("INSERT INTO node VALUES (?, ?)", nodes)
        self._db.execute("COMMIT")

    def close(self) -> None:
        self._db.close()

    def rows(self, *, among_pages: bool = False) -> Iterator[Row]:
        """Yield one row per link, those of the most relevant pages first; with `among_pages` only between pages."""
        for record in self._pages():
            if self._relevance(record.fingerprint) is None:  # fetched since the graph was opened
                continue
            for link in self._collection.links(record.fingerprint):
                relevance = self._relevance(fingerprint(link.url))
                if relevance is not None or not among_pages:
                    yield {
                        "source": record.url,
                        "target": link.url,
                        "anchor": link.anchor,
                        "score": link.score,
                        "source_relevance": record.relevance,
                        "target_relevance": relevance,
                    }

    def write_graphml(self, out: IO[str]) -> int:
        """Write nodes and the links between them; return the number of links."""
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for what, keys in (("node", _KEYS), ("edge", _LINK_KEYS)):
            for name, kind in keys.items():
                out.write(f'<key id="{name}" for="{what}" attr.name="{name}" attr.type="{kind}"/>\n')
        out.write('<graph edgedefault="directed">\n')
        for record in self._pages():
            if self._relevance(record.fingerprint) is not None:
                out.write(_node(record))
        number = 0
        for number, row in enumerate(self.rows(among_pages=True), start=1):  # noqa: B007 - the last number is the result
            out.write(_edge(row))
        out.write("</graph>\n</graphml>\n")
        return number

    def _relevance(self, node: int) -> float | None:
        row = self._db.execute("SELECT relevance FROM node WHERE fingerprint = ?", [node]).fetchone()
        return row[0] if row else None


def _node(record: PageRecord) -> str:
    values = {
        "url": record.url,
        "title": record.title,
        "host": host_key(record.url),
        "relevance": f"{record.relevance:.6g}",
        "relevant": str(record.relevant).lower(),
    }
    return f"<node id={_name(record.url)}>{_data(values)}</node>\n"


def _edge(row: Row) -> str:
    values = {"anchor": row["anchor"], "score": f"{row['score']:.6g}"}
    return f"<edge source={_name(row['source'])} target={_name(row['target'])}>{_data(values)}</edge>\n"


def _name(url: str) -> str:
    return f'"{fingerprint(url) & 0xFFFFFFFFFFFFFFFF:016x}"'


def _data(values: dict[str, str]) -> str:
    return "".join(f'<data key="{name}">{_escaped(value)}</data>' for name, value in values.items())


def _escaped(text: str) -> str:
    """Escape text for XML; characters that XML does not allow are replaced."""
    return quoteattr(_NOT_XML.sub("\ufffd", printable(text)), {"\n": " "})[1:-1]

"""The pages of a crawl as a table that is read lazily."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.api.page import Page, page_of
from thresher.charts.html import html_table
from thresher.errors import ConfigError, require
from thresher.export.rows import arrow_groups, arrow_schema, page_columns, rows
from thresher.storage.reader import PageStoreReader

if TYPE_CHECKING:
    import pandas
    import pyarrow

SHOWN_ROWS = 10


@dataclass(frozen=True, kw_only=True)
class Pages:
    """All pages of a crawl, most relevant first, each URL once in its last version.

    The page store is read at each use, so that every use sees the current state, also while the crawl runs.

    Args:
        folder: The folder of the page store.
        min_relevance: Leave out pages below.
        relevant: Leave out pages that are not relevant.
        duplicates: Include pages with the text of an earlier page.
        topic: Relevance, verdicts and order for this one of several topics.
        is_of_several: Whether the crawl has several topics; tables then have the column ``topics``.
        without_opt_outs: Leave out pages whose site opts out of AI uses.
    """

    folder: Path
    min_relevance: float = 0.0
    relevant: bool = False
    duplicates: bool = False
    topic: str = ""
    is_of_several: bool = False
    without_opt_outs: bool = False

    @property
    def _chosen(self) -> dict[str, Any]:
        chosen = {"min_relevance": self.min_relevance, "relevant": self.relevant, "duplicates": self.duplicates}
        return {**chosen, "topic": self.topic}

    def _collection(self) -> PageStoreReader:
        return PageStoreReader(self.folder, without_opt_outs=self.without_opt_outs)

    def __iter__(self) -> Iterator[Page]:
        with self._collection() as collection:
            for record in collection.ranked(**self._chosen):
                yield page_of(record, collection)

    def __len__(self) -> int:
        with self._collection() as collection:
            ranked = collection.ranked(**self._chosen)
            return sum(1 for _ in ranked)

    def to_arrow(self, *, text: bool = False, markdown: bool = False) -> pyarrow.Table:
        """Return the table with the columns of ``thresher export``.

        Args:
            text: Add the main text of each page as a column.
            markdown: Add the main content as Markdown, with author, date of publication and licence.

        Raises:
            ConfigError: pyarrow is not installed.
        """
        require("pyarrow", extra="parquet", what="to_arrow")
        import pyarrow as pa

        types = page_columns(several=self.is_of_several, text=text, markdown=markdown)
        with self._collection() as collection:
            groups = list(arrow_groups(rows(collection, **self._chosen, text=text, markdown=markdown), types))
        return pa.concat_tables(groups) if groups else arrow_schema(types).empty_table()

    def to_pandas(self, *, text: bool = False, markdown: bool = False) -> pandas.DataFrame:
        """Return the table with the columns of ``thresher export``; the arguments are those of `to_arrow`.

        Raises:
            ConfigError: pandas is not installed.
        """
        try:
            import pandas  # noqa: F401 - Arrow needs it, but its error is less clear
        except ModuleNotFoundError as error:
            raise ConfigError('to_pandas needs pandas: pip install "thresher-crawler[notebook]"') from error
        return self.to_arrow(text=text, markdown=markdown).to_pandas()

    def __repr__(self) -> str:
        return f"<Pages: {len(self):,} pages of {self.folder.parent}>"

    def _repr_html_(self) -> str:
        columns = ["relevance", "relevant", "title", "url", "language", "depth", "fetched_at"]
        with self._collection() as collection:
            first = islice(collection.ranked(**self._chosen), SHOWN_ROWS)
            shown = [page_of(record, collection) for record in first]
        body = html_table(columns, [[getattr(page, column) for column in columns] for page in shown])
        return f"{body}<p>{len(self):,} pages</p>"

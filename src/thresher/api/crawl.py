"""A crawl as a Python program holds it: made, run, looked at and taught."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.api.apart import answer
from thresher.api.found import FoundPage, find_pages
from thresher.api.harvest import plot_harvest
from thresher.api.opening import Given, open_or_found
from thresher.api.run import Run
from thresher.api.status import Status, status_of
from thresher.api.table import Pages
from thresher.api.topic import Topic
from thresher.api.why import Why, why_of
from thresher.archive.collection import Collection
from thresher.archive.export import FORMATS, export, rows
from thresher.build import Crawl as BuiltCrawl
from thresher.engine.progress import Limits
from thresher.errors import ConfigError, ExportError
from thresher.explain import explain
from thresher.search.find import Filters
from thresher.teaching import Taught, tell

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Crawl:
    """A crawl in a folder, which is made when it is not there, as ``thresher new`` makes it.

    A folder that is there is opened. What is given then must be what its topic.yaml says; to open it as it is, give the
    folder alone. The command line and the dashboard work on the same folder.

    Args:
        folder: Where the crawl lies.
        topic: What to look for: a `Topic`, or its phrase.
        seeds: URLs to start from.
        contact: Mail or web address for site operators; only one's own hosts are asked without.
        strategy: The order in which links are followed; ``thresher`` unless topic.yaml says otherwise.
        settings: Further keys of topic.yaml, such as ``{"manners": {"delay_seconds": 5}}``.

    Raises:
        ConfigError: The folder's topic.yaml says something else, or what is given cannot be done.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        topic: Topic | str | None = None,
        seeds: Sequence[str] = (),
        contact: str = "",
        strategy: str = "",
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        wanted = Topic(topic) if isinstance(topic, str) else topic
        given = Given(topic=wanted, seeds=seeds, contact=contact, strategy=strategy, settings=settings or {})
        self._crawl = open_or_found(Path(folder), given)

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return self._crawl.folder.root

    @property
    def name(self) -> str:
        """Its name."""
        return self._crawl.name

    def run(self, *, pages: int | None = None, minutes: float | None = None, workers: int = 1) -> Run:
        """Crawl, or go on where the last run stopped; yields pages as they are settled.

        Args:
            pages: Stop when the crawl has this many pages, all runs counted; what topic.yaml says if left out.
            minutes: Stop after this many minutes.
            workers: Worker processes.

        Raises:
            ConfigError: The crawl cannot run as it is.
        """
        for name, value in (("pages", pages), ("minutes", minutes), ("workers", workers)):
            if value is not None and value <= 0:
                raise ConfigError(f"{name} is {value}, expected more than 0")
        crawl = BuiltCrawl.open(self.folder)
        if crawl.folder.joined.is_file():
            raise ConfigError(f"{self.folder} works for a crawl that was begun elsewhere; go on by thresher work")
        crawl.check()
        stop = crawl.config.stop
        limits = Limits(
            pages=pages or stop.pages,
            relevant=stop.relevant,
            minutes=minutes or stop.minutes,
            harvest_below=stop.harvest_below,
        )
        return Run(crawl, workers=workers, limits=limits)

    def pages(self, *, min_relevance: float = 0.0, relevant: bool = False, duplicates: bool = False) -> Pages:
        """Return the pages as a table, most relevant first; with `relevant`, only relevant ones."""
        return Pages(
            folder=self._crawl.folder.pages, min_relevance=min_relevance, relevant=relevant, duplicates=duplicates
        )

    def why(self, url: str) -> Why:
        """Say why a page is there: its path from a seed and every part of every score.

        Raises:
            ConfigError: The text is no http or https URL.
        """
        return why_of(answer(explain(self._crawl, url)))

    def search(
        self, query: str, *, limit: int = 10, host: str = "", language: str = "", min_relevance: float = 0.0
    ) -> list[FoundPage]:
        """Search the pages, in English and Chinese; ``"quoted words"`` stand next to each other.

        Raises:
            ConfigError: There is nothing in the query to look for.
        """
        filters = Filters(host=host, language=language.lower(), min_relevance=min_relevance)
        return find_pages(self._crawl.folder, query, limit=limit, filters=filters)

    def label(self, told: Mapping[str, bool | None], *, boundary: bool = False) -> Taught:
        """Label pages by URL: True on topic, False not, None to remove the label.

        The judge is retrained, and verdicts and queue are updated, also while a run is under way. A URL with True that
        was never crawled is queued like a seed; `urls` of the answer says which were.

        Args:
            boundary: Report how the threshold moved, as `boundary` of the answer.

        Raises:
            ConfigError: A text is no http or https URL, or a URL that was not fetched lies outside the crawl.
        """
        return answer(tell(self._crawl, told, boundary=boundary))

    def status(self) -> Status:
        """Return the crawl in numbers."""
        return answer(status_of(self._crawl))

    def export(
        self,
        path: str | Path,
        *,
        format: str = "",  # noqa: A002 - as the command's option is called
        min_relevance: float = 0.0,
        relevant: bool = False,
        duplicates: bool = False,
        text: bool = False,
    ) -> int:
        """Write the pages, most relevant first; return how many.

        Args:
            relevant: Whether only relevant pages are written.
            format: ``jsonl``, ``csv`` or ``parquet``; by the file's name if left out.
            text: Whether the text of each page is written too.

        Raises:
            ExportError: There is no such format.
        """
        target = Path(path)
        form = format or target.suffix.removeprefix(".")
        if form not in FORMATS:
            raise ExportError(f"{form or target.name!r} is no format; known: {', '.join(FORMATS)}")
        with Collection(self._crawl.folder.pages) as collection:
            table = rows(collection, min_relevance=min_relevance, relevant=relevant, duplicates=duplicates, text=text)
            return export(table, form, target, sys.stdout, text=text)

    def plot_harvest(self) -> Figure:
        """Draw the share of relevant pages, as they came.

        Raises:
            ConfigError: matplotlib is not installed.
        """
        return plot_harvest(self._crawl.folder.pages, title=self.name)

    def __repr__(self) -> str:
        return f"<Crawl {self.name!r} in {self.folder}>"

"""`thresher.Crawl`: create, run, inspect and label a crawl from Python.

Asynchronous functions run in a thread of their own, because the caller may have an event loop, as notebooks do.
"""

from __future__ import annotations

import asyncio
import sys
import warnings
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from thresher.api.harvest import plot_harvest
from thresher.api.options import CrawlOptions, open_or_create
from thresher.api.pages import Pages
from thresher.api.run import Run
from thresher.api.search_results import FoundPage, find_pages
from thresher.api.topic import Topic
from thresher.api.why import Why, why_of
from thresher.assembly import check_crawl
from thresher.crawl import CrawlSetup as BuiltCrawl
from thresher.errors import ConfigError, ExportError, StoreRefused, StoreUnreachable
from thresher.export.rows import FORMATS, export, page_columns, refuse_taken, require_parquet, rows
from thresher.operations.explain import explain
from thresher.operations.labelling import LabellingResult, add_labels
from thresher.runner.limits import Limits
from thresher.runner.supervisor import SupervisorOptions
from thresher.search.ranking import Filters
from thresher.status import CrawlStatus, status_of
from thresher.storage.reader import PageStoreReader

if TYPE_CHECKING:
    from matplotlib.figure import Figure


T = TypeVar("T")


def run_in_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a thread with its own event loop; return its result."""
    with ThreadPoolExecutor(1, thread_name_prefix="thresher") as pool:
        return pool.submit(asyncio.run, coroutine).result()


class Crawl:
    """A crawl in a folder. A missing folder is created, as by ``thresher new``.

    An existing folder is opened; the arguments must then agree with its topic.yaml. To open it as it is, give only the
    folder. The command line and the dashboard work on the same folder.

    Args:
        folder: The folder of the crawl.
        topic: A `Topic`, or its phrase.
        seeds: URLs to start from.
        contact: Mail or web address for site operators; without it, only one's own hosts are crawled.
        strategy: The order in which links are followed; by default that of topic.yaml, else ``thresher``.
        settings: Further keys of topic.yaml, such as ``{"politeness": {"delay_seconds": 5}}``.

    Raises:
        ConfigError: The arguments differ from the folder's topic.yaml, or are invalid.
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
        given = CrawlOptions(topic=wanted, seeds=seeds, contact=contact, strategy=strategy, settings=settings or {})
        self._crawl = open_or_create(Path(folder), given)

    @property
    def folder(self) -> Path:
        return self._crawl.folder.root

    @property
    def name(self) -> str:
        return self._crawl.name

    def run(self, *, pages: int | None = None, minutes: float | None = None, workers: int = 1) -> Run:
        """Crawl, or continue where the last run stopped; the result yields pages as they are settled.

        Args:
            pages: Stop when the crawl has this many pages, all runs counted; by default the limit of topic.yaml.
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
            raise ConfigError(
                f"{self.folder} works for a crawl that was started on another machine; continue with thresher join"
            )
        check_crawl(crawl)
        stop = crawl.config.stop
        limits = Limits(
            pages=pages or stop.pages,
            relevant=stop.relevant,
            minutes=minutes or stop.minutes,
            harvest_below=stop.harvest_below,
        )
        return Run(crawl, SupervisorOptions(workers=workers, limits=limits))

    @property
    def topics(self) -> list[str]:
        """The names of the topics of a crawl of several; empty for a crawl of one topic."""
        return list(self._crawl.config.topics)

    def pages(
        self,
        *,
        min_relevance: float = 0.0,
        relevant: bool = False,
        duplicates: bool = False,
        topic: str = "",
        without_opt_outs: bool = False,
    ) -> Pages:
        """Return the pages as a table, most relevant first; with `relevant`, only relevant ones.

        Args:
            without_opt_outs: Leave out pages whose site opts out of AI uses.
            topic: Relevance, verdicts and order for this one of several topics.

        Raises:
            ConfigError: There is no such topic.
        """
        self._crawl.check_topic(topic)
        self._update_pages()
        return Pages(
            folder=self._crawl.folder.pages,
            min_relevance=min_relevance,
            relevant=relevant,
            duplicates=duplicates,
            topic=topic,
            is_of_several=bool(self.topics),
            without_opt_outs=without_opt_outs,
        )

    def pages_by_topic(self) -> dict[str, Pages]:
        """Return the relevant pages of each of several topics; a page of two topics is in both tables."""
        return {name: self.pages(relevant=True, topic=name) for name in self.topics}

    def why(self, url: str) -> Why:
        """Explain a URL: the verdict in words, its shortest path from a seed and all parts of its scores.

        Raises:
            ConfigError: The text is not an http or https URL.
        """
        self._update_pages()
        return why_of(run_in_thread(explain(self._crawl, url)))

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        host: str = "",
        language: str = "",
        min_relevance: float = 0.0,
        topic: str = "",
        without_opt_outs: bool = False,
    ) -> list[FoundPage]:
        """Search the pages, in English and Chinese; ``"quoted words"`` must be adjacent.

        Args:
            topic: Only pages that are relevant to this one of several topics.
            without_opt_outs: Leave out pages whose site opts out of AI uses.

        Raises:
            ConfigError: The query has no searchable word, or there is no such topic.
        """
        self._crawl.check_topic(topic)
        self._update_pages()
        filters = Filters(host=host, language=language.lower(), min_relevance=min_relevance, topic=topic)
        return find_pages(self._crawl, query, limit=limit, filters=filters, without_opt_outs=without_opt_outs)

    def label(self, labels: Mapping[str, bool | None], *, topic: str = "") -> LabellingResult:
        """Label pages by URL: True on topic, False not, None to remove the label.

        The judge is retrained, and verdicts and queue are updated, also while a run is under way. A URL with True that
        was never crawled is queued like a seed; `urls` of the result lists what happened to each. `now_relevant` and
        `no_longer` are some of the other pages whose verdict changed.

        Args:
            topic: The topic that the labels are about, of several; by default all.

        Raises:
            ConfigError: A text is not an http or https URL, or a URL that was not fetched is outside the scope.
        """
        self._update_pages()
        return run_in_thread(add_labels(self._crawl, labels, topic=topic))

    def status(self) -> CrawlStatus:
        """Return the status of the crawl."""
        return run_in_thread(status_of(self._crawl))

    def export(
        self,
        path: str | Path,
        *,
        format: str = "",  # noqa: A002 - as the command's option is called
        replace: bool = False,
        min_relevance: float = 0.0,
        relevant: bool = False,
        duplicates: bool = False,
        topic: str = "",
        text: bool = False,
        markdown: bool = False,
    ) -> int:
        """Write the pages, most relevant first; return how many.

        Args:
            relevant: Write relevant pages only.
            topic: Relevance, verdicts and order for this one of several topics.
            format: ``jsonl``, ``csv`` or ``parquet``; by default from the file name.
            replace: Replace a file of that name.
            text: Write the main text of each page too.
            markdown: Write the main content as Markdown too, with author, date of publication and licence.

        Raises:
            ExportError: There is no such format, or a file of that name and no `replace`.
            ConfigError: There is no such topic, or pyarrow is not installed.
        """
        self._crawl.check_topic(topic)
        target = Path(path)
        form = format or target.suffix.removeprefix(".")
        if form not in FORMATS:
            raise ExportError(f"{form or target.name!r} is not a format; known: {', '.join(FORMATS)}")
        require_parquet(form)
        refuse_taken(target, replace=replace, option="replace=True")
        self._update_pages()
        with PageStoreReader(self._crawl.folder.pages) as collection:
            chosen = {"min_relevance": min_relevance, "relevant": relevant, "duplicates": duplicates, "topic": topic}
            table = rows(collection, text=text, markdown=markdown, **chosen)  # type: ignore[arg-type]
            columns = page_columns(several=bool(self.topics), text=text, markdown=markdown)
            return export(table, form, target, sys.stdout, columns=columns)

    def plot_harvest(self) -> Figure:
        """Plot the harvest rate over the fetched pages.

        Raises:
            ConfigError: matplotlib is not installed.
        """
        self._update_pages()
        return plot_harvest(self._crawl.folder.pages, title=self.name)

    def _update_pages(self) -> None:
        """Copy the pages of other machines from the collection to this folder, if there is one and it answers."""
        try:
            update = self._crawl.backend.update_pages()
            if update and update.flaws:
                warnings.warn(update.flaws, stacklevel=3)
        except (StoreUnreachable, StoreRefused) as error:
            warnings.warn(f"only pages on this machine are read: {error}", stacklevel=3)

    def __repr__(self) -> str:
        return f"<Crawl {self.name!r} in {self.folder}>"

"""`thresher.Crawl`: create, run, inspect and label a crawl from Python.

Asynchronous functions run in a thread of their own, because the caller may have an event loop, as notebooks do.

`plot_harvest` plots the harvest rate over the fetched pages.

`open_or_create` takes a crawl from the arguments of a program; an existing folder is compared with them.
"""

from __future__ import annotations

import asyncio
import io
import sys
import warnings
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import yaml

from thresher.api.pages import Pages
from thresher.api.run import Run
from thresher.api.search_results import FoundPage, find_pages
from thresher.api.topic import Topic
from thresher.api.why import Why, why_of
from thresher.assembly import check_crawl
from thresher.config.folder import CrawlFolder
from thresher.config.renamed_keys import with_current_names
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError, CrawlNotFound, ExportError, StoreRefused, StoreUnreachable
from thresher.export.rows import FORMATS, export, page_columns, refuse_taken, require_parquet, rows
from thresher.operations.create import NewCrawl, checked_seed, create_crawl
from thresher.operations.explain import explain
from thresher.operations.labelling import LabellingResult, add_labels
from thresher.runner.limits import Limits
from thresher.runner.supervisor import SupervisorOptions
from thresher.search.ranking import Filters
from thresher.status import CrawlStatus, status_of
from thresher.storage.reader import PageStoreReader

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


DEFAULT_STRATEGY = "thresher"


@dataclass(frozen=True, kw_only=True)
class CrawlOptions:
    """The arguments of `thresher.Crawl`; empty where not given."""

    topic: Topic | None = None
    seeds: Sequence[str] = ()
    contact: str = ""
    strategy: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def new_crawl(self) -> NewCrawl:
        """Return the definition of a new crawl."""
        topic = self.topic or Topic()
        return NewCrawl(
            topic=topic.words(),
            seeds=self.urls(),
            contact=self.contact,
            strategy=self.strategy or DEFAULT_STRATEGY,
            examples=topic.judged_examples() or None,
            settings=self.settings,
        )

    def urls(self) -> list[str]:
        """Return the seeds as canonical URLs."""
        if isinstance(self.seeds, str):
            raise ConfigError(f"seeds is {self.seeds!r}, expected a list of URLs: [{self.seeds!r}]")
        return list(dict.fromkeys(map(checked_seed, self.seeds)))

    def requested_keys(self) -> dict[str, Any]:
        """Return the keys of topic.yaml that follow from the arguments, with the values that the file would have."""
        document: dict[str, Any] = yaml.safe_load(self.new_crawl().topic_yaml(""))
        keys: dict[str, Any] = {}
        if self.topic:
            keys = {key: document.get(key, {}) for key in ("title", "about", "keywords", "examples")}
        if self.contact:
            keys["politeness"] = {"contact": self.contact}
        if self.strategy:
            keys["strategy"] = {"name": self.strategy}
        for key, value in with_current_names(self.settings).items():
            keys[key] = {**keys.get(key, {}), **value} if isinstance(value, Mapping) else value
        return keys


def open_or_create(root: Path, given: CrawlOptions) -> CrawlSetup:
    """Open the crawl of a folder, or create it.

    Raises:
        CrawlNotFound: There is none, and no topic, seeds or settings are given.
        ConfigError: The arguments are invalid, or differ from the crawl in the folder.
    """
    folder = CrawlFolder(root)
    if not folder.topic.is_file():
        if given == CrawlOptions():
            raise CrawlNotFound(root)
        new_crawl = given.new_crawl()
        if not new_crawl.topic.vectors() and not new_crawl.seeds and "taxonomy" not in given.settings:
            raise ConfigError('the topic has no words; give topic=thresher.Topic("a phrase"), or seeds about it')
        create_crawl(folder, new_crawl)
        return CrawlSetup.open(root)
    crawl = CrawlSetup.open(root)
    for key, here, expected in _differences(crawl, given):
        raise ConfigError(
            f"{folder.topic} is about another crawl: {key} is {here!r}, and {expected!r} was given. Edit the file, "
            f"choose another folder, or open this one as it is: Crawl({str(root)!r})"
        )
    return crawl


def _differences(crawl: CrawlSetup, given: CrawlOptions) -> Iterator[tuple[str, Any, Any]]:
    """Yield each key where topic.yaml or the seeds differ from the arguments, with both values."""
    here = crawl.config.model_dump(mode="json")
    for key, wanted in given.requested_keys().items():
        if key == "title" and [*here[key].values()] == [*wanted.values()]:
            continue  # the language of a phrase may have been chosen by hand, or detected by another version
        if isinstance(wanted, Mapping) and isinstance(here.get(key), Mapping) and key not in ("title", "about"):
            for inner, value in wanted.items():
                if here[key].get(inner) != value:
                    yield f"{key}.{inner}", here[key].get(inner), value
        elif (here.get(key) or None) != (wanted or None):
            yield key, here.get(key), wanted
    if missing := set(given.urls()) - set(crawl.seeds() if given.seeds else ()):
        yield "the list of seeds", crawl.seeds(), sorted(missing)[0]


INCHES = (7.2, 3.6)
WINDOW_PAGES = 50
"""Window of the second curve, the current harvest rate."""
_VERDICTS = "SELECT fetched_at, relevant FROM page WHERE page = 1 AND duplicate_of = 0"


def verdicts(folder: Path) -> list[bool]:
    """Return whether each page is relevant, in the order of the fetches, without duplicates."""
    with PageStoreReader(folder) as collection:
        rows = [tuple(row) for segment in collection.segments for row in segment.execute(_VERDICTS)]
    return [bool(relevant) for _, relevant in sorted(rows)]


def plot_harvest(folder: Path, *, title: str) -> Figure:
    """Plot the harvest rate of all pages so far, and that of the last `WINDOW_PAGES`.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ConfigError('plot_harvest needs matplotlib: pip install "thresher-crawler[notebook]"') from error

    class Picture(Figure):
        """A figure that a notebook can show by itself."""

        def _repr_png_(self) -> bytes:
            packed = io.BytesIO()
            self.savefig(packed, format="png", dpi=110)
            return packed.getvalue()

    figure = Picture(figsize=INCHES, layout="constrained")
    _plot(figure.add_subplot(), verdicts(folder), title)
    return figure


def _plot(axes: Axes, found: list[bool], title: str) -> None:
    numbers = range(1, len(found) + 1)
    recent = [sum(found[max(0, n - WINDOW_PAGES) : n]) / min(n, WINDOW_PAGES) for n in numbers]
    axes.plot(numbers, _running(found), label="all pages so far", color="#1f5fbf")
    axes.plot(numbers, recent, label=f"the last {WINDOW_PAGES}", color="#b35200", linewidth=0.8)
    axes.set(xlabel="pages", ylabel="harvest rate", ylim=(0, 1.02), title=title)
    axes.legend(loc="lower right", frameon=False)
    axes.grid(visible=True, linewidth=0.3)


def _running(found: list[bool]) -> list[float]:
    rates, relevant = [], 0
    for number, yes in enumerate(found, start=1):
        relevant += yes
        rates.append(relevant / number)
    return rates


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
        crawl = CrawlSetup.open(self.folder)
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

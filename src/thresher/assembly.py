"""The composition root: builds the judge, the strategy, the pipeline and the workers of a crawl."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict, Unpack

from thresher import __version__
from thresher.config.access import AccessTable
from thresher.config.browser import uses_browser
from thresher.coordination.model_exchange import StateStores
from thresher.crawl import CrawlSetup
from thresher.errors import ThresherError
from thresher.feedback.label_feed import LabelFeed
from thresher.feedback.labels import LabelStore
from thresher.feedback.updates import JudgementUpdater
from thresher.frontier.base import CrawlStore
from thresher.judges.base import Judge, Learner
from thresher.locale.translation import _
from thresher.politeness.robots import RobotsCache
from thresher.storage.migrations import check_all
from thresher.storage.page_store import Archive, NoArchive, PageStoreWriter
from thresher.storage.warc.base import Captures, warc_writer
from thresher.storage.warc.provenance import Paths
from thresher.strategies.base import Stateful, Strategy

if TYPE_CHECKING:
    from thresher.engine.browser.renderer import Renderer
    from thresher.engine.dns.resolver import GuardedResolver
    from thresher.engine.lease_loop import ResponseProcessor, WorkerContext
    from thresher.parsing.documents.conversion import DocumentConverter
    from thresher.pipeline.host_policy import Parse
    from thresher.pipeline.outcomes import PipelineRules
    from thresher.pipeline.pipeline import Pipeline


def check_crawl(crawl: CrawlSetup) -> None:
    """Check before anything is started whether a crawl can run.

    Raises:
        ConfigError: It cannot; the message says why and what would be right.
        StoreError: A newer Thresher wrote its pages.
    """
    check_all(crawl.folder.pages)
    build_judge(crawl)
    build_strategy(crawl)
    crawl.check_settings()


def build_judge(crawl: CrawlSetup, state_stores: StateStores | None = None) -> Judge:
    """Build the judge with its saved state; with `state_stores` it also saves what it learns."""
    judge = crawl.new_judge()
    if isinstance(judge, Learner):
        _load_state(crawl, judge, "judge", state_stores)
    return judge


def build_strategy(crawl: CrawlSetup, state_stores: StateStores | None = None) -> Strategy:
    """Build the strategy with its saved state; with `state_stores` it also saves what it learns."""
    strategy = crawl.new_strategy()
    if isinstance(strategy, Stateful):
        _load_state(crawl, strategy, "strategy", state_stores)
    return strategy


def _load_state(crawl: CrawlSetup, part: Learner | Stateful, kind: str, state_stores: StateStores | None) -> None:
    """Restore the state of a learner; the entries are untrusted data, and may be damaged."""
    opened = state_stores or crawl.backend.state_stores()
    try:
        part.load_state(opened.of(kind))
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
        place = crawl.backend.state_place(kind)
        raise ThresherError(
            _(
                "what was learned in {place} cannot be read: {error}; move it away to start again",
                place=place,
                error=error,
            )
        ) from error
    finally:
        if state_stores is None:
            opened.close()


def build_label_feed(
    crawl: CrawlSetup, updater: JudgementUpdater, worker: str, labels: LabelStore | None = None
) -> LabelFeed:
    """Build the part of a worker that polls and applies labels; without a label store, with one of its own."""
    store = labels or crawl.backend.labels(patience_seconds=None)
    return LabelFeed(store, updater, worker=worker, pages=crawl.folder.pages, topics=crawl.config.all_topics)


def build_updater(crawl: CrawlSetup, worker: str, frontier: CrawlStore, state_stores: StateStores) -> JudgementUpdater:
    """Build what a worker needs to apply revised judgements, without a pipeline."""
    return JudgementUpdater(
        judge=build_judge(crawl, state_stores),
        strategy=build_strategy(crawl, state_stores),
        frontier=frontier,
        archive=PageStoreWriter(crawl.folder.pages / f"{worker}.db"),
    )


class PipelineParts(TypedDict, total=False):
    """Parts of a pipeline that are given in place of those of the crawl."""

    frontier: CrawlStore
    archive: Archive
    judge: Judge
    strategy: Strategy
    rules: PipelineRules


def build_pipeline(
    crawl: CrawlSetup,
    worker: str | None,
    parse: Parse | None = None,
    *,
    state_stores: StateStores | None = None,
    around: Callable[[CrawlStore], CrawlStore] = lambda frontier: frontier,
    **given: Unpack[PipelineParts],
) -> Pipeline:
    """Build the pipeline of a worker; without a worker's name nothing is stored but in a given archive.

    Args:
        state_stores: The worker's own, to be closed after the pipeline, when everything must be written.
        around: Wraps the frontier, for example with metrics.
        given: Parts in place of those of the crawl; the pipeline closes them too.
    """
    from thresher.parsing.html import parse as parse_html
    from thresher.parsing.isolated import ParserProcess
    from thresher.parsing.main_content import stored_markup  # here: commands that only read need none of these
    from thresher.pipeline.pipeline import Pipeline

    state_stores = state_stores or (crawl.backend.state_stores(worker) if worker else None)
    judge = given.get("judge") or build_judge(crawl, state_stores)  # before any file is written: it may refuse
    strategy = given.get("strategy") or build_strategy(crawl, state_stores)
    archive = given.get("archive") or (PageStoreWriter(crawl.folder.pages / f"{worker}.db") if worker else NoArchive())
    frontier, before = (given["frontier"], None) if "frontier" in given else crawl.backend.worker_frontier(worker or "")
    return Pipeline(
        frontier=around(frontier),
        archive=archive,
        judge=judge,
        strategy=strategy,
        rules=given.get("rules") or crawl.rules(),
        parse=parse or parse_html,
        parser_process=ParserProcess(),
        documents=build_document_converter(crawl),
        captures=_captures(crawl, worker) if worker else None,
        stored_markup=stored_markup if worker else None,
        before_commit=before,
    )


def build_document_converter(crawl: CrawlSetup) -> DocumentConverter | None:
    """Build what reads documents; None when topic.yaml wants none. It has to be closed."""
    from thresher.parsing.documents.conversion import DocumentConverter
    from thresher.parsing.documents.document import DocumentLimits

    documents = crawl.config.documents
    limits = DocumentLimits(max_pages=documents.max_pages, seconds=documents.seconds)
    return DocumentConverter(documents.formats, limits) if documents.formats else None


def _captures(crawl: CrawlSetup, worker: str) -> Captures | None:
    """Build the WARC writer of a worker; None unless topic.yaml wants WARC files.

    Raises:
        ConfigError: A package that writes them is not installed.
    """
    config = crawl.config
    if not config.output.warc:
        return None
    about = {
        "software": f"Thresher/{__version__}",
        "format": "WARC File Format 1.1",
        "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "isPartOf": crawl.name,
        "description": "; ".join([*config.title.values(), *config.keywords]),
        "operator": config.politeness.contact,
        "robots": config.politeness.robots,
    }
    return warc_writer()(crawl.folder.warc, worker, about=about, paths=Paths(crawl.folder.pages))


def build_worker(
    crawl: CrawlSetup,
    worker: str,
    processor: ResponseProcessor,
    *,
    pages: int | None = None,
    label_feed: LabelFeed | None = None,
    renders: bool = False,
) -> WorkerContext:
    """Build what a worker's fetcher needs, whatever takes its responses.

    Args:
        pages: Stop when the crawl has this many pages.
        label_feed: Applies new labels to `processor`; None when there are none.
        renders: Whether pages may be rendered by a browser, where topic.yaml wants it.
    """
    from thresher.engine.browser.notice import ScriptNotice
    from thresher.engine.dns.resolver import GuardedResolver
    from thresher.engine.download.request import ROBOTS_TOKEN
    from thresher.engine.lease_loop import WorkerContext

    config, frontier = crawl.config, processor.frontier
    resolver = GuardedResolver.of(config.network)
    robots = RobotsCache(frontier, token=ROBOTS_TOKEN) if crawl.politeness.obey_robots else None
    has_browser = renders and uses_browser(config)
    notices = renders and not has_browser and config.browser.detect is not False
    return WorkerContext(
        processor=processor,
        robots=robots,
        browser=_renderer(crawl, frontier, robots, resolver) if has_browser else None,
        script_notice=ScriptNotice(frontier) if notices else None,
        worker=worker,
        resolver=resolver,
        scope=crawl.scope(),
        concurrency=config.engine.concurrency,
        lease_seconds=config.engine.lease_seconds,
        timeout_seconds=config.engine.timeout_seconds,
        politeness=crawl.politeness,
        pages=pages,
        label_feed=label_feed,
    )


def _renderer(
    crawl: CrawlSetup, frontier: CrawlStore, robots: RobotsCache | None, resolver: GuardedResolver
) -> Renderer:
    from thresher.engine.browser.renderer import Renderer

    access = AccessTable.of(crawl.config.access, crawl.folder.root)
    return Renderer(crawl.config, frontier, robots, resolver, access)

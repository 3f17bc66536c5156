"""A crawl on disk, and how its parts are built: the only module that turns configuration into parts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from thresher import __version__, registry
from thresher.config.access import AccessTable
from thresher.config.browser import check_browser
from thresher.config.folder import CrawlFolder
from thresher.config.loading import load_config
from thresher.config.schema import CrawlConfig, NamedConfig, check_contact
from thresher.config.upstream_proxy import UpstreamProxy
from thresher.coordination.connection import CONNECT_SECONDS, connect_store, shared_frontier, shared_frontier_reader
from thresher.coordination.model_exchange import FolderStateStores, SharedStateStores, StateStores
from thresher.coordination.pending_uploads import PageOwner, PendingUploads, count_pending_uploads
from thresher.coordination.shared_labels import SharedLabelStore
from thresher.coordination.store_binding import StoreRecord, bound
from thresher.coordination.worker_names import machine_mark
from thresher.errors import ConfigError, NoSeeds, ThresherError
from thresher.feedback.label_feed import LabelFeed
from thresher.feedback.labels import FolderLabelStore, LabelStore
from thresher.feedback.updates import JudgementUpdater
from thresher.frontier.base import CrawlStore
from thresher.frontier.inspect import FrontierReader
from thresher.frontier.sqlite.frontier import SqliteFrontier
from thresher.frontier.sqlite.inspect import SqliteFrontierReader
from thresher.judges.base import Judge, Learner
from thresher.judges.language_filter import only_languages, seed_languages
from thresher.judges.topics import topics_judge
from thresher.objects.base import Objects, open_objects
from thresher.pipeline.host_policy import HostPolicyConfig
from thresher.politeness.host_budget import HostBudget
from thresher.records import Merge, Settlement
from thresher.refresh.queue import RefreshFrontier, queue_path
from thresher.sitemaps.source import SitemapHosts
from thresher.storage.migrations import check_all
from thresher.storage.page_store import COLLECTED, Archive, NoArchive, PageStoreWriter
from thresher.storage.warc.base import Captures, warc_writer
from thresher.storage.warc.provenance import Paths
from thresher.strategies.base import Stateful, Strategy
from thresher.strategies.topics import TopicsStrategy
from thresher.topics.profile import TopicProfile
from thresher.topics.seeds import is_own, seed_url, seeds_of
from thresher.topics.taxonomy.bundled import BUNDLED, BUNDLED_TITLE, with_bundled_spellings
from thresher.topics.taxonomy.classes import ALL_LANGUAGES, class_urls, classes
from thresher.topics.taxonomy.taxonomy import TaxonomyReader
from thresher.topics.token_table import TokenTable
from thresher.topics.topic import TopicDefinition
from thresher.urls.address_policy import networks
from thresher.urls.canonical import host_key
from thresher.urls.scope import SKIPPED_EXTENSIONS, UrlScope
from thresher.urls.store_address import SQLITE

if TYPE_CHECKING:
    from thresher.collection.replica import ReplicaUpdate
    from thresher.collection.status import CollectionStatus
    from thresher.frontier.redis.connection import RedisConnection
    from thresher.parsing.documents.conversion import DocumentConverter
    from thresher.pipeline.links import PipelineRules
    from thresher.pipeline.pipeline import Parse, Pipeline
    from thresher.search.index import SearchIndex


@dataclass(frozen=True)
class CrawlProject:
    """A crawl folder and its configuration.

    Args:
        changes: Overrides of topic.yaml, by flags or by a joined crawl: ``strategy``, ``store``, ``collection`` and
            ``name``; ``refresh``, when pages are visited again.
    """

    folder: CrawlFolder
    config: CrawlConfig
    changes: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, root: Path, *, changes: Mapping[str, str] | None = None) -> CrawlProject:
        """Open an existing crawl.

        Raises:
            CrawlNotFound: The folder holds none.
            ConfigError: Its topic.yaml is not right, or another store is asked for than the crawl's own.
        """
        folder = CrawlFolder(root).existing()
        config = load_config(folder.topic)
        changes = bound(folder, config, {**folder.joined_changes(), **(changes or {})})
        update: dict[str, object] = {key: changes[key] for key in ("store", "name", "collection") if changes.get(key)}
        record = StoreRecord.read(folder)
        if record and not (config.collection or changes.get("collection")):
            update["collection"] = record.collection
        if strategy := changes.get("strategy"):
            update["strategy"] = NamedConfig(name=strategy)
        return cls(folder, config.model_copy(update=update), changes)

    @property
    def name(self) -> str:
        """The crawl's name."""
        return self.config.name or self.folder.name

    def check(self) -> None:
        """Check before anything is started whether this crawl can run.

        Raises:
            ConfigError: It cannot; the message says why and what would be right.
            StoreError: A newer Thresher wrote its pages.
        """
        check_all(self.folder.pages)
        build_judge(self)
        build_strategy(self)
        check_browser(self.config.browser)
        AccessTable.of(self.config.access, self.folder.root)
        if self.config.network.proxy:
            UpstreamProxy.of(self.config.network.proxy)
        if self.config.output.warc:
            warc_writer()
        if self.config.collection:
            self.objects()
        check_contact(self.config.manners.contact)
        allowed = networks(self.config.network.allow)
        outside = [url for url in self.seeds() if not is_own(url, allowed)]
        if self._in_a_lab:
            outside = [url for url in outside if ":" in host_key(url)]
        if outside and not self.config.manners.contact:
            raise ConfigError(
                f"{self.folder.topic}: manners.contact is empty; sites like {host_key(outside[0])} must know whom to "
                "write to: a mail or web address"
            )

    @property
    def _in_a_lab(self) -> bool:
        """Whether ports 80 and 443 of every host are mapped to a server of the user."""
        return {"*:80", "*:443"} <= self.config.network.connect_to.keys()

    @property
    def topic_names(self) -> list[str]:
        """The names of the topics of a crawl of several; empty for a crawl of one topic."""
        return list(self.config.topics)

    @property
    def topic_pages(self) -> dict[str, int | None]:
        """The number of relevant pages that each of several topics wants; None for no limit."""
        return {name: topic.pages for name, topic in self.config.topics.items()}

    def check_topic(self, name: str) -> None:
        """Check that a name is empty or that of one of several topics.

        Raises:
            ConfigError: There is no such topic.
        """
        if name and name not in self.config.topics:
            known = ", ".join(self.config.topics)
            only = f"its topics are {known}" if known else "it is a crawl of one topic"
            raise ConfigError(f"{self.folder.topic} has no topic {name!r}; {only}")

    def topic(self, name: str = "") -> TopicDefinition:
        """Return the topic that the user wants, or one of several; without a name the labels of all of them.

        Raises:
            ConfigError: topic.yaml names a taxonomy or a node that is not there.
        """
        config = self.config
        if config.topics and not name:
            return TopicDefinition(
                title=config.title, nodes=[path for each in config.topics for path in self.topic(each).labels]
            )
        chosen = config.topics[name] if name else config
        topic = TopicDefinition(title=chosen.title, about={} if name else config.about, keywords=chosen.keywords)
        nodes = self.nodes(name)
        if config.taxonomy is None or (name and not nodes):
            return topic
        with self._taxonomy(config.taxonomy.file) as taxonomy:
            found = TopicDefinition.from_nodes(taxonomy, nodes, languages=config.languages)
        return replace(topic, title=chosen.title or found.title, nodes=found.nodes)

    def nodes(self, name: str = "") -> list[str]:
        """Return the nodes of the crawl in its taxonomy, or those of one of its topics."""
        if name:
            return self.config.topics[name].nodes
        return self.config.taxonomy.nodes if self.config.taxonomy else []

    def classes(self) -> Mapping[str, Sequence[str]]:
        """Return the classes of the taxonomy, each with the texts of its example pages; none without a taxonomy."""
        if self.config.taxonomy is None:
            return {}
        with self._example_pages(self.config.taxonomy.file) as taxonomy:
            return classes(taxonomy, least=self.config.taxonomy.least_urls)

    def class_urls(self) -> Mapping[str, Sequence[str]]:
        """Return the classes of the taxonomy, each with the URLs of its example pages; none without a taxonomy."""
        if self.config.taxonomy is None:
            return {}
        with self._example_pages(self.config.taxonomy.file) as taxonomy:
            return class_urls(taxonomy, least=self.config.taxonomy.least_urls)

    def _example_pages(self, file: str) -> TaxonomyReader:
        if file == BUNDLED:
            raise ConfigError(
                f"{self.folder.topic}: classes are learned from example pages, and {BUNDLED_TITLE} has none; name a "
                "taxonomy with example pages in taxonomy.file: thresher topics import FILE -o NAME.taxonomy"
            )
        return self._taxonomy(file)

    def taxonomy(self) -> TaxonomyReader | None:
        """Open the taxonomy of the crawl; None without one."""
        return self._taxonomy(self.config.taxonomy.file) if self.config.taxonomy else None

    def _taxonomy(self, file: str) -> TaxonomyReader:
        if file == BUNDLED:
            return TaxonomyReader.bundled()
        return TaxonomyReader.open(self.folder.root / Path(file).expanduser())

    def threshold(self) -> float:
        """Return the relevance from which a page is relevant: as configured, or the judge's own, or one half."""
        judge = self.config.judge
        own = registry.parameters_of(registry.find("judge", judge.name)).get("threshold", 0.5)
        return float(judge.parameters.get("threshold", own))

    def judge_profile(self, name: str = "") -> TopicProfile:
        """The topic for the judge: also with seeds, examples and classes; with a name, one of several topics."""
        profile, examples = self.topic_profile(name), self.config.examples
        seeds = self.topic_seeds(name) if name else self.seeds()
        if not profile.vectors and not seeds:
            which = f"topic {name}" if name else "the topic"
            raise ConfigError(f"{self.folder.topic}: {which} has no words; give title, keywords or seeds")
        return replace(
            profile,
            seeds=frozenset(seeds),
            no=frozenset(seed_url(url, "examples.no") for url in examples.no),
            classes=self.classes,
            targets=self.targets(name),
        )

    def targets(self, name: str = "") -> frozenset[str]:
        """Return the topic's nodes and their counterparts in other languages."""
        chosen, nodes = self.config.taxonomy, self.nodes(name)
        if chosen is None:
            return frozenset()
        with self._taxonomy(chosen.file) as taxonomy:
            return frozenset(path for node in nodes for path in taxonomy.with_counterparts(node, ALL_LANGUAGES))

    def new_judge(self) -> Judge:
        """Build the judge without its saved state; of several topics, one judge for each."""
        if self.config.topics:
            return topics_judge({name: self._judge_of(name) for name in self.config.topics})
        return self._judge_of("")

    def _judge_of(self, topic: str) -> Judge:
        named, profile, languages = self.config.judge, self.judge_profile(topic), self.config.filtered_languages
        judge: Judge = registry.make("judge", named.name, named.parameters, profile)
        if languages == "auto":
            return seed_languages(judge, self.topic(topic), profile, self._common_seeds())
        return only_languages(judge, languages)

    def new_strategy(self) -> Strategy:
        """Build the strategy without its saved state; of several topics, one strategy for each."""
        if not self.config.topics:
            return self._strategy_of("")
        return TopicsStrategy(
            {name: self._strategy_of(name) for name in self.config.topics},
            seeds={name: frozenset(self.topic_seeds(name)) for name in self.config.topics},
            wanted={name: pages for name, pages in self.topic_pages.items() if pages is not None},
        )

    def _strategy_of(self, topic: str) -> Strategy:
        named = self.config.strategy
        strategy: Strategy = registry.make("strategy", named.name, named.parameters, self.topic_profile(topic))
        return strategy

    def state_stores(self, worker: str = "") -> StateStores:
        """Open the state stores of a worker's learners, with those of other workers; without a name, read only."""
        if self.is_shared:
            seconds = None if worker else CONNECT_SECONDS
            return SharedStateStores(self.connection(patience_seconds=seconds), self.name, worker)
        return FolderStateStores(self.folder.model, worker)

    def _token_table(self) -> TokenTable:
        table = TokenTable.for_crawl(self.folder.root)
        return with_bundled_spellings(table) if self.config.taxonomy else table

    def topic_profile(self, name: str = "") -> TopicProfile:
        """The topic for the strategy; with a name, one of several."""
        topic = self.topic(name)
        return TopicProfile(
            vectors=topic.vectors(),
            labels=topic.labels,
            phrases=[*topic.title.values(), *topic.keywords],
            tokens=self._token_table(),
            yes=frozenset(seed_url(url, "examples.yes") for url in self.config.examples.yes),
            model=self.folder.model / "trained",
        )

    @property
    def is_shared(self) -> bool:
        """Whether the frontier is in a store that other machines can reach."""
        return self.config.store != SQLITE

    @property
    def counted_pages(self) -> Path | None:
        """The folder with all pages of the crawl; None when other machines have some, or in a refresh."""
        return None if self.is_shared or self.is_refresh else self.folder.pages

    def connection(self, *, patience_seconds: float | None = None) -> RedisConnection:
        """Return a connection to the shared store; without `patience_seconds` it retries for ever."""
        return connect_store(self.config.store, patience_seconds=patience_seconds)

    @property
    def id(self) -> str:
        """The id of the crawl, as its folder records it; empty before its first run."""
        record = StoreRecord.read(self.folder)
        return record.id if record else ""

    def frontier(
        self,
        *,
        patience_seconds: float | None = CONNECT_SECONDS,
        crawl_id: str | None = None,
        connection: RedisConnection | None = None,
    ) -> CrawlStore:
        """Open the frontier.

        Args:
            patience_seconds: How long to wait for a store that does not respond; None for ever.
            crawl_id: The id that the store must hold, in place of the recorded one; empty for any.
            connection: To the shared store, in place of a new one; closed with the frontier.

        Raises:
            StoreLost: The store has lost the crawl; for a shared store, by the first call.
        """
        crawl_id = self.id if crawl_id is None else crawl_id
        merge, delay_seconds = self.new_strategy().merge, self.config.manners.delay_seconds
        if not self.is_shared:
            home = SqliteFrontier(self.folder.frontier, merge=merge, delay_seconds=delay_seconds, crawl_id=crawl_id)
            return RefreshFrontier(self.visits(), home) if self.is_refresh else home
        connection = connection or self.connection(patience_seconds=patience_seconds)
        tiers = self.config.frontier.with_cold_in(self.config.collection)
        return shared_frontier(
            connection, self.name, tiers, crawl_id=crawl_id, merge=merge, delay_seconds=delay_seconds
        )

    def frontier_reader(self) -> FrontierReader:
        """Open the frontier for reading; the folder may be read-only."""
        delay_seconds = self.config.manners.delay_seconds
        if not self.is_shared:
            return SqliteFrontierReader(self.folder.frontier, delay_seconds=delay_seconds, crawl_id=self.id)
        connection = self.connection(patience_seconds=CONNECT_SECONDS)
        tiers = self.config.frontier.with_cold_in(self.config.collection)
        return shared_frontier_reader(connection, self.name, tiers, crawl_id=self.id, delay_seconds=delay_seconds)

    def objects(self) -> Objects:
        """Open the collection.

        Raises:
            ConfigError: It cannot be opened, or a package is not installed.
        """
        return open_objects(self.config.collection)

    def update_pages(self, progress: Callable[[int], None] = lambda rows: None) -> ReplicaUpdate | None:
        """Copy to this folder what other machines have added to the collection; None without a collection.

        Raises:
            StoreUnreachable: The collection does not answer.
        """
        if not self.config.collection:
            return None
        objects = self.objects()
        from thresher.collection.replica import Replica

        return Replica(self.folder.pages).update(objects, progress=progress)

    def update_search(self, index: SearchIndex) -> None:
        """Add search segments of the collection to an index, after `update_pages`; what they lack is indexed here."""
        if self.config.collection:
            from thresher.collection.replica import update_search

            update_search(self.objects(), self.folder.pages / COLLECTED, index)

    async def collection_status(self) -> CollectionStatus | None:
        """Return how much is in the collection, and how much waits; None without a collection."""
        if not self.config.collection:
            return None
        objects = self.objects()
        from thresher.collection.status import collection_status

        pending = None
        if self.is_shared:
            pending = await count_pending_uploads(self.connection(patience_seconds=CONNECT_SECONDS), self.name)
        return await asyncio.to_thread(collection_status, objects, self.folder.pages, self.folder.segments(), pending)

    def labels(self, *, patience_seconds: float | None = CONNECT_SECONDS) -> LabelStore:
        """Open the labels of this crawl."""
        if self.is_shared:
            return SharedLabelStore(self.connection(patience_seconds=patience_seconds), self.name)
        return FolderLabelStore(self.folder.labels)

    @property
    def is_refresh(self) -> bool:
        """Whether pages are visited again, and no new ones fetched."""
        return "refresh" in self.changes

    def visits(self) -> CrawlStore:
        """Open the frontier of a refresh; finding a page again does not change the score of its visit."""
        delay_seconds = self.config.manners.delay_seconds
        return SqliteFrontier(queue_path(self.folder.root), merge=Merge.FIRST, delay_seconds=delay_seconds)

    def rules(self) -> PipelineRules:
        """Return the rules of the pipeline."""
        from thresher.pipeline.links import PipelineRules

        config = self.config
        return PipelineRules(
            scope=self.scope(),
            watch=self._host_policy_config(),
            obey_nofollow=config.manners.nofollow == "obey",
            keep_irrelevant=config.output.keep_irrelevant,
            skip_block_pages=config.scope.block_pages == "skip",
            obey_opt_outs=config.manners.ai_optout == "obey",
        )

    def scope(self) -> UrlScope:
        """Return which URLs may be fetched."""
        config = self.config
        return UrlScope(
            allow_hosts=tuple(config.scope.allow_hosts),
            deny_hosts=tuple(config.scope.deny_hosts),
            max_depth=config.scope.max_depth,
            own_hosts_only=not config.manners.contact,
            stand_in=self._in_a_lab,
            skipped_extensions=SKIPPED_EXTENSIONS - {*config.documents.formats},
        )

    def document_converter(self) -> DocumentConverter | None:
        """Build what reads documents; None when topic.yaml wants none. It has to be closed."""
        from thresher.parsing.documents.conversion import DocumentConverter
        from thresher.parsing.documents.document import DocumentLimits

        documents = self.config.documents
        limits = DocumentLimits(max_pages=documents.max_pages, seconds=documents.seconds)
        return DocumentConverter(documents.formats, limits) if documents.formats else None

    def _host_policy_config(self) -> HostPolicyConfig:
        scope = self.config.scope
        budget = HostBudget(
            most=scope.max_pages_per_host, first=scope.first_pages_per_host, per_relevant=scope.pages_per_relevant
        )
        sitemaps, feeds = self._listing_hosts(self.config.sitemaps), self._listing_hosts(self.config.feeds)
        return HostPolicyConfig(budget=budget, traps=scope.traps == "leave", sitemaps=sitemaps, feeds=feeds)

    def _listing_hosts(self, which: str) -> SitemapHosts | None:
        """Return the hosts whose sitemaps or feeds are read; None for no host."""
        hosts = frozenset(map(host_key, self.seeds())) if which == "seeds" else None
        return None if which == "off" else SitemapHosts(hosts=hosts)

    def seeds(self) -> list[str]:
        """Return the seed URLs in their order.

        Raises:
            ConfigError: A line is no http or https URL, or a file is missing.
            NoSeeds: There is no seed at all.
        """
        urls = self._common_seeds()
        urls += [url for name in self.config.topics for url in self.topic_seeds(name)]
        urls += [seed_url(url, "examples") for url in (*self.config.examples.yes, *self.config.examples.no)]
        if not urls:
            raise NoSeeds(self.folder.seeds)
        return list(dict.fromkeys(urls))

    def topic_seeds(self, name: str) -> list[str]:
        """Return the seeds of one of several topics."""
        return [url for entry in self.config.topics[name].seeds for url in seeds_of(entry, self.folder.topic)]

    def _common_seeds(self) -> list[str]:
        """Return the seeds of the crawl, not those of its topics; seeds.txt may be missing if topics have seeds."""
        config = self.config
        is_optional = any(topic.seeds for topic in config.topics.values()) and "seeds" not in config.model_fields_set
        if is_optional and not self.folder.seeds.is_file():
            return []
        return [url for entry in config.seeds for url in seeds_of(entry, self.folder.topic)]


def build_judge(crawl: CrawlProject, state_stores: StateStores | None = None) -> Judge:
    """Build the judge with its saved state; with `state_stores` it also saves what it learns."""
    judge = crawl.new_judge()
    if isinstance(judge, Learner):
        _load_state(crawl, judge, "judge", state_stores)
    return judge


def build_strategy(crawl: CrawlProject, state_stores: StateStores | None = None) -> Strategy:
    """Build the strategy with its saved state; with `state_stores` it also saves what it learns."""
    strategy = crawl.new_strategy()
    if isinstance(strategy, Stateful):
        _load_state(crawl, strategy, "strategy", state_stores)
    return strategy


def _load_state(crawl: CrawlProject, part: Learner | Stateful, kind: str, state_stores: StateStores | None) -> None:
    """Restore the state of a learner; the entries are untrusted data, and may be damaged."""
    opened = state_stores or crawl.state_stores()
    try:
        part.load_state(opened.of(kind))
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
        place = f"the store of {crawl.name}" if crawl.is_shared else crawl.folder.model / kind
        raise ThresherError(
            f"what was learned in {place} cannot be read: {error}; move it away to start again"
        ) from error
    finally:
        if state_stores is None:
            opened.close()


def build_label_feed(crawl: CrawlProject, updater: JudgementUpdater, worker: str) -> LabelFeed:
    """Build the part of a worker that polls and applies labels."""
    label_store = crawl.labels(patience_seconds=None)
    return LabelFeed(label_store, updater, worker=worker, pages=crawl.folder.pages, topics=crawl.topic_names)


def build_updater(crawl: CrawlProject, worker: str, state_stores: StateStores) -> JudgementUpdater:
    """Build what a worker needs to apply revised judgements, without a pipeline."""
    return JudgementUpdater(
        judge=build_judge(crawl, state_stores),
        strategy=build_strategy(crawl, state_stores),
        frontier=crawl.frontier(),
        archive=PageStoreWriter(crawl.folder.pages / f"{worker}.db"),
    )


def build_pipeline(
    crawl: CrawlProject,
    worker: str | None,
    parse: Parse | None = None,
    *,
    state_stores: StateStores | None = None,
    around: Callable[[CrawlStore], CrawlStore] = lambda frontier: frontier,
) -> Pipeline:
    """Build the pipeline of a worker; without a worker's name nothing is stored.

    Args:
        state_stores: The worker's own, to be closed after the pipeline, when everything must be written.
        around: Wraps the frontier, for example with metrics.
    """
    from thresher.parsing.html import parse as parse_html
    from thresher.parsing.isolated import ParserProcess
    from thresher.parsing.main_content import stored_markup  # here: commands that only read need none of these
    from thresher.pipeline.pipeline import Pipeline

    state_stores = state_stores or (crawl.state_stores(worker) if worker else None)
    judge = build_judge(crawl, state_stores)  # before anything is written: a folder may be refused
    strategy = build_strategy(crawl, state_stores)
    archive: Archive = PageStoreWriter(crawl.folder.pages / f"{worker}.db") if worker else NoArchive()
    connection = crawl.connection() if crawl.is_shared else None
    return Pipeline(
        frontier=around(crawl.frontier(patience_seconds=None, connection=connection)),
        archive=archive,
        judge=judge,
        strategy=strategy,
        rules=crawl.rules(),
        parse=parse or parse_html,
        parser_process=ParserProcess(),
        documents=crawl.document_converter(),
        captures=_captures(crawl, worker) if worker else None,
        stored_markup=stored_markup if worker else None,
        before_commit=_list_pending(crawl, worker, connection) if worker and connection else None,
    )


def _list_pending(
    crawl: CrawlProject, worker: str, connection: RedisConnection
) -> Callable[[Sequence[Settlement]], Awaitable[None]] | None:
    """Return what lists the URLs of a worker until their pages are in the collection; None without a collection."""
    if not crawl.config.collection or crawl.is_refresh:
        return None
    pending, owner = PendingUploads(connection, crawl.name), PageOwner(worker, machine_mark(crawl.folder))
    return lambda settlements: pending.add(owner, settlements)


def _captures(crawl: CrawlProject, worker: str) -> Captures | None:
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
        "operator": config.manners.contact,
        "robots": config.manners.robots,
    }
    return warc_writer()(crawl.folder.warc, worker, about=about, paths=Paths(crawl.folder.pages))

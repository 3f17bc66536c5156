"""A crawl on disk: its folder, its configuration, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from thresher import registry
from thresher.backend import BackendSettings, CrawlBackend, CrawlResources, open_backend
from thresher.config.access import AccessTable
from thresher.config.browser import check_browser
from thresher.config.folder import CrawlFolder
from thresher.config.identity import Identity
from thresher.config.loading import load_config
from thresher.config.run_options import RunOptions
from thresher.config.schema import CrawlConfig, NamedConfig, check_contact
from thresher.config.upstream_proxy import UpstreamProxy
from thresher.coordination.store_binding import StoreRecord, bound
from thresher.errors import ConfigError, NoSeeds
from thresher.frontier.base import async_closing
from thresher.judges.base import Judge
from thresher.judges.language_filter import only_languages, seed_languages
from thresher.judges.topics import topics_judge
from thresher.locale.translation import _
from thresher.politeness.host_budget import HostBudget
from thresher.politeness.settings import Politeness
from thresher.records import ONE_TOPIC
from thresher.sitemaps.source import SitemapHosts
from thresher.storage.warc.base import warc_writer
from thresher.strategies.base import Strategy
from thresher.strategies.topics import topics_strategy
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

if TYPE_CHECKING:
    from thresher.pipeline.host_policy import HostPolicyConfig
    from thresher.pipeline.outcomes import PipelineRules


@dataclass(frozen=True)
class CrawlSetup:
    """A crawl folder and its configuration, with the options of a run; it holds nothing open."""

    folder: CrawlFolder
    config: CrawlConfig
    options: RunOptions = field(default_factory=RunOptions)
    waiting_per_host: ClassVar[int] = 10_000
    """Maximum number of waiting URLs of a host in the frontier of one machine."""

    @classmethod
    def open(cls, root: Path, options: RunOptions | None = None) -> CrawlSetup:
        """Open an existing crawl.

        Raises:
            CrawlNotFound: The folder holds none.
            ConfigError: Its topic.yaml is not right, or another store is asked for than the crawl's own.
        """
        folder = CrawlFolder(root).existing()
        config = load_config(folder.topic)
        options = bound(folder, config, (options or RunOptions()).over(folder.joined_options()))
        update: dict[str, object] = dict(options.stored())
        record = StoreRecord.read(folder)
        if record and not (config.collection or options.collection):
            update["collection"] = record.collection
        if options.strategy:
            update["strategy"] = NamedConfig(name=options.strategy)
        return cls(folder, config.model_copy(update=update), options)

    @property
    def name(self) -> str:
        """The crawl's name."""
        return self.config.name or self.folder.name

    @property
    def politeness(self) -> Politeness:
        """How sites are treated."""
        return Politeness.from_config(self.config.politeness)

    def check_settings(self) -> None:
        """Check what needs no judge and no strategy; see `assembly.check_crawl`.

        Raises:
            ConfigError: The crawl cannot run; the message says why and what would be right.
        """
        check_browser(self.config.browser)
        AccessTable.of(self.config.access, self.folder.root)
        Identity.of(self.config.identity)
        if self.config.network.proxy:
            UpstreamProxy.of(self.config.network.proxy)
        if self.config.output.warc:
            warc_writer()
        if self.config.collection:
            self.backend.objects()
        check_contact(self.config.politeness.contact)
        allowed = networks(self.config.network.allow)
        outside = [url for url in self.seeds() if not is_own(url, allowed)]
        if self._in_a_lab:
            outside = [url for url in outside if ":" in host_key(url)]
        if outside and not self.config.politeness.contact:
            raise ConfigError(
                _(
                    "{file}: politeness.contact is empty; sites like {host} must know whom "
                    "to write to: a mail or web address",
                    file=self.folder.topic,
                    host=host_key(outside[0]),
                )
            )

    @property
    def _in_a_lab(self) -> bool:
        """Whether ports 80 and 443 of every host are mapped to a server of the user."""
        return {"*:80", "*:443"} <= self.config.network.connect_to.keys()

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
            only = _("its topics are {known}", known=known) if known else _("it is a crawl of one topic")
            raise ConfigError(_("{file} has no topic {name!r}; {only}", file=self.folder.topic, name=name, only=only))

    def topic(self, name: str = ONE_TOPIC) -> TopicDefinition:
        """Return a topic; without a name the only one, or the labels of all.

        Raises:
            ConfigError: topic.yaml names a taxonomy or a node that is not there.
        """
        config = self.config
        if config.topics and name == ONE_TOPIC:
            labels = [path for each in config.topics for path in self.topic(each).labels]
            return TopicDefinition(title=config.title, nodes=labels)
        chosen = config.all_topics[name]
        topic = TopicDefinition(title=chosen.title, about=config.about, keywords=chosen.keywords)
        if config.taxonomy is None or (config.topics and not chosen.nodes):
            return topic
        with self._taxonomy(config.taxonomy.file) as taxonomy:
            found = TopicDefinition.from_nodes(taxonomy, chosen.nodes, languages=config.languages)
        return replace(topic, title=chosen.title or found.title, nodes=found.nodes)

    def classes(self) -> Mapping[str, Sequence[str]]:
        """Return the classes of the taxonomy, each with the texts of its example pages; none without a taxonomy."""
        if self.config.taxonomy is None:
            return {}
        with self._example_pages(self.config.taxonomy.file) as taxonomy:
            return classes(taxonomy, least=self.config.taxonomy.min_urls_per_class)

    def class_urls(self) -> Mapping[str, Sequence[str]]:
        """Return the classes of the taxonomy, each with the URLs of its example pages; none without a taxonomy."""
        if self.config.taxonomy is None:
            return {}
        with self._example_pages(self.config.taxonomy.file) as taxonomy:
            return class_urls(taxonomy, least=self.config.taxonomy.min_urls_per_class)

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
        build = registry.find("judge", self.config.judge.name)
        threshold = (registry.parameters_of(build) | dict(self.config.judge.parameters)).get("threshold", 0.5)
        return float(getattr(build, "auto_threshold", 0.5) if threshold == "auto" else threshold)

    def judge_profile(self, name: str = ONE_TOPIC) -> TopicProfile:
        """A topic for the judge: also with seeds, examples and classes."""
        profile, examples, seeds = self.topic_profile(name), self.config.examples, self.topic_seeds(name)
        if not profile.vectors and not seeds:
            which = _("topic {name}", name=name) if name else _("the topic")
            raise ConfigError(
                _("{file}: {topic} has no words; give title, keywords or seeds", file=self.folder.topic, topic=which)
            )
        return replace(
            profile,
            seeds=frozenset(seeds),
            no=frozenset(seed_url(url, "examples.no") for url in examples.no),
            classes=self.classes,
            targets=self.targets(name),
        )

    def targets(self, name: str = ONE_TOPIC) -> frozenset[str]:
        """Return a topic's nodes and their counterparts in other languages; none for several topics together."""
        topic, chosen = self.config.all_topics.get(name), self.config.taxonomy
        if topic is None or chosen is None:
            return frozenset()
        with self._taxonomy(chosen.file) as taxonomy:
            return frozenset(path for node in topic.nodes for path in taxonomy.with_counterparts(node, ALL_LANGUAGES))

    def new_judge(self) -> Judge:
        """Build the judge without its saved state: one for each topic."""
        return topics_judge({name: self._judge_of(name) for name in self.config.all_topics})

    def _judge_of(self, topic: str) -> Judge:
        named, profile, languages = self.config.judge, self.judge_profile(topic), self.config.filtered_languages
        judge: Judge = registry.make("judge", named.name, named.parameters, profile)
        if languages == "auto":
            return seed_languages(judge, self.topic(topic), profile, self._common_seeds())
        return only_languages(judge, languages)

    def new_strategy(self) -> Strategy:
        """Build the strategy without its saved state: one for each topic."""
        return topics_strategy(
            {name: self._strategy_of(name) for name in self.config.all_topics},
            seeds={name: frozenset(self.topic_seeds(name)) for name in self.config.topics},
            wanted={name: pages for name, pages in self.topic_pages.items() if pages is not None},
        )

    def _strategy_of(self, topic: str) -> Strategy:
        named = self.config.strategy
        strategy: Strategy = registry.make("strategy", named.name, named.parameters, self.topic_profile(topic))
        return strategy

    def _token_table(self) -> TokenTable:
        table = TokenTable.for_crawl(self.folder.root)
        return with_bundled_spellings(table) if self.config.taxonomy else table

    def topic_profile(self, name: str = ONE_TOPIC) -> TopicProfile:
        """A topic for the strategy."""
        topic = self.topic(name)
        return TopicProfile(
            vectors=topic.vectors(),
            labels=topic.labels,
            phrases=[*topic.title.values(), *topic.keywords],
            tokens=self._token_table(),
            yes=frozenset(seed_url(url, "examples.yes") for url in self.config.examples.yes),
            model=self.folder.model / "trained",
        )

    @cached_property
    def backend(self) -> CrawlBackend:
        """Where frontier, labels and models are, and who works on the crawl."""
        settings = BackendSettings(
            name=self.name,
            folder=self.folder,
            config=self.config,
            options=self.options,
            merge=lambda: self.new_strategy().merge,
            waiting_per_host=self.waiting_per_host,
        )
        return open_backend(settings)

    def connect(self) -> AbstractAsyncContextManager[CrawlResources]:
        """Give the resources of the backend for the duration of a block."""
        return async_closing(CrawlResources(self.backend))

    @property
    def is_refresh(self) -> bool:
        """Whether pages are visited again, and no new ones fetched."""
        return self.options.refresh

    def rules(self) -> PipelineRules:
        """Return the rules of the pipeline."""
        from thresher.pipeline.outcomes import PipelineRules

        config = self.config
        return PipelineRules(
            scope=self.scope(),
            host_limits=self._host_policy_config(),
            politeness=self.politeness,
            keep_irrelevant=config.output.keep_irrelevant,
            skip_block_pages=config.scope.block_pages == "skip",
        )

    def scope(self) -> UrlScope:
        """Return which URLs may be fetched."""
        config = self.config
        return UrlScope(
            allow_hosts=tuple(config.scope.allow_hosts),
            deny_hosts=tuple(config.scope.deny_hosts),
            max_depth=config.scope.max_depth,
            own_hosts_only=not self.politeness.contact,
            stand_in=self._in_a_lab,
            skipped_extensions=SKIPPED_EXTENSIONS - {*config.documents.formats},
        )

    def _host_policy_config(self) -> HostPolicyConfig:
        from thresher.pipeline.host_policy import HostPolicyConfig

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
        """Return the seeds of a topic; the only one takes all."""
        if name == ONE_TOPIC:
            return self.seeds()
        return [url for entry in self.config.topics[name].seeds for url in seeds_of(entry, self.folder.topic)]

    def _common_seeds(self) -> list[str]:
        """Return the seeds of the crawl, not those of its topics; seeds.txt may be missing if topics have seeds."""
        config = self.config
        is_optional = any(topic.seeds for topic in config.topics.values()) and "seeds" not in config.model_fields_set
        if is_optional and not self.folder.seeds.is_file():
            return []
        return [url for entry in config.seeds for url in seeds_of(entry, self.folder.topic)]

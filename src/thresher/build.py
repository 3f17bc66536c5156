"""From a crawl folder to its parts: the only place that reads configuration and puts parts together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from thresher import __version__, registry
from thresher.archive.captures import Captures, warc_writer
from thresher.archive.formats import check_all
from thresher.archive.pages import Archive, NoArchive, PageWriter
from thresher.archive.warc_paths import Paths
from thresher.budgets import Budget
from thresher.chromium import check_browser
from thresher.classify.base import Brief, Judge, Learner
from thresher.config import CrawlConfig, Named, check_contact
from thresher.config_file import load_config
from thresher.errors import ConfigError, ThresherError
from thresher.fleet.binding import StoreRecord, bound
from thresher.fleet.labels import StoreLabels
from thresher.fleet.links import HELLO_SECONDS, shared_frontier, shared_look, store_link
from thresher.fleet.notebooks import FolderNotebooks, Notebooks, StoreNotebooks
from thresher.folder import CrawlFolder
from thresher.frontier.base import Frontier
from thresher.frontier.look import Look
from thresher.frontier.sqlite import SqliteFrontier
from thresher.frontier.sqlite_look import SqliteLook
from thresher.hearing import Hearing
from thresher.labels import FolderLabels, LabelBook
from thresher.records import Merge
from thresher.refresh.files import queue_path
from thresher.refresh.frontier import RefreshFrontier
from thresher.rethink import Rethink
from thresher.sitemaps.source import SitemapHosts
from thresher.strategies.aim import Aim
from thresher.strategies.base import Rememberer, Strategy
from thresher.topics.flatten import ALL_LANGUAGES, class_urls, classes
from thresher.topics.seed_files import is_own, seed_url, seeds_of
from thresher.topics.taxonomy import Taxonomy
from thresher.topics.token_table import TokenTable
from thresher.topics.topic import Topic
from thresher.urls.addresses import networks
from thresher.urls.host import host_key
from thresher.urls.scope import Scope
from thresher.urls.store_address import SQLITE
from thresher.warden import Watchfulness

if TYPE_CHECKING:
    from thresher.frontier.redis.link import StoreLink
    from thresher.line import Line, Parse, Rules


@dataclass(frozen=True)
class Crawl:
    """A crawl folder and what its topic.yaml says; parts are made when asked for.

    Args:
        changes: What flags, or the crawl that was joined, put in the place of topic.yaml's words: ``strategy``,
            ``store`` and ``name``; ``refresh``, when pages are visited again.
    """

    folder: CrawlFolder
    config: CrawlConfig
    changes: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, root: Path, *, changes: Mapping[str, str] | None = None) -> Crawl:
        """Open an existing crawl.

        Raises:
            CrawlNotFound: The folder holds none.
            ConfigError: Its topic.yaml is not right, or another store is asked for than the crawl's own.
        """
        folder = CrawlFolder(root).existing()
        config = load_config(folder.topic)
        changes = bound(folder, config, {**folder.joined_changes(), **(changes or {})})
        update: dict[str, object] = {key: changes[key] for key in ("store", "name") if changes.get(key)}
        if strategy := changes.get("strategy"):
            update["strategy"] = Named(name=strategy)
        return cls(folder, config.model_copy(update=update), changes)

    @property
    def name(self) -> str:
        """The crawl's name."""
        return self.config.name or self.folder.name

    def check(self) -> None:
        """Find out before anything is started whether this crawl can run.

        Raises:
            ConfigError: It cannot; the message says why and what would be right.
            StoreError: A newer Thresher wrote its pages.
        """
        check_all(self.folder.pages)
        self.judge()
        self.strategy()
        check_browser(self.config.browser)
        if self.config.output.warc:
            warc_writer()
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
        """Whether no host is asked on its usual ports, because a server of the user's own answers for all."""
        return {"*:80", "*:443"} <= self.config.network.connect_to.keys()

    def topic(self) -> Topic:
        """What the user wants, as words.

        Raises:
            ConfigError: topic.yaml names a taxonomy or a node that is not there.
        """
        config = self.config
        topic = Topic(title=config.title, about=config.about, keywords=config.keywords)
        if config.taxonomy is None:
            return topic
        with self._taxonomy(config.taxonomy.file) as taxonomy:
            chosen = Topic.from_nodes(taxonomy, config.taxonomy.nodes, languages=config.languages)
        return replace(topic, title=config.title or chosen.title, nodes=chosen.nodes)

    def classes(self) -> Mapping[str, Sequence[str]]:
        """Return the classes of the taxonomy, each with the texts of its example pages; none without a taxonomy."""
        if self.config.taxonomy is None:
            return {}
        with self._taxonomy(self.config.taxonomy.file) as taxonomy:
            return classes(taxonomy, least=self.config.taxonomy.least_urls)

    def class_urls(self) -> Mapping[str, Sequence[str]]:
        """Return the classes of the taxonomy, each with the URLs of its example pages; none without a taxonomy."""
        if self.config.taxonomy is None:
            return {}
        with self._taxonomy(self.config.taxonomy.file) as taxonomy:
            return class_urls(taxonomy, least=self.config.taxonomy.least_urls)

    def _taxonomy(self, file: str) -> Taxonomy:
        return Taxonomy.open(self.folder.root / Path(file).expanduser())

    def judge(self, notebooks: Notebooks | None = None) -> Judge:
        """What decides whether a page is on topic, with all it has learned; with notebooks it goes on learning."""
        judge: Judge = registry.make("judge", self.config.judge.name, self.config.judge.parameters, self.brief())
        if isinstance(judge, Learner):
            self._take_up(judge, "judge", notebooks)
        return judge

    def threshold(self) -> float:
        """Return the relevance from which a page is relevant: as configured, or the judge's own, or one half."""
        judge = self.config.judge
        own = registry.parameters_of(registry.find("judge", judge.name)).get("threshold", 0.5)
        return float(judge.parameters.get("threshold", own))

    def brief(self) -> Brief:
        """What the judge is told of the topic."""
        topic, examples = self.topic(), self.config.examples
        vectors, seeds = topic.vectors(), self.seeds()
        if not vectors and not seeds:
            raise ConfigError(f"{self.folder.topic}: the topic has no words; give title, keywords or seeds")
        return Brief(
            phrases=[*topic.title.values(), *topic.keywords],
            vectors=vectors,
            seeds=frozenset(seeds),
            yes=frozenset(seed_url(url, "examples.yes") for url in examples.yes),
            no=frozenset(seed_url(url, "examples.no") for url in examples.no),
            classes=self.classes,
            targets=self._targets(),
        )

    def _targets(self) -> frozenset[str]:
        """Return the topic's nodes and their counterparts in other languages."""
        chosen = self.config.taxonomy
        if chosen is None:
            return frozenset()
        with self._taxonomy(chosen.file) as taxonomy:
            return frozenset(path for node in chosen.nodes for path in taxonomy.with_counterparts(node, ALL_LANGUAGES))

    def strategy(self, notebooks: Notebooks | None = None) -> Strategy:
        """The order in which links are followed, with all it has learned; with notebooks it goes on learning."""
        strategy = self._new_strategy()
        if isinstance(strategy, Rememberer):
            self._take_up(strategy, "strategy", notebooks)
        return strategy

    def _new_strategy(self) -> Strategy:
        named = self.config.strategy
        strategy: Strategy = registry.make("strategy", named.name, named.parameters, self.aim())
        return strategy

    def notebooks(self, worker: str = "") -> Notebooks:
        """Where a worker's parts write down what they learn, and read what others did; without a name, only read."""
        if self.is_shared:
            seconds = None if worker else HELLO_SECONDS
            return StoreNotebooks(self.link(patience_seconds=seconds), self.name, worker)
        return FolderNotebooks(self.folder.model, worker)

    def _take_up(self, part: Learner | Rememberer, called: str, notebooks: Notebooks | None) -> None:
        """Let a part go on from what was written down; such notes are data, and may be damaged or a stranger's."""
        opened = notebooks or self.notebooks()
        try:
            part.keep_in(opened.of(called))
        except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
            place = f"the store of {self.name}" if self.is_shared else self.folder.model / called
            raise ThresherError(
                f"what was learned in {place} cannot be read: {error}; move it away to start anew"
            ) from error
        finally:
            if notebooks is None:
                opened.close()

    def aim(self) -> Aim:
        """What the strategy is told of the topic."""
        topic = self.topic()
        return Aim(
            vectors=topic.vectors(),
            labels=topic.labels,
            phrases=[*topic.title.values(), *topic.keywords],
            tokens=TokenTable.for_crawl(self.folder.root),
            model=self.folder.model / "trained",
        )

    @property
    def is_shared(self) -> bool:
        """Whether the queue lies in a store that other machines can reach too."""
        return self.config.store != SQLITE

    @property
    def counted_pages(self) -> Path | None:
        """The folder of all pages of the crawl; None when others hold some, or when pages are visited again."""
        return None if self.is_shared or self.is_refresh else self.folder.pages

    def link(self, *, patience_seconds: float | None = None) -> StoreLink:
        """Return a connection to the store that the machines of this crawl share; without patience, one that waits."""
        return store_link(self.config.store, patience_seconds=patience_seconds)

    @property
    def id(self) -> str:
        """What tells this crawl from every other, as its folder records it; empty before its first run."""
        record = StoreRecord.read(self.folder)
        return record.id if record else ""

    def frontier(self, *, patience_seconds: float | None = HELLO_SECONDS, crawl_id: str | None = None) -> Frontier:
        """The queue of this crawl.

        Args:
            patience_seconds: How long a store that does not answer is waited for; None for ever.
            crawl_id: The id that the store must hold, in place of the recorded one; empty for any.

        Raises:
            StoreLost: The store has lost the crawl; a shared one is asked by the first call.
        """
        crawl_id = self.id if crawl_id is None else crawl_id
        merge, delay_seconds = self._new_strategy().merge, self.config.manners.delay_seconds
        if not self.is_shared:
            home = SqliteFrontier(self.folder.frontier, merge=merge, delay_seconds=delay_seconds, crawl_id=crawl_id)
            return RefreshFrontier(self.visits(), home) if self.is_refresh else home
        link = self.link(patience_seconds=patience_seconds)
        return shared_frontier(link, self.name, crawl_id=crawl_id, merge=merge, delay_seconds=delay_seconds)

    def look(self) -> Look:
        """The queue of this crawl for commands that only read; its folder may be read-only."""
        delay_seconds = self.config.manners.delay_seconds
        if not self.is_shared:
            return SqliteLook(self.folder.frontier, delay_seconds=delay_seconds, crawl_id=self.id)
        link = self.link(patience_seconds=HELLO_SECONDS)
        return shared_look(link, self.name, crawl_id=self.id, delay_seconds=delay_seconds)

    def labels(self, *, patience_seconds: float | None = HELLO_SECONDS) -> LabelBook:
        """What people said of the pages of this crawl."""
        if self.is_shared:
            return StoreLabels(self.link(patience_seconds=patience_seconds), self.name)
        return FolderLabels(self.folder.labels)

    def hearing(self, rethink: Rethink, worker: str) -> Hearing:
        """How a worker hears what people say of pages."""
        book = self.labels(patience_seconds=None)
        return Hearing(book, rethink, worker=worker, pages=self.folder.pages)

    def rethink(self, worker: str, notebooks: Notebooks) -> Rethink:
        """What a worker knows, ready for second thoughts, without a line that fetches."""
        return Rethink(
            judge=self.judge(notebooks),
            strategy=self.strategy(notebooks),
            frontier=self.frontier(),
            archive=PageWriter(self.folder.pages / f"{worker}.db"),
        )

    @property
    def is_refresh(self) -> bool:
        """Whether pages are visited again, and no new ones fetched."""
        return "refresh" in self.changes

    def visits(self) -> Frontier:
        """The queue of pages that are visited again; what a visit is worth is not changed by finding its page again."""
        delay_seconds = self.config.manners.delay_seconds
        return SqliteFrontier(queue_path(self.folder.root), merge=Merge.FIRST, delay_seconds=delay_seconds)

    def rules(self) -> Rules:
        """What the user allows."""
        from thresher.line import Rules

        config = self.config
        scope = Scope(
            allow_hosts=tuple(config.scope.allow_hosts),
            deny_hosts=tuple(config.scope.deny_hosts),
            max_depth=config.scope.max_depth,
            own_hosts_only=not config.manners.contact,
            stand_in=self._in_a_lab,
        )
        return Rules(
            scope=scope,
            watch=self._watchfulness(),
            obey_nofollow=config.manners.nofollow == "obey",
            keep_irrelevant=config.output.keep_irrelevant,
        )

    def _watchfulness(self) -> Watchfulness:
        scope = self.config.scope
        budget = Budget(
            most=scope.max_pages_per_host, first=scope.first_pages_per_host, per_relevant=scope.pages_per_relevant
        )
        of_seeds = SitemapHosts(hosts=frozenset(map(host_key, self.seeds())))
        sitemaps = {"off": None, "seeds": of_seeds, "all": SitemapHosts()}[self.config.sitemaps]
        return Watchfulness(budget=budget, traps=scope.traps == "leave", sitemaps=sitemaps)

    def line(
        self,
        worker: str | None,
        parse: Parse | None = None,
        *,
        notebooks: Notebooks | None = None,
        around: Callable[[Frontier], Frontier] = lambda frontier: frontier,
    ) -> Line:
        """Put the line together; without a worker's name nothing is kept.

        Args:
            notebooks: The worker's own, to be closed after the line, when it must be known that all was written.
            around: Puts something around the frontier that watches what is asked of it.
        """
        from thresher.archive.main_text import main_text  # here: commands that only look need none of these
        from thresher.line import Line
        from thresher.parse.apart import ParserApart
        from thresher.parse.html import parse as parse_html

        notebooks = notebooks or (self.notebooks(worker) if worker else None)
        judge, strategy = self.judge(notebooks), self.strategy(notebooks)  # first: what refuses a folder changes none
        archive: Archive = PageWriter(self.folder.pages / f"{worker}.db") if worker else NoArchive()
        return Line(
            frontier=around(self.frontier(patience_seconds=None)),
            archive=archive,
            judge=judge,
            strategy=strategy,
            rules=self.rules(),
            parse=parse or parse_html,
            apart=ParserApart(),
            captures=self.captures(worker) if worker else None,
            main_text=main_text if worker else None,
        )

    def captures(self, worker: str) -> Captures | None:
        """Where a worker archives what it was answered; None unless topic.yaml wants WARC files.

        Raises:
            ConfigError: What is needed to write them is not installed.
        """
        if not self.config.output.warc:
            return None
        about = {
            "software": f"Thresher/{__version__}",
            "format": "WARC File Format 1.1",
            "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            "isPartOf": self.name,
            "description": "; ".join([*self.config.title.values(), *self.config.keywords]),
            "operator": self.config.manners.contact,
            "robots": self.config.manners.robots,
        }
        return warc_writer()(self.folder.warc, worker, about=about, paths=Paths(self.folder.pages))

    def seeds(self) -> list[str]:
        """Return the seed URLs in their order.

        Raises:
            ConfigError: A line is no http or https URL, a file is missing, or there is no seed at all.
        """
        urls = [url for entry in self.config.seeds for url in seeds_of(entry, self.folder.topic)]
        urls += [seed_url(url, "examples") for url in (*self.config.examples.yes, *self.config.examples.no)]
        if not urls:
            raise ConfigError(f"no seeds: write one URL per line into {self.folder.seeds}")
        return list(dict.fromkeys(urls))

"""From a crawl folder to its parts: the only place that reads configuration and puts parts together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from thresher import registry
from thresher.archive.pages import Archive, NoArchive, PageWriter
from thresher.budgets import Budget
from thresher.classify.base import Brief, Judge, Learner
from thresher.classify.notebook import FolderNotebook
from thresher.config import CrawlConfig, Named
from thresher.config_file import load_config
from thresher.errors import ConfigError, RefusedAddress, ThresherError
from thresher.folder import CrawlFolder
from thresher.frontier.base import Frontier
from thresher.frontier.sqlite import SqliteFrontier
from thresher.line import Line, Parse, Rules
from thresher.parse.apart import ParserApart
from thresher.parse.html import parse as parse_html
from thresher.sitemaps.source import SitemapHosts
from thresher.strategies.aim import Aim
from thresher.strategies.base import Rememberer, Strategy
from thresher.topics.flatten import ALL_LANGUAGES, class_urls, classes
from thresher.topics.taxonomy import Taxonomy
from thresher.topics.token_table import TokenTable
from thresher.topics.topic import Topic
from thresher.urls.addresses import Network, networks, private_network, refusal
from thresher.urls.canonical import canonicalize
from thresher.urls.host import host_key
from thresher.urls.scope import Scope
from thresher.warden import Watchfulness


@dataclass(frozen=True)
class Crawl:
    """A crawl folder and what its topic.yaml says; parts are made when asked for.

    Args:
        changes: What flags put in the place of topic.yaml's words: ``strategy`` and ``store``.
    """

    folder: CrawlFolder
    config: CrawlConfig
    changes: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, root: Path, *, changes: Mapping[str, str] | None = None) -> Crawl:
        """Open an existing crawl.

        Raises:
            CrawlNotFound: The folder holds none.
            ConfigError: Its topic.yaml is not right.
        """
        folder = CrawlFolder(root).existing()
        config, changes = load_config(folder.topic), changes or {}
        if strategy := changes.get("strategy"):
            config = config.model_copy(update={"strategy": Named(name=strategy)})
        if store := changes.get("store"):
            config = config.model_copy(update={"store": store})
        return cls(folder, config, changes)

    @property
    def name(self) -> str:
        """The crawl's name."""
        return self.config.name or self.folder.name

    def check(self) -> None:
        """Find out before anything is started whether this crawl can run.

        Raises:
            ConfigError: It cannot; the message says why and what would be right.
        """
        self.judge()
        self.strategy()
        allowed = networks(self.config.network.allow)
        outside = [url for url in self.seeds() if not self._own(url, allowed)]
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

    @staticmethod
    def _own(url: str, allowed: list[Network]) -> bool:
        """Tell whether a seed lies in the user's own network.

        Raises:
            RefusedAddress: It lies in a private network that topic.yaml does not list.
        """
        name = urlsplit(url).hostname or ""
        network = private_network(name)
        address = name if "localhost" not in name else "127.0.0.1"
        if network and (why := refusal(address, allowed)):
            raise RefusedAddress(url, why, network)
        return bool(network)

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

    def judge(self, worker: str = "") -> Judge:
        """What decides whether a page is on topic, with all it has learned; a worker's own goes on learning."""
        judge: Judge = registry.make("judge", self.config.judge.name, self.config.judge.parameters, self.brief())
        if isinstance(judge, Learner):
            _take_up(judge, self.folder.model / "judge", worker)
        return judge

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
            yes=frozenset(_seed(url, "examples.yes") for url in examples.yes),
            no=frozenset(_seed(url, "examples.no") for url in examples.no),
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

    def strategy(self, worker: str = "") -> Strategy:
        """The order in which links are followed; a worker's own goes on where it stopped."""
        named = self.config.strategy
        strategy: Strategy = registry.make("strategy", named.name, named.parameters, self.aim())
        if isinstance(strategy, Rememberer):
            _take_up(strategy, self.folder.model / "strategy", worker)
        return strategy

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

    def frontier(self) -> Frontier:
        """The queue of this crawl.

        Raises:
            ConfigError: Its store is not of this machine.
        """
        if self.config.store != "sqlite":
            raise ConfigError(f"store {self.config.store} is not supported yet; use sqlite")
        return SqliteFrontier(
            self.folder.frontier, merge=self.strategy().merge, delay_seconds=self.config.manners.delay_seconds
        )

    def rules(self) -> Rules:
        """What the user allows."""
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

    def line(self, worker: str | None, parse: Parse = parse_html) -> Line:
        """Put the line together; without a worker's name nothing is kept."""
        archive: Archive = PageWriter(self.folder.pages / f"{worker}.db") if worker else NoArchive()
        return Line(
            frontier=self.frontier(),
            archive=archive,
            judge=self.judge(worker or ""),
            strategy=self.strategy(worker or ""),
            rules=self.rules(),
            parse=parse,
            apart=ParserApart(),
        )

    def seeds(self) -> list[str]:
        """Return the seed URLs in their order.

        Raises:
            ConfigError: A line is no http or https URL, a file is missing, or there is no seed at all.
        """
        urls = [url for entry in self.config.seeds for url in self._seed_entry(entry)]
        urls += [_seed(url, "examples") for url in (*self.config.examples.yes, *self.config.examples.no)]
        if not urls:
            raise ConfigError(f"no seeds: write one URL per line into {self.folder.seeds}")
        return list(dict.fromkeys(urls))

    def _seed_entry(self, entry: str) -> list[str]:
        if "://" in entry:
            return [_seed(entry, self.folder.topic.name)]
        path = self.folder.root / entry
        if not path.is_file():
            raise ConfigError(f"{self.folder.topic}: seeds names {entry}, and there is no such file")
        lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        stripped = ((number, line.partition(" #")[0].strip()) for number, line in lines)
        return [_seed(line, f"{entry}:{number}") for number, line in stripped if line and not line.startswith("#")]


def _take_up(part: Learner | Rememberer, folder: Path, worker: str) -> None:
    """Let a part go on from what it wrote down; such files are data, and may be damaged or a stranger's."""
    try:
        part.keep_in(FolderNotebook(folder, worker))
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ThresherError(
            f"what was learned in {folder} cannot be read: {error}; move it away to start anew"
        ) from error


def _seed(url: str, place: str) -> str:
    canonical = canonicalize(url)
    if canonical is None:
        raise ConfigError(f"{place}: {url!r} is not an http or https URL")
    return canonical

"""From a crawl folder to its parts: the only place that reads configuration and puts parts together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from thresher import registry
from thresher.archive.pages import Archive, NoArchive, PageWriter
from thresher.classify.base import Judge
from thresher.config import CrawlConfig, Named
from thresher.config_file import load_config
from thresher.errors import ConfigError, RefusedAddress
from thresher.folder import CrawlFolder
from thresher.frontier.base import Frontier
from thresher.frontier.sqlite import SqliteFrontier
from thresher.line import Line, Rules
from thresher.strategies.base import Strategy
from thresher.topics.topic import Topic
from thresher.urls.addresses import Network, networks, private_network, refusal
from thresher.urls.canonical import canonicalize
from thresher.urls.host import host_key
from thresher.urls.scope import Scope


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
        in_a_lab = "*:80" in self.config.network.connect_to  # then nobody outside is ever asked
        if outside and not in_a_lab and not self.config.manners.contact:
            raise ConfigError(
                f"{self.folder.topic}: manners.contact is empty; sites like {host_key(outside[0])} must know whom to "
                "write to: a mail or web address"
            )

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
        """What the user wants, as words."""
        return Topic(title=self.config.title, about=self.config.about, keywords=self.config.keywords)

    def judge(self) -> Judge:
        """What decides whether a page is on topic."""
        vectors = self.topic().vectors()
        if not vectors:
            raise ConfigError(f"{self.folder.topic}: the topic has no words; give title or keywords")
        judge: Judge = registry.make("judge", self.config.judge.name, self.config.judge.parameters, vectors)
        return judge

    def strategy(self) -> Strategy:
        """The order in which links are followed."""
        named = self.config.strategy
        strategy: Strategy = registry.make("strategy", named.name, named.parameters)
        return strategy

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
        )
        return Rules(
            scope=scope,
            max_pages_per_host=config.scope.max_pages_per_host,
            obey_nofollow=config.manners.nofollow == "obey",
            keep_irrelevant=config.output.keep_irrelevant,
        )

    def line(self, worker: str | None) -> Line:
        """Put the line together; without a worker's name nothing is kept."""
        archive: Archive = PageWriter(self.folder.pages / f"{worker}.db") if worker else NoArchive()
        return Line(
            frontier=self.frontier(),
            archive=archive,
            judge=self.judge(),
            strategy=self.strategy(),
            rules=self.rules(),
        )

    def seeds(self) -> list[str]:
        """Return the seed URLs in their order.

        Raises:
            ConfigError: A line is no http or https URL, a file is missing, or there is no seed at all.
        """
        urls = [url for entry in self.config.seeds for url in self._seed_entry(entry)]
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


def _seed(url: str, place: str) -> str:
    canonical = canonicalize(url)
    if canonical is None:
        raise ConfigError(f"{place}: {url!r} is not an http or https URL")
    return canonical

"""Create the folder of a crawl, with topic.yaml and seeds.txt, for the command line and the Python API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from thresher import registry
from thresher.config.folder import CrawlFolder
from thresher.config.loading import load_config
from thresher.config.schema import check_contact
from thresher.errors import ConfigError, UnknownName
from thresher.locale.translation import _
from thresher.text.terminal import printable
from thresher.topics.topic import TopicDefinition
from thresher.topics.yaml_writer import topic_yaml, with_settings
from thresher.urls.address_policy import private_network
from thresher.urls.canonical import canonicalize


@dataclass(frozen=True, kw_only=True)
class NewCrawl:
    """The definition of a new crawl.

    Args:
        seeds: Canonical URLs.
        allow: Private networks that may be crawled beside those of the seeds.
        taxonomy: The key of this name in topic.yaml.
        examples: The key of this name in topic.yaml.
        topics: The key of this name in topic.yaml, for a crawl of several topics.
        languages: Those of wanted pages; empty for those of the phrases and seeds.
        collection: The URL of the object storage that keeps the pages of all machines; empty for none.
        settings: Further keys of topic.yaml, which override the defaults.
    """

    topic: TopicDefinition
    seeds: Sequence[str] = ()
    contact: str = ""
    strategy: str = "thresher"
    allow: Sequence[str] = ()
    taxonomy: Mapping[str, Any] | None = None
    examples: Mapping[str, Any] | None = None
    topics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    languages: Sequence[str] = ()
    collection: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def all_seeds(self) -> list[str]:
        """The seeds of the crawl and of its topics."""
        return [*self.seeds, *(url for topic in self.topics.values() for url in topic.get("seeds", ()))]

    @property
    def networks(self) -> list[str]:
        """The private networks that may be crawled, including those of private seeds."""
        private = filter(None, (private_network(urlsplit(url).hostname or "") for url in self.all_seeds))
        return list(dict.fromkeys([*self.allow, *private]))

    def topic_yaml(self, name: str) -> str:
        text = topic_yaml(
            self.topic,
            name=name,
            strategy=self.strategy,
            contact=self.contact,
            allow=self.networks,
            taxonomy=self.taxonomy,
            examples=self.examples,
            topics=self.topics,
            languages=self.languages,
        )
        if self.collection:
            text += f"collection: {self.collection}\n"
        return with_settings(text, self.settings) if self.settings else text


def create_crawl(folder: CrawlFolder, new_crawl: NewCrawl) -> None:
    """Write topic.yaml and seeds.txt into a folder, which is created if needed.

    Raises:
        ConfigError: The folder has a crawl already, or the definition is invalid.
    """
    if folder.topic.exists():
        raise ConfigError(_("{file} is there already; edit it, or choose another folder", file=folder.topic))
    if new_crawl.strategy not in registry.known("strategy"):
        raise UnknownName("strategy", new_crawl.strategy, registry.known("strategy"))
    check_contact(new_crawl.contact)
    folder.root.mkdir(parents=True, exist_ok=True)
    folder.seeds.write_text("".join(f"{url}\n" for url in new_crawl.seeds), encoding="utf-8")
    _write_checked(folder.topic, new_crawl.topic_yaml(folder.name))


def _write_checked(path: Path, text: str) -> None:
    """Write a topic.yaml; remove it again if it is invalid."""
    try:
        path.write_text(text, encoding="utf-8")
        load_config(path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def checked_seed(text: str) -> str:
    """Return a seed as a canonical URL.

    Raises:
        ConfigError: It is not an http or https URL.
    """
    canonical = canonicalize(text)
    if canonical is None:
        guess = _("; did you mean https://{text}?", text=text) if "://" not in text else ""
        raise ConfigError(_("seed {text!r} is not an http or https URL{guess}", text=printable(text), guess=guess))
    return canonical

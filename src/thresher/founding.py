"""How a crawl begins on disk: a folder with topic.yaml and seeds.txt, the same whoever asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from thresher import registry
from thresher.config import check_contact
from thresher.config_file import load_config
from thresher.errors import ConfigError, UnknownName
from thresher.folder import CrawlFolder
from thresher.text.printable import printable
from thresher.topics.files import topic_yaml, with_settings
from thresher.topics.topic import Topic
from thresher.urls.addresses import private_network
from thresher.urls.canonical import canonicalize


@dataclass(frozen=True, kw_only=True)
class Founding:
    """What a new crawl is made of.

    Args:
        seeds: Canonical URLs.
        allow: Private networks that may be crawled beside those of the seeds.
        taxonomy: The key of this name in topic.yaml.
        examples: The key of this name in topic.yaml.
        settings: Further keys of topic.yaml, which take the place of what is usually written.
    """

    topic: Topic
    seeds: Sequence[str] = ()
    contact: str = ""
    strategy: str = "thresher"
    allow: Sequence[str] = ()
    taxonomy: Mapping[str, Any] | None = None
    examples: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def networks(self) -> list[str]:
        """The private networks that may be crawled: whoever names a private seed means it."""
        private = filter(None, (private_network(urlsplit(url).hostname or "") for url in self.seeds))
        return list(dict.fromkeys([*self.allow, *private]))

    def topic_yaml(self, name: str) -> str:
        """Return the text of topic.yaml."""
        text = topic_yaml(
            self.topic,
            name=name,
            strategy=self.strategy,
            contact=self.contact,
            allow=self.networks,
            taxonomy=self.taxonomy,
            examples=self.examples,
        )
        return with_settings(text, self.settings) if self.settings else text


def found(folder: CrawlFolder, founding: Founding) -> None:
    """Write topic.yaml and seeds.txt into a folder, which is made when it is not there.

    Raises:
        ConfigError: A crawl is there already, or what was given cannot be done.
    """
    if folder.topic.exists():
        raise ConfigError(f"{folder.topic} is there already; edit it, or choose another folder")
    if founding.strategy not in registry.known("strategy"):
        raise UnknownName("strategy", founding.strategy, registry.known("strategy"))
    check_contact(founding.contact)
    folder.root.mkdir(parents=True, exist_ok=True)
    folder.seeds.write_text("".join(f"{url}\n" for url in founding.seeds), encoding="utf-8")
    _write_checked(folder.topic, founding.topic_yaml(folder.name))


def _write_checked(path: Path, text: str) -> None:
    """Write a topic.yaml; one that cannot be read is not left behind."""
    try:
        path.write_text(text, encoding="utf-8")
        load_config(path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def checked_seed(text: str) -> str:
    """Return a seed as a canonical URL.

    Raises:
        ConfigError: It is none.
    """
    canonical = canonicalize(text)
    if canonical is None:
        guess = f"; did you mean https://{text}?" if "://" not in text else ""
        raise ConfigError(f"seed {printable(text)!r} is not an http or https URL{guess}")
    return canonical

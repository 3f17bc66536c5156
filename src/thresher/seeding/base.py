"""The protocol of seed sources, and how a user names one: ``NAME`` or ``NAME=ADDRESS``.

A source turns a topic into URLs. Sources are registered by name; installed packages add more by entry points in the
group ``thresher.seed_sources``. The class is called with the address, the configuration of the crawl and nothing else.
Nothing is sent to a service unless the user names its source. What a source returns is untrusted: URLs to be fetched
by the rules of the crawl.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from thresher import registry
from thresher.config.schema import CrawlConfig
from thresher.errors import ThresherError
from thresher.text import OPEN
from thresher.text.tokens import tokenize
from thresher.topics.topic import TopicDefinition
from thresher.urls.tokens import url_tokens

MAX_PER_SOURCE = 100
"""Candidates that a source returns at most."""


class SourceFailed(ThresherError):
    """A seed source cannot be used, or did not answer as documented."""


@dataclass(frozen=True, kw_only=True)
class SeedQuery:
    """What seeds are sought for.

    Args:
        phrases: The topic as phrases, by language; empty for a phrase that may be in several.
        keywords: Further words of the topic.
        hosts: Hosts that the user named, for sources that list the URLs of a host.
    """

    phrases: dict[str, str]
    keywords: Sequence[str] = ()
    hosts: Sequence[str] = ()

    @classmethod
    def of(cls, topic: TopicDefinition, hosts: Sequence[str] = ()) -> SeedQuery:
        """Return the query for a topic; without a title its keywords are the phrase."""
        phrases = {"" if code == OPEN else code: phrase for code, phrase in topic.title.items()}
        phrases = phrases or ({"": " ".join(topic.keywords)} if topic.keywords else {})
        return cls(phrases=phrases, keywords=list(topic.keywords), hosts=hosts)

    @property
    def terms(self) -> frozenset[str]:
        """The terms of phrases and keywords."""
        return frozenset(term for text in (*self.phrases.values(), *self.keywords) for term in tokenize(text))


@dataclass(frozen=True, kw_only=True)
class SeedCandidate:
    """A URL that a source found.

    Args:
        url: A canonical URL.
        source: The name of the source.
        reason: How the source found it.
    """

    url: str
    source: str
    title: str = ""
    reason: str = ""


class SeedSource(Protocol):
    """A source of seeds."""

    def find(self, query: SeedQuery) -> Sequence[SeedCandidate]:
        """Return candidates, best first.

        Raises:
            SourceFailed: The source cannot answer.
        """
        ...


def make_source(text: str, config: CrawlConfig) -> tuple[str, SeedSource]:
    """Return the name of a source and the source that a user wrote as ``NAME`` or ``NAME=ADDRESS``.

    Raises:
        UnknownName: No source has this name.
        ConfigError: The source needs an address, or refuses this one.
    """
    name, _, address = text.partition("=")
    source: SeedSource = registry.make("seed source", name, {}, address, config)
    return name, source


def url_terms(url: str) -> list[str]:
    """Return the terms of a URL."""
    return tokenize(" ".join(url_tokens(url)))


def by_url_terms(urls: Iterable[str], terms: frozenset[str], *, most: int) -> list[str]:
    """Return the URLs that contain terms of the topic, those with the most distinct terms first."""
    counted = [(len(terms.intersection(url_terms(url))), url) for url in dict.fromkeys(urls)]
    ranked = sorted((entry for entry in counted if entry[0]), key=lambda entry: -entry[0])
    return [url for _, url in ranked[:most]]

"""Open or create a crawl from the arguments of a program; an existing folder is compared with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from thresher.api.topic import Topic
from thresher.config.folder import CrawlFolder
from thresher.config.renamed_keys import with_current_names
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError, CrawlNotFound
from thresher.operations.create import NewCrawl, checked_seed, create_crawl

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

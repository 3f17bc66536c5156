"""Opening a crawl by what a program says of it: the folder is made when it is not there, and compared when it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from thresher.api.topic import Topic
from thresher.build import Crawl
from thresher.errors import ConfigError, CrawlNotFound
from thresher.folder import CrawlFolder
from thresher.founding import Founding, checked_seed, found

DEFAULT_STRATEGY = "thresher"


@dataclass(frozen=True, kw_only=True)
class Given:
    """What a program says of a crawl; empty where it says nothing."""

    topic: Topic | None = None
    seeds: Sequence[str] = ()
    contact: str = ""
    strategy: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def founding(self) -> Founding:
        """Return what a new crawl is made of."""
        topic = self.topic or Topic()
        return Founding(
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

    def asked_keys(self) -> dict[str, Any]:
        """Return the keys of topic.yaml that follow from what was given, each as the file would have it."""
        document: dict[str, Any] = yaml.safe_load(self.founding().topic_yaml(""))
        asked: dict[str, Any] = {}
        if self.topic:
            asked = {key: document.get(key, {}) for key in ("title", "about", "keywords", "examples")}
        if self.contact:
            asked["manners"] = {"contact": self.contact}
        if self.strategy:
            asked["strategy"] = {"name": self.strategy}
        for key, value in self.settings.items():
            asked[key] = {**asked.get(key, {}), **value} if isinstance(value, Mapping) else value
        return asked


def open_or_found(root: Path, given: Given) -> Crawl:
    """Open the crawl of a folder, or make it.

    Raises:
        CrawlNotFound: There is none, and no topic, seeds or settings are given to make one of.
        ConfigError: What is given cannot be done, or the folder's crawl is another one.
    """
    folder = CrawlFolder(root)
    if not folder.topic.is_file():
        if given == Given():
            raise CrawlNotFound(root)
        founding = given.founding()
        if not founding.topic.vectors() and not founding.seeds and "taxonomy" not in given.settings:
            raise ConfigError('the topic has no words; give topic=thresher.Topic("a phrase"), or seeds about it')
        found(folder, founding)
        return Crawl.open(root)
    crawl = Crawl.open(root)
    for place, here, expected in _differences(crawl, given):
        raise ConfigError(
            f"{folder.topic} is about another crawl: {place} is {here!r}, and {expected!r} was given. Edit the file, "
            f"choose another folder, or open this one as it is: Crawl({str(root)!r})"
        )
    return crawl


def _differences(crawl: Crawl, given: Given) -> Iterator[tuple[str, Any, Any]]:
    """Yield where topic.yaml or the seeds differ from what was given: the place, what is there, what was given."""
    here = crawl.config.model_dump(mode="json")
    for key, asked in given.asked_keys().items():
        if isinstance(asked, Mapping) and isinstance(here.get(key), Mapping) and key not in ("title", "about"):
            for inner, value in asked.items():
                if here[key].get(inner) != value:
                    yield f"{key}.{inner}", here[key].get(inner), value
        elif (here.get(key) or None) != (asked or None):
            yield key, here.get(key), asked
    if missing := set(given.urls()) - set(crawl.seeds() if given.seeds else ()):
        yield "the list of seeds", crawl.seeds(), sorted(missing)[0]

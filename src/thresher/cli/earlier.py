"""What a new crawl takes over from an earlier one: its topic, its contact, and its good hubs as seeds."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from thresher.archive.collection import Collection
from thresher.archive.hubs import Hub, hubs
from thresher.build import Crawl
from thresher.errors import ConfigError
from thresher.topics.topic import Topic


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """An earlier crawl of the same topic.

    Args:
        taxonomy: The file of its taxonomy; None without one.
        nodes: Its nodes there.
        allow: Private networks that it may crawl.
        hubs: Its best hubs.
    """

    topic: Topic
    contact: str
    taxonomy: Path | None = None
    nodes: list[str] = field(default_factory=list)
    allow: list[str] = field(default_factory=list)
    hubs: list[Hub] = field(default_factory=list)

    @classmethod
    def open(cls, folder: Path, number: int) -> Earlier:
        """Read an earlier crawl.

        Raises:
            ConfigError: It found no hub.
        """
        crawl = Crawl.open(folder)
        with Collection(crawl.folder.pages) as collection:
            found = hubs(collection, number)
        if not found:
            raise ConfigError(f"{folder} has no relevant page yet that leads to others; let it run, or give --seed")
        config, chosen = crawl.config, crawl.config.taxonomy
        return cls(
            topic=Topic(title=config.title, keywords=config.keywords) if chosen is None else crawl.topic(),
            contact=config.manners.contact,
            taxonomy=(folder / Path(chosen.file).expanduser()).resolve() if chosen else None,
            nodes=list(chosen.nodes) if chosen else [],
            allow=list(config.network.allow),
            hubs=found,
        )

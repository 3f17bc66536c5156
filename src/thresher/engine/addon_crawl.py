"""The crawl behind a spider: its topic.yaml, the folder that remembers it, and rules that only order, never cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings
from scrapy.utils.conf import closest_scrapy_cfg

from thresher.budgets import Budget
from thresher.build import Crawl
from thresher.config import CrawlConfig
from thresher.config_file import load_config
from thresher.errors import ConfigError
from thresher.fleet.links import HELLO_SECONDS
from thresher.folder import CrawlFolder
from thresher.frontier.base import Frontier
from thresher.frontier.sqlite import SqliteFrontier
from thresher.line import Rules
from thresher.topics.files import with_settings
from thresher.urls.canonical import canonicalize
from thresher.urls.store_address import StoreAddress
from thresher.warden import Watchfulness

FOLDER = ".thresher"
"""Beside topic.yaml; each spider has a folder of its own in it."""
NO_LIMIT = 1_000_000_000
WAITING_PER_HOST = 1_000_000
"""Spiders often stay on one site, and none of its URLs may be pushed out."""


@dataclass(frozen=True)
class SpiderCrawl(Crawl):
    """A crawl whose seeds a spider brings.

    Args:
        start: The spider's start URLs, as far as they are known before it starts.
    """

    start: Sequence[str] = ()

    def seeds(self) -> list[str]:
        """Return the start URLs."""
        return list(self.start)

    def frontier(self, *, patience_seconds: float | None = HELLO_SECONDS, crawl_id: str | None = None) -> Frontier:
        """The queue of the spider."""
        if self.is_shared:
            return super().frontier(patience_seconds=patience_seconds, crawl_id=crawl_id)
        return SqliteFrontier(
            self.folder.frontier,
            merge=self._new_strategy().merge,
            delay_seconds=self.config.manners.delay_seconds,
            waiting_per_host=WAITING_PER_HOST,
        )

    def rules(self) -> Rules:
        """What topic.yaml allows; budgets only where it names them, and no traps or sitemaps of our own."""
        scope = self.config.scope
        asked = scope.model_fields_set
        budget = Budget(
            most=scope.max_pages_per_host if "max_pages_per_host" in asked else NO_LIMIT,
            first=scope.first_pages_per_host if "first_pages_per_host" in asked else None,
            per_relevant=scope.pages_per_relevant,
        )
        return replace(super().rules(), watch=Watchfulness(budget=budget))


def topic_path(settings: BaseSettings) -> Path:
    """Return where topic.yaml lies: seen from the project's scrapy.cfg, or from where one is.

    Raises:
        ConfigError: No setting names it, or it is not there.
    """
    named = settings.get("THRESHER_TOPIC")
    if not named:
        raise ConfigError('THRESHER_TOPIC is not set; name the file that says the topic: THRESHER_TOPIC = "topic.yaml"')
    project = closest_scrapy_cfg()
    path = (Path(project).parent if project else Path.cwd()) / str(named)
    if not path.is_file():
        raise ConfigError(f"THRESHER_TOPIC is {str(named)!r}, and there is no file {path}")
    return path


def open_spider_crawl(path: Path, config: CrawlConfig, *, spider: str, start: Sequence[str]) -> SpiderCrawl:
    """Open the crawl of a spider; its folder is made when it is not there.

    A copy of topic.yaml lies in it, so that ``thresher why``, ``status``, ``search`` and ``export`` can look at it.
    """
    folder = CrawlFolder(path.parent / FOLDER / spider)
    folder.root.mkdir(parents=True, exist_ok=True)
    name = f"{config.name or path.parent.resolve().name}-{spider}"
    taxonomy = config.taxonomy
    if taxonomy:
        file = path.parent.resolve() / Path(taxonomy.file).expanduser()
        taxonomy = taxonomy.model_copy(update={"file": str(file)})
    changes = {"name": name, "seeds": [], "sitemaps": "off"}
    named: dict[str, Any] = {"taxonomy": {"file": taxonomy.file}} if taxonomy else {}
    if address := StoreAddress.parse(config.store):
        named["store"] = address.recorded  # no password in a file of ours
    folder.topic.write_text(with_settings(path.read_text(encoding="utf-8"), {**changes, **named}), encoding="utf-8")
    scope = config.scope
    if "max_depth" not in scope.model_fields_set:
        scope = scope.model_copy(update={"max_depth": NO_LIMIT})
    config = config.model_copy(update={**changes, "taxonomy": taxonomy, "scope": scope})
    return SpiderCrawl(folder, config, {}, tuple(filter(None, map(canonicalize, start))))


def load_topic(settings: BaseSettings) -> tuple[Path, CrawlConfig]:
    """Read the topic.yaml that the settings name."""
    path = topic_path(settings)
    return path, load_config(path)

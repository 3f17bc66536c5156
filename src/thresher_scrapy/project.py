"""The crawl of a spider: its topic.yaml, its folder, and rules that order requests but never drop them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.settings import BaseSettings
from scrapy.utils.conf import closest_scrapy_cfg

from thresher.config.folder import CrawlFolder
from thresher.config.loading import load_config
from thresher.config.schema import CrawlConfig
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.pipeline.host_policy import HostPolicyConfig
from thresher.pipeline.outcomes import PipelineRules
from thresher.politeness.host_budget import HostBudget
from thresher.topics.taxonomy.bundled import BUNDLED
from thresher.topics.yaml_writer import with_settings
from thresher.urls.canonical import canonicalize
from thresher.urls.store_address import StoreAddress

if TYPE_CHECKING:
    pass

FOLDER = ".thresher"
"""Folder beside topic.yaml, with a subfolder for each spider."""
NO_LIMIT = 1_000_000_000
WAITING_PER_HOST = 1_000_000
"""Spiders often stay on one site, and none of its URLs may be evicted."""


@dataclass(frozen=True)
class SpiderCrawl(CrawlSetup):
    """A crawl whose seeds come from a spider.

    Args:
        start: Start URLs of the spider, as far as they are known before it starts.
    """

    start: Sequence[str] = ()
    waiting_per_host = WAITING_PER_HOST

    def seeds(self) -> list[str]:
        return list(self.start)

    def rules(self) -> PipelineRules:
        """Return the rules of topic.yaml; budgets only where it sets them, no trap detection and no sitemaps."""
        scope = self.config.scope
        configured = scope.model_fields_set
        budget = HostBudget(
            most=scope.max_pages_per_host if "max_pages_per_host" in configured else NO_LIMIT,
            first=scope.first_pages_per_host if "first_pages_per_host" in configured else None,
            per_relevant=scope.pages_per_relevant,
        )
        return replace(super().rules(), host_limits=HostPolicyConfig(budget=budget))


def topic_path(settings: BaseSettings) -> Path:
    """Return the path of topic.yaml, relative to the project's scrapy.cfg or else to the current folder.

    Raises:
        ConfigError: The setting or the file is missing.
    """
    named = settings.get("THRESHER_TOPIC")
    if not named:
        raise ConfigError('THRESHER_TOPIC is not set; set it to the topic file: THRESHER_TOPIC = "topic.yaml"')
    project = closest_scrapy_cfg()
    path = (Path(project).parent if project else Path.cwd()) / str(named)
    if not path.is_file():
        raise ConfigError(f"THRESHER_TOPIC is {str(named)!r}, and there is no file {path}")
    return path


def open_spider_crawl(path: Path, config: CrawlConfig, *, spider: str, start: Sequence[str]) -> SpiderCrawl:
    """Open the crawl of a spider; its folder is created when missing.

    A copy of topic.yaml is stored in it, so that ``thresher why``, ``status``, ``search`` and ``export`` work on it.
    """
    if config.topics:
        raise ConfigError(f"{path}: a spider crawls one topic; remove topics, or crawl with thresher run")
    folder = CrawlFolder(path.parent / FOLDER / spider)
    folder.root.mkdir(parents=True, exist_ok=True)
    name = f"{config.name or path.parent.resolve().name}-{spider}"
    taxonomy = config.taxonomy
    if taxonomy and taxonomy.file != BUNDLED:
        file = path.parent.resolve() / Path(taxonomy.file).expanduser()
        taxonomy = taxonomy.model_copy(update={"file": str(file)})
    changes = {"name": name, "seeds": [], "sitemaps": "off"}
    named: dict[str, Any] = {"taxonomy": {"file": taxonomy.file}} if taxonomy else {}
    if address := StoreAddress.parse(config.store):
        named["store"] = address.recorded  # without the password
    folder.topic.write_text(with_settings(path.read_text(encoding="utf-8"), {**changes, **named}), encoding="utf-8")
    scope = config.scope
    if "max_depth" not in scope.model_fields_set:
        scope = scope.model_copy(update={"max_depth": NO_LIMIT})
    config = config.model_copy(update={**changes, "taxonomy": taxonomy, "scope": scope})
    return SpiderCrawl(folder, config, start=tuple(filter(None, map(canonicalize, start))))


def load_topic(settings: BaseSettings) -> tuple[Path, CrawlConfig]:
    """Read the topic.yaml that the settings name.

    Raises:
        ConfigError: It is missing or wrong, or has settings that Scrapy's own downloads would not follow.
    """
    path = topic_path(settings)
    config = load_config(path)
    if config.access or config.network.proxy:
        raise ConfigError(
            f"{path}: access and network.proxy are for thresher run; in a spider, Scrapy sends the requests, so use "
            "its own settings for passwords and proxies"
        )
    if config.collection:
        raise ConfigError(f"{path}: collection is for thresher run; a spider keeps its pages in its own folder")
    return path, config

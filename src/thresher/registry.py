"""Registry of strategies, judges and seed sources by name: built-ins and installed plug-ins.

A plug-in is an installed package with entry points in the groups ``thresher.strategies``, ``thresher.judges`` or
``thresher.seed_sources``; the strategies of other crawlers in `thresher_lab.peers` are registered like this too. A
topic file, a store or a model can name registered classes only, never a module to import.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from thresher.errors import ConfigError, UnknownName

STRATEGIES = {
    "anchor-only": "thresher.strategies.baselines:AnchorOnly",
    "best-first": "thresher.strategies.best_first:BestFirst",
    "breadth-first": "thresher.strategies.baselines:BreadthFirst",
    "cbp": "thresher.strategies.cbp:ContentBlockPartition",
    "context-graph": "thresher.strategies.context_graph:ContextGraph",
    "context-only": "thresher.strategies.baselines:ContextOnly",
    "fcmrps": "thresher.strategies.fcmrps:Fcmrps",
    "fish": "thresher.strategies.fish:Fish",
    "hard-focus": "thresher.strategies.hard_focus:HardFocus",
    "infospiders": "thresher.strategies.infospiders:InfoSpiders",
    "layers": "thresher.strategies.layers.strategy:Layers",
    "learning-anchor": "thresher.strategies.learning_anchor:LearningAnchor",
    "lpe": "thresher.strategies.lpe:LinkPriorityEvaluation",
    "page-anchor": "thresher.strategies.baselines:PageAnchor",
    "random": "thresher.strategies.baselines:RandomOrder",
    "relevant-parents": "thresher.strategies.relevant_parents:RelevantParents",
    "rules": "thresher.strategies.rules.strategy:InterclassRules",
    "shark": "thresher.strategies.shark:Shark",
    "soft-focus": "thresher.strategies.soft_focus:SoftFocus",
    "thresher": "thresher.strategies.flagship.strategy:Thresher",
}
JUDGES = {
    "adaptive": "thresher.judges.adaptive.judge:AdaptiveJudge",
    "cosine": "thresher.judges.cosine:CosineJudge",
    "itfidf": "thresher.judges.trained.judges:ItfIdfJudge",
    "match": "thresher.judges.match:MatchJudge",
    "svm": "thresher.judges.trained.judges:SvmJudge",
    "taxonomy": "thresher.judges.taxonomy:TaxonomyJudge",
    "taxonomy-hard": "thresher.judges.taxonomy:HardFocusJudge",
}
SEED_SOURCES = {
    "bookmarks": "thresher.seeding.bookmarks:BookmarkFile",
    "common-crawl": "thresher.seeding.common_crawl:CommonCrawlIndex",
    "hubs": "thresher.seeding.crawl_hubs:CrawlHubs",
    "searxng": "thresher.seeding.searxng:SearxSearch",
    "sitemaps": "thresher.seeding.host_sitemaps:HostSitemaps",
    "wikipedia": "thresher.seeding.wikipedia:WikipediaArticles",
}
_BUILT_IN = {"strategy": STRATEGIES, "judge": JUDGES, "seed source": SEED_SOURCES}
_GROUPS = {"strategy": "thresher.strategies", "judge": "thresher.judges", "seed source": "thresher.seed_sources"}


def known(kind: str) -> dict[str, str]:
    """Return name and location (``module:class``) of everything of a kind; built-ins override plug-ins."""
    from importlib.metadata import entry_points  # imported lazily: it takes long, and most names are built in

    installed = {entry.name: entry.value for entry in entry_points(group=_GROUPS[kind])}
    return {**installed, **_BUILT_IN[kind]}


def find(kind: str, name: str) -> Callable[..., Any]:
    """Return the class with a name.

    Raises:
        UnknownName: It is not registered.
    """
    places = _BUILT_IN[kind] if name in _BUILT_IN[kind] else known(kind)
    if name not in places:
        raise UnknownName(kind, name, places)
    module, _, attribute = places[name].partition(":")
    found: Callable[..., Any] = getattr(import_module(module), attribute)
    return found


def make(kind: str, name: str, parameters: Mapping[str, Any], *given: Any) -> Any:
    """Build an object by name from the user's parameters and as many of `given` as its constructor takes.

    Raises:
        ConfigError: A parameter is unknown or refused.
    """
    build = find(kind, name)
    allowed = parameters_of(build)
    for parameter in parameters:
        if parameter not in allowed:
            names = ", ".join(allowed) or "none"
            raise ConfigError(f"{kind} {name} has no parameter {parameter!r}; its parameters: {names}")
    try:
        return build(*given[: _count_positional(build)], **parameters)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{kind} {name}: {error}") from error


def _count_positional(build: Callable[..., Any]) -> int:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in kinds for parameter in inspect.signature(build).parameters.values())


def parameters_of(build: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters that a user may set (the keyword-only ones), with their defaults."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(build).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }

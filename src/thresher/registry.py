"""Registry of strategies, judges, seed sources and formats by name: built-ins and installed plug-ins.

A plug-in is an installed package with entry points in the groups ``thresher.strategies``, ``thresher.judges``,
``thresher.seed_sources``, ``thresher.export_formats`` or ``thresher.document_formats``; the strategies and judges of
`thresher_papers` and the strategies of other crawlers in `thresher_lab.peers` are registered like this too. A topic
file, a store or a model can name registered classes only, never a module to import.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from thresher.errors import ConfigError, UnknownName
from thresher.locale.translation import _

STRATEGIES = {
    "anchor-only": "thresher.strategies.baselines:AnchorOnly",
    "best-first": "thresher.strategies.best_first:BestFirst",
    "breadth-first": "thresher.strategies.baselines:BreadthFirst",
    "context-only": "thresher.strategies.baselines:ContextOnly",
    "page-anchor": "thresher.strategies.baselines:PageAnchor",
    "random": "thresher.strategies.baselines:RandomOrder",
    "thresher": "thresher.strategies.link_model.strategy:LinkModelStrategy",
}
JUDGES = {
    "adaptive": "thresher.judges.adaptive.judge:AdaptiveJudge",
    "cosine": "thresher.judges.cosine:CosineJudge",
    "match": "thresher.judges.match:MatchJudge",
}
SEED_SOURCES = {
    "bookmarks": "thresher.seeding.bookmarks:BookmarkFile",
    "common-crawl": "thresher.seeding.common_crawl:CommonCrawlIndex",
    "hubs": "thresher.seeding.crawl_hubs:CrawlHubs",
    "searxng": "thresher.seeding.searxng:SearxSearch",
    "sitemaps": "thresher.seeding.host_sitemaps:HostSitemaps",
    "wikipedia": "thresher.seeding.wikipedia:WikipediaArticles",
}
EXPORT_FORMATS = {
    "jsonl": "thresher.export.formats:JSONL",
    "csv": "thresher.export.formats:CSV",
    "parquet": "thresher.export.formats:PARQUET",
    "markdown": "thresher.export.formats:MARKDOWN",
    "dataset": "thresher.export.formats:DATASET",
    "opensearch": "thresher.export.formats:OPENSEARCH",
    "graphml": "thresher.export.formats:GRAPHML",
    "warc": "thresher.export.formats:WARC",
    "wacz": "thresher.export.wacz:WACZ",
    "url-index": "thresher.export.url_index:URL_INDEX",
}
DOCUMENT_FORMATS = {
    "pdf": "thresher.parsing.documents.formats:PDF",
    "docx": "thresher.parsing.documents.formats:DOCX",
}
_BUILT_IN = {
    "strategy": STRATEGIES,
    "judge": JUDGES,
    "seed source": SEED_SOURCES,
    "export format": EXPORT_FORMATS,
    "document format": DOCUMENT_FORMATS,
}
_GROUPS = {
    "strategy": "thresher.strategies",
    "judge": "thresher.judges",
    "seed source": "thresher.seed_sources",
    "export format": "thresher.export_formats",
    "document format": "thresher.document_formats",
}

_CONTRACTS = {"strategy": "thresher.strategies.base", "judge": "thresher.judges.base"}
"""Modules with the protocols of a kind. Optional ones are detected by the names of methods."""


def known(kind: str) -> dict[str, str]:
    """Return name and location (``module:class``) of everything of a kind; built-ins override plug-ins."""
    from importlib.metadata import entry_points  # imported lazily: it takes long, and most names are built in

    installed = {entry.name: entry.value for entry in entry_points(group=_GROUPS[kind])}
    return {**installed, **_BUILT_IN[kind]}


def is_bundled(kind: str, name: str) -> bool:
    """Return whether something is part of this distribution, in whichever of its packages."""
    from importlib.metadata import entry_points  # imported lazily, as in `known`

    entered = entry_points(group=_GROUPS[kind], name=name)
    return name in _BUILT_IN[kind] or any(entry.dist and entry.dist.name == "thresher-crawler" for entry in entered)


def find(kind: str, name: str) -> Any:
    """Return the class with a name; of a format, the object.

    Raises:
        UnknownName: It is not registered.
    """
    places = _BUILT_IN[kind] if name in _BUILT_IN[kind] else known(kind)
    if name not in places:
        raise UnknownName(kind, name, places)
    module, _, attribute = places[name].partition(":")
    return getattr(import_module(module), attribute)


def make(kind: str, name: str, parameters: Mapping[str, Any], *given: Any) -> Any:
    """Build an object by name from the user's parameters and as many of `given` as its constructor takes.

    Raises:
        ConfigError: A parameter is unknown or refused.
    """
    build = find(kind, name)
    if kind in _CONTRACTS:
        check_capabilities(kind, name, build)
    allowed = parameters_of(build)
    for parameter in parameters:
        if parameter not in allowed:
            names = ", ".join(allowed) or _("none")
            raise ConfigError(
                _(
                    "{kind} {name} has no parameter {parameter!r}; its parameters: {names}",
                    kind=_(kind),
                    name=name,
                    parameter=parameter,
                    names=names,
                )
            )
    try:
        return build(*given[: _count_positional(build)], **parameters)
    except (TypeError, ValueError) as error:
        raise ConfigError(_("{kind} {name}: {error}", kind=_(kind), name=name, error=error)) from error


def check_capabilities(kind: str, name: str, build: type) -> None:
    """Check the names of the methods by which optional capabilities are detected: a wrong one would switch them off.

    Raises:
        ConfigError: A capability is there in part, or one of its methods seems to be misspelt.
    """
    has = {member for member in dir(build) if member[0] != "_"}
    optional = [
        each for each in vars(import_module(_CONTRACTS[kind])).values() if getattr(each, "_is_runtime_protocol", False)
    ]
    wanted = [
        {member for member in (*vars(each), *inspect.get_annotations(each)) if member[0] != "_"} for each in optional
    ]
    missing = sorted(set[str]().union(*wanted) - has)
    for member in sorted(has.difference(*wanted)):
        if meant := get_close_matches(member, missing, 1, 0.8):
            raise ConfigError(f"{kind} {name} has {member!r}; its name should probably be {meant[0]!r}")
    for members in wanted:
        if members & has and (lacks := sorted(members - has)):
            raise ConfigError(f"{kind} {name} has {sorted(members & has)[0]!r}, which needs {lacks[0]!r} too")


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

"""Names to classes: built-ins and installed plug-ins come through the same door.

A plug-in is an installed package with entry points in the groups ``thresher.strategies`` or ``thresher.judges``;
nothing is ever imported because a topic file, a store or a model names it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from thresher.errors import ConfigError, UnknownName

STRATEGIES = {
    "anchor-only": "thresher.strategies.anchor_only:AnchorOnly",
    "best-first": "thresher.strategies.best_first:BestFirst",
    "breadth-first": "thresher.strategies.breadth_first:BreadthFirst",
    "cbp": "thresher.strategies.cbp:ContentBlockPartition",
    "context-graph": "thresher.strategies.context_graph:ContextGraph",
    "context-only": "thresher.strategies.context_only:ContextOnly",
    "fcmrps": "thresher.strategies.fcmrps:Fcmrps",
    "fish": "thresher.strategies.fish:Fish",
    "hard-focus": "thresher.strategies.hard_focus:HardFocus",
    "infospiders": "thresher.strategies.infospiders:InfoSpiders",
    "layers": "thresher.strategies.layers:Layers",
    "learning-anchor": "thresher.strategies.learning_anchor:LearningAnchor",
    "lpe": "thresher.strategies.lpe:LinkPriorityEvaluation",
    "page-anchor": "thresher.strategies.page_anchor:PageAnchor",
    "random": "thresher.strategies.random_order:RandomOrder",
    "relevant-parents": "thresher.strategies.relevant_parents:RelevantParents",
    "rules": "thresher.strategies.rules:InterclassRules",
    "shark": "thresher.strategies.shark:Shark",
    "soft-focus": "thresher.strategies.soft_focus:SoftFocus",
    "thresher": "thresher.strategies.thresher:Thresher",
}
PEERS = {
    "ache-levels": "thresher.strategies.peers.ache_levels:AcheLevels",
    "anthelion": "thresher.strategies.peers.anthelion:Anthelion",
    "apprentice": "thresher.strategies.peers.apprentice:Apprentice",
    "best-n-first": "thresher.strategies.peers.best_n_first:BestNFirst",
    "crawl4ai-url-scorer": "thresher.strategies.peers.crawl4ai_url_scorer:Crawl4aiUrlScorer",
    "tag-path-bandit": "thresher.strategies.peers.tag_path_bandit:TagPathBandit",
    "tres": "thresher.strategies.peers.tres:Tres",
}
"""Strategies of other crawlers, to be compared with."""
JUDGES = {
    "adaptive": "thresher.classify.adaptive:AdaptiveJudge",
    "cosine": "thresher.classify.cosine:CosineJudge",
    "itfidf": "thresher.classify.itfidf_judge:ItfIdfJudge",
    "match": "thresher.classify.match:MatchJudge",
    "svm": "thresher.classify.svm_judge:SvmJudge",
    "taxonomy": "thresher.classify.taxonomy_judge:TaxonomyJudge",
    "taxonomy-hard": "thresher.classify.taxonomy_judge:HardFocusJudge",
}
_BUILT_IN = {"strategy": {**STRATEGIES, **PEERS}, "judge": JUDGES}
_GROUPS = {"strategy": "thresher.strategies", "judge": "thresher.judges"}


def known(kind: str) -> dict[str, str]:
    """Return name and place (``module:class``) of everything of a kind, built-ins before plug-ins."""
    installed = {entry.name: entry.value for entry in entry_points(group=_GROUPS[kind])}
    return {**installed, **_BUILT_IN[kind]}


def find(kind: str, name: str) -> Callable[..., Any]:
    """Return the class behind a name.

    Raises:
        UnknownName: Nobody registered it.
    """
    places = known(kind)
    if name not in places:
        raise UnknownName(kind, name, places)
    module, _, attribute = places[name].partition(":")
    found: Callable[..., Any] = getattr(import_module(module), attribute)
    return found


def make(kind: str, name: str, parameters: Mapping[str, Any], *given: Any) -> Any:
    """Build a part from its name, the user's parameters and as much of what we give it as it asks for.

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
        return build(*given[: _places_of(build)], **parameters)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{kind} {name}: {error}") from error


def _places_of(build: Callable[..., Any]) -> int:
    """Count the arguments that a part takes by their place."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in kinds for parameter in inspect.signature(build).parameters.values())


def parameters_of(build: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters that a user may set, with their defaults: the keyword-only ones."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(build).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }

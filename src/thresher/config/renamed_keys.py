"""Keys of topic.yaml that version 0.2.0 called otherwise: accepted for one version, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from thresher.errors import ConfigError
from thresher.locale.translation import _

_ROOT: Mapping[str, str] = {"manners": "politeness"}
_INNER: Mapping[str, Mapping[str, str]] = {
    "politeness": {
        "one_at_a_time_per": "serialize_by",
        "crawl_delay_up_to_seconds": "max_crawl_delay_seconds",
    },
    "taxonomy": {"least_urls": "min_urls_per_class"},
}
_LINK_MODEL: Mapping[str, str] = {"hold": "prior_strength"}

EARLIER_NAMES = {new: old for names in (_ROOT, *_INNER.values(), _LINK_MODEL) for old, new in names.items()}
"""The earlier name of each key that was renamed."""


class RenamedKeyWarning(FutureWarning):
    """A key or command has another name now; the earlier one is accepted until the next version."""


def with_current_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return keys of topic.yaml with their current names, and warn of each earlier one.

    Raises:
        ConfigError: A key is given under both names.
    """
    current = _renamed(values, _ROOT)
    for section, names in _INNER.items():
        if isinstance(inner := current.get(section), Mapping):
            current[section] = _renamed(inner, names, f"{section}.")
    politeness = current.get("politeness")
    if isinstance(politeness, Mapping) and politeness.get("serialize_by") == "address":
        _warn("politeness.serialize_by: address", "politeness.serialize_by: ip")
        current["politeness"] = {**politeness, "serialize_by": "ip"}
    strategy = current.get("strategy")
    if isinstance(strategy, Mapping) and strategy.get("name") == "thresher":
        current["strategy"] = _renamed(strategy, _LINK_MODEL, "strategy.")
    return current


def _renamed(values: Mapping[str, Any], names: Mapping[str, str], section: str = "") -> dict[str, Any]:
    for old, new in names.items():
        if old in values:
            if new in values:
                raise ConfigError(
                    _("topic.yaml: {new} is given twice, also as {old}; remove {old}", new=f"{section}{new}", old=old)
                )
            _warn(f"{section}{old}", f"{section}{new}")
    return {names.get(name, name): value for name, value in values.items()}


def _warn(old: str, new: str) -> None:
    message = _(
        "topic.yaml: {old} is called {new} now; the earlier name is accepted until the next version", old=old, new=new
    )
    warnings.warn(message, RenamedKeyWarning, stacklevel=2)

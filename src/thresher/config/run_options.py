"""What a run sets in place of topic.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

_STORED = ("strategy", "store", "collection", "name")


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Settings by flags or by a joined crawl; empty where those of topic.yaml hold.

    Args:
        strategy: The name of the strategy.
        store: The address of the store.
        collection: The URL of the collection.
        name: The name of the crawl.
        refresh: Whether pages are visited again, and no new ones fetched.
    """

    strategy: str = ""
    store: str = ""
    collection: str = ""
    name: str = ""
    refresh: bool = False

    @classmethod
    def of(cls, stored: Mapping[str, object]) -> RunOptions:
        """Return the options of a stored mapping, which has only what is set; unknown names are ignored."""
        strategy, store, collection, name = (str(stored.get(key, "")) for key in _STORED)
        return cls(strategy=strategy, store=store, collection=collection, name=name)

    def stored(self) -> dict[str, str]:
        """Return what is set as a mapping for a file or a store; a refresh is never stored."""
        return {key: value for key in _STORED if (value := getattr(self, key))}

    def over(self, other: RunOptions) -> RunOptions:
        """Return these options, and those of another value where these set none."""
        return replace(other, **{name: value for name, value in asdict(self).items() if value})

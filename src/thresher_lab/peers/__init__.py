"""Strategies of other crawlers, after their sources, for comparison; see docs/measurements/peers.md."""

from __future__ import annotations

from thresher import registry


def peers() -> dict[str, str]:
    """Return the name and import path (``module:class``) of every strategy in this package."""
    return {name: place for name, place in registry.known("strategy").items() if place.startswith(f"{__name__}.")}

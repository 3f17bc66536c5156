"""Which strategies must learn before they can crawl."""

from __future__ import annotations

LAYERED = ("context-graph", "layers")
"""Strategies that need layers; one training serves both."""

RULED = ("rules",)
"""Strategies that need the rules between classes, and a classifier of pages."""

TRAINED = (*LAYERED, *RULED)


def needs_training(strategy: str) -> bool:
    """Tell whether a strategy must learn before it can crawl."""
    return strategy in TRAINED

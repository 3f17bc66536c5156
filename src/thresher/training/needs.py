"""Which strategies must learn before they can crawl."""

from __future__ import annotations

LAYERED = ("context-graph", "layers")
"""Strategies that need layers; one training serves both."""


def needs_training(strategy: str) -> bool:
    """Tell whether a strategy must learn before it can crawl."""
    return strategy in LAYERED

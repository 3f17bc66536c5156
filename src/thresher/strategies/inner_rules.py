"""Rules over inner nodes of a taxonomy, which RULES names as future work.

A class with few observations, or one from which no rule leads on, borrows the rule of the node above it: what all
classes at and below that node link to, added up. The parent of ``Science/Physics`` is ``Science``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from thresher.strategies.rule_table import RuleTable

FEWEST_OBSERVATIONS = 20
"""Train-1 pages; a class with fewer has the rule of its parent."""

BELOW = "/*"
"""Ends the name of an inner node, so that it is never the name of a class."""

Counts = Mapping[str, Mapping[str, int]]


def with_inner_nodes(table: RuleTable) -> RuleTable:
    """Add the inner nodes as sources of rules, and let classes with few observations take over those of their node."""
    nodes = _nodes(table.counts)
    counts = {label: _enough(label, found, nodes) for label, found in table.counts.items()}
    return RuleTable({**counts, **nodes}, table.targets)


def inherited(scores: Mapping[str, float], label: str) -> float | None:
    """Give the score of a class, or else of the nearest node above it that has one."""
    if label in scores:
        return scores[label]
    return next((scores[node] for node in _above(label) if node in scores), None)


def _above(label: str) -> Iterator[str]:
    while label := label.rpartition("/")[0]:
        yield label + BELOW


def _nodes(counts: Counts) -> dict[str, Counter[str]]:
    nodes: dict[str, Counter[str]] = {}
    for label, found in counts.items():
        for node in _above(label):
            nodes.setdefault(node, Counter()).update(found)
    return nodes


def _enough(label: str, found: Mapping[str, int], nodes: Counts) -> Mapping[str, int]:
    if sum(found.values()) >= FEWEST_OBSERVATIONS:
        return found
    return next((nodes[node] for node in _above(label) if sum(nodes[node].values()) >= FEWEST_OBSERVATIONS), found)

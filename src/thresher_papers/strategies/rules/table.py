"""Interclass rules: which classes of pages link to which, learned from example pages and their links.

RULES: Altingövde and Ulusoy, Exploiting interclass rules for focused crawling, IEEE Intelligent Systems, 2004. Train-0
are the example pages of every class, train-1 the pages that they link to, with the class that the classifier gives
them. A rule ``T_i → T_j (X)`` means that a share X of the train-1 pages of class T_i are of class T_j.

Rules over inner nodes of a taxonomy, which RULES names as future work: a class with few observations, or one without
any path to a wanted class, uses the rule of the node above it, the sum over all classes at and below that node. The
parent of ``Science/Physics`` is ``Science``.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from thresher.errors import ThresherError
from thresher.records import ParsedPage

FILE = "rules.json"
FORMAT = 1
NO_CLASS = ""
"""The class of train-1 pages without any known word: they count in the total, and make no rule."""

Rules = Mapping[str, Mapping[str, float]]
"""From class T_i over class T_j to X."""

Classify = Callable[[ParsedPage], Mapping[str, float]]
"""Returns the probabilities above 0 of classes; empty for a page that cannot be classified."""

Page = TypeVar("Page", bound=Hashable)
"""The URL or the number of a page."""


def class_of(scores: Mapping[str, float]) -> str:
    """Return the likeliest class; of equal ones the first, and `NO_CLASS` when none is above 0."""
    best = max(scores, key=scores.__getitem__, default=NO_CLASS)
    return best if scores.get(best, 0.0) > 0 else NO_CLASS


def count_rules(
    referred: Mapping[str, Collection[Page]], class_at: Callable[[Page], str | None]
) -> dict[str, dict[str, int]]:
    """Count for every class the classes of the pages that it links to; skip pages without a class."""
    known = {page: class_at(page) for page in dict.fromkeys(page for pages in referred.values() for page in pages)}
    return {
        label: dict(Counter(found for page in pages if (found := known[page]) is not None))
        for label, pages in referred.items()
    }


class RulePath(NamedTuple):
    """A chain of rules from a class to a wanted one, and the product of their scores."""

    classes: tuple[str, ...]
    score: float


def find_paths(rules: Rules, targets: Set[str], max_depth: int) -> Iterator[RulePath]:
    """Find all cycle-free paths of at most `max_depth` rules that end at their first wanted class.

    From a wanted class only the rules that lead straight to a wanted class count, its own loop among them.
    """
    into: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for source, referred in rules.items():
        for label, X in referred.items():
            into[label][source] = X
    paths = [RulePath((source, target), X) for target in sorted(targets) for source, X in into[target].items()]
    for _ in range(max_depth):
        yield from paths
        paths = [
            RulePath((source, *path.classes), X * path.score)
            for path in paths
            if path.classes[0] not in targets
            for source, X in into[path.classes[0]].items()
            if source not in targets and source not in path.classes
        ]


def rule_scores(rules: Rules, targets: Set[str], *, max_depth: int = 2, combine: str = "sum") -> dict[str, float]:
    """Return the score of every class that leads to a wanted one: the sum of its paths, or the best (``max``)."""
    scores: dict[str, float] = {}
    for path in find_paths(rules, targets, max_depth):
        before = scores.get(path.classes[0], 0.0)
        scores[path.classes[0]] = before + path.score if combine == "sum" else max(before, path.score)
    return scores


@dataclass(frozen=True)
class RuleTable:
    """The rules of a taxonomy, and which of its classes are wanted.

    Args:
        counts: How many train-1 pages of each class the examples of each class link to.
        targets: The wanted classes.
    """

    counts: Mapping[str, Mapping[str, int]]
    targets: frozenset[str] = frozenset()

    def rules(self) -> dict[str, dict[str, float]]:
        """Return X of every rule: the share of a class among all train-1 pages of another."""
        rules = {}
        for source, referred in self.counts.items():
            pages = sum(referred.values())
            rules[source] = {label: count / pages for label, count in referred.items() if label != NO_CLASS and count}
        return rules

    def scores(self, *, max_depth: int = 2, combine: str = "sum") -> dict[str, float]:
        return rule_scores(self.rules(), self.targets, max_depth=max_depth, combine=combine)

    def lines(self, *, max_depth: int = 2, combine: str = "sum", most: int = 20) -> Iterator[str]:
        """Yield a readable summary: the classes that lead to the wanted ones, the best first, with their best paths."""
        rules = self.rules()
        scores = rule_scores(rules, self.targets, max_depth=max_depth, combine=combine)
        best: dict[str, RulePath] = {}
        for path in find_paths(rules, self.targets, max_depth):
            if path.classes[0] not in best or path.score > best[path.classes[0]].score:
                best[path.classes[0]] = path
        number, pages = sum(map(len, rules.values())), sum(sum(found.values()) for found in self.counts.values())
        yield f"{number:,} rules between {len(rules):,} classes, from {pages:,} linked pages"
        yield f"{len(scores):,} classes lead to {', '.join(sorted(self.targets))} in at most {max_depth} links:"
        for label in sorted(scores, key=lambda label: (-scores[label], label))[:most]:
            yield f"  {scores[label]:.3f}  {_written(best[label], rules)}"
        if len(scores) > most:
            yield f"  and {len(scores) - most:,} more"

    def save(self, folder: Path) -> None:
        """Save the table to a folder, atomically."""
        folder.mkdir(parents=True, exist_ok=True)
        table = {"format": FORMAT, "targets": sorted(self.targets), "counts": self.counts}
        temporary = folder / f".{FILE}.{os.getpid()}"
        temporary.write_text(json.dumps(table, ensure_ascii=False, indent=1), encoding="utf-8")
        temporary.replace(folder / FILE)

    @classmethod
    def load(cls, folder: Path) -> RuleTable:
        """Load the table of a folder.

        Raises:
            ThresherError: There is none, or it is damaged or newer than this program.
        """
        try:
            table = json.loads((folder / FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ThresherError(
                f"no rules can be read from {folder / FILE}: {error}; train again: thresher train DIR"
            ) from error
        if not _is_table(table):
            raise ThresherError(
                f"{folder / FILE} is no table of rules that this program knows; train again: thresher train DIR"
            )
        return cls(table["counts"], frozenset(table["targets"]))


def _written(path: RulePath, rules: Rules) -> str:
    first, *others = path.classes
    steps = zip(path.classes, others, strict=False)
    return first + "".join(f" → {label} ({rules[source][label]:.2f})" for source, label in steps)


def _is_table(found: Any) -> bool:
    return (
        isinstance(found, dict)
        and found.get("format") == FORMAT
        and isinstance(targets := found.get("targets"), list)
        and all(isinstance(target, str) for target in targets)
        and isinstance(counts := found.get("counts"), dict)
        and all(_is_row(row) for row in counts.values())
    )


def _is_row(found: Any) -> bool:
    return isinstance(found, dict) and all(type(count) is int and count >= 0 for count in found.values())


MIN_OBSERVATIONS = 20
"""Train-1 pages; a class with fewer uses the rule of its parent."""

BELOW = "/*"
"""The suffix of the names of inner nodes, so that they differ from all names of classes."""

Counts = Mapping[str, Mapping[str, int]]


def with_inner_nodes(table: RuleTable) -> RuleTable:
    """Add the inner nodes as sources of rules; classes with few observations get the rules of their node."""
    nodes = _nodes(table.counts)
    counts = {label: _enough(label, found, nodes) for label, found in table.counts.items()}
    return RuleTable({**counts, **nodes}, table.targets)


def inherited(scores: Mapping[str, float], label: str) -> float | None:
    """Return the score of a class, or of the nearest node above it that has one."""
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
    if sum(found.values()) >= MIN_OBSERVATIONS:
        return found
    return next((nodes[node] for node in _above(label) if sum(nodes[node].values()) >= MIN_OBSERVATIONS), found)

"""Groups of similar tag paths, by the cosine of their pairs of neighbouring elements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from thresher.text.vectors import cosine

MAX_GROUPS = 500
"""Beyond it a path joins the nearest group."""
MAX_PATHS = 20_000
"""Paths whose groups are remembered."""


def pairs_of(tag_path: str) -> dict[str, int]:
    """Return the pairs of neighbouring elements of a path, its ends included, each once.

    Our paths are bare tags. Were pairs counted, ``div/div`` would outweigh all else, and all paths would be alike.
    """
    elements = ["^", *tag_path.split("/"), "$"]
    return dict.fromkeys((f"{one}/{other}" for one, other in pairwise(elements)), 1)


class TagPaths:
    """Groups of tag paths, each with its centre.

    Args:
        theta: The least cosine of a path and the centre of its group.
    """

    def __init__(self, *, theta: float) -> None:
        if not 0 <= theta <= 1:
            raise ValueError(f"theta must lie between 0 and 1, got {theta}")
        self._theta = theta
        self._centres: list[Counter[str]] = []
        self._known: dict[str, int] = {}

    def find(self, tag_path: str) -> int:
        """Return the group of a path; a path that is similar to none starts a new one. It stays in its group."""
        if tag_path not in self._known:
            if len(self._known) >= MAX_PATHS:
                del self._known[next(iter(self._known))]
            self._known[tag_path] = self._join(pairs_of(tag_path))
        return self._known[tag_path]

    def state(self) -> Mapping[str, Any]:
        """Return all groups as JSON values."""
        latest = dict(list(self._known.items())[-MAX_PATHS // 10 :])  # so that an entry stays small
        return {"centres": self._centres, "known": latest}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what `state` returned."""
        self._centres = [Counter({str(pair): int(n) for pair, n in centre.items()}) for centre in state["centres"]]
        self._known = {str(path): int(group) for path, group in state["known"].items()}

    def _join(self, pairs: Mapping[str, int]) -> int:
        similarity = self._similarity(pairs)
        nearest = max(range(len(similarity)), key=similarity.__getitem__, default=-1)
        if nearest >= 0 and (similarity[nearest] >= self._theta or len(self._centres) >= MAX_GROUPS):
            self._centres[nearest].update(pairs)  # the sum points where the mean does
            return nearest
        self._centres.append(Counter(pairs))
        return len(self._centres) - 1

    def _similarity(self, pairs: Mapping[str, int]) -> Sequence[float]:
        return [cosine(pairs, centre) for centre in self._centres]

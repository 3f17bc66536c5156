"""The topic-citation matrix: which topics link to which, sampled by random walks; future work of RULES.

After Chakrabarti, Joshi, Punera and Pennock, The structure of broad topics on the web, WWW 2002. A walk follows links
in both directions, so that it does not end in a page without links; from time to time it jumps back to a start page.
Each link that it meets counts once for the classes of its two ends. The result has the form of interclass rules, and
may replace or complete them: rules see the links of example pages alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

from thresher.linkgraph import LinkGraph

JUMP = 0.1
"""Probability that a walk jumps to a start page."""

ClassCounts = dict[str, dict[str, int]]
"""From class T_i over class T_j to the number of sampled links from T_i to T_j."""


def citation_matrix(
    graph: LinkGraph,
    starts: Sequence[int],
    class_at: Callable[[int], str],
    *,
    steps: int,
    jump: float = JUMP,
    random_state: int = 0,
) -> ClassCounts:
    """Sample links by a random walk, and count the classes of their ends.

    Args:
        graph: The links between pages.
        starts: Pages to start from and to jump to.
        class_at: Returns the class of a page, empty for none; called once per page.
        steps: Length of the walk.
        jump: Probability of a jump at each step.
        random_state: Seed of the walk.

    Raises:
        ValueError: There is no page to start from.
    """
    if not starts:
        raise ValueError("a random walk needs a page to start from")
    random, classes, links = Random(random_state), dict[int, str](), set[tuple[int, int]]()  # noqa: S311 - no secret
    page = random.choice(starts)
    for _ in range(steps):
        out, into = graph.successors(page), graph.predecessors(page)
        if random.random() < jump or not out.size + into.size:
            page = random.choice(starts)
            continue
        place = random.randrange(out.size + into.size)
        other = int(out[place] if place < out.size else into[place - out.size])
        links.add((page, other) if place < out.size else (other, page))
        page = other
    for page in sorted({end for link in links for end in link}):
        classes[page] = class_at(page)
    pairs = Counter((classes[tail], classes[head]) for tail, head in links)
    matrix: ClassCounts = {}
    for (tail, head), number in sorted(pairs.items()):
        if tail:
            matrix.setdefault(tail, {})[head] = number
    return matrix


def combined(*matrices: ClassCounts) -> ClassCounts:
    """Add the counts of several matrices."""
    total: ClassCounts = {}
    for matrix in matrices:
        for tail, heads in matrix.items():
            own = total.setdefault(tail, {})
            for head, number in heads.items():
                own[head] = own.get(head, 0) + number
    return total

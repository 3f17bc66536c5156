"""Depth limits: how far a path may lead over irrelevant pages, by the two rules of the papers.

Both give the children of a relevant page the full depth D and those of other pages one less than their parent. They
differ in where a path ends: with D = 3, Fish and Shark allow four irrelevant pages in a row (depths 3, 2, 1, 0), FCMRPS
three (3, 2, 1). FCMRPS and the baselines it is compared with have the same rule. Seeds have depth D.
"""

from __future__ import annotations


def fish_depth(depth: int, relevant: bool, D: int, *, slow: bool = False) -> int | None:
    """Return the depth of a page's children; None when they are not followed: SURVEY, figure 1.

    A page of depth 0 is the last of its path, even when it turns out to be relevant. Fish in polluted water, behind a
    slow server, live shorter: their children have one less.
    """
    if depth <= 0:
        return None
    child = (D if relevant else depth - 1) - slow
    return child if child >= 0 else None


def fcmrps_depth(depth: int, relevant: bool, D: int) -> int | None:
    """Return the depth of a page's children; None when they are not followed: FCMRPS, section 4.

    Only children of a depth above 0 are followed.
    """
    child = D if relevant else depth - 1
    return child if child > 0 else None

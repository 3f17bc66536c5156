"""Relevance by the direction of a link: FCMRPS 3.6, equation 7.

The constants are those of the paper's experiments (5.2.3), where crosswise links have one value for both cases.
"""

from __future__ import annotations

from collections.abc import Mapping

from thresher.urls.link_types import LinkType, link_type

GAMMA: Mapping[LinkType, tuple[float, float]] = {
    LinkType.DOWNWARD: (0.4, 0.2),
    LinkType.SIBLING: (0.2, 0.1),
    LinkType.CROSSWISE: (0.1, 0.1),
    LinkType.OUTWARD: (0.2, 0.01),
    LinkType.UPWARD: (0.2, 0.0),
}
"""gamma_1 for links whose words are relevant, gamma_2 for others."""


def link_type_relevance(parent_url: str, child_url: str, *, R_AT: float, R_PC: float) -> float:
    """Return R_LT, which is defined for links of relevant pages only; 0 for others."""
    if R_PC <= 0:
        return 0.0
    gamma_1, gamma_2 = GAMMA[link_type(parent_url, child_url)]
    return gamma_1 if R_AT > 0 else gamma_2

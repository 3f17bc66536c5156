"""Hosts that are mirrors of each other: most pages of one are also on the other."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass
from itertools import combinations

LEAST_PAGES = 5
"""Fewer common pages are copies, not a mirror."""
LEAST_SHARE = 0.8
"""Of the pages of the smaller host."""
MOST_HOSTS = 100
"""A page on more hosts than this is taken for a default page of their software."""

MIRROR_COLUMNS = {"host": "string", "other": "string", "common": "int32", "share": "float64"}
"""The columns of the list of mirrors, with their types."""

_HOSTS_OF_GROUPS = (
    "SELECT group_concat(host, char(10)) FROM (SELECT DISTINCT head, host FROM alike "
    "JOIN doc ON doc.fingerprint = alike.page WHERE doc.live) GROUP BY head HAVING count(*) BETWEEN 2 AND ?"
)


@dataclass(frozen=True, slots=True)
class Mirror:
    """Two hosts with the same pages.

    Args:
        host: The one with more pages in the collection.
        other: The smaller one.
        common: Number of groups of near duplicates with pages on both.
        share: Of the groups on the smaller host.
    """

    host: str
    other: str
    common: int
    share: float


def find_mirrors(db: sqlite3.Connection) -> list[Mirror]:
    """Return the pairs of hosts that are mirrors, those with the most common pages first."""
    both = Counter(
        pair
        for (hosts,) in db.execute(_HOSTS_OF_GROUPS, [MOST_HOSTS])
        for pair in combinations(sorted(hosts.split("\n")), 2)
    )
    sizes = dict(
        db.execute(
            "SELECT host, count(DISTINCT head) FROM doc JOIN alike ON alike.page = doc.fingerprint "
            "WHERE doc.live GROUP BY host"
        )
    )
    found = []
    for (one, two), common in both.most_common():
        host, other = sorted((one, two), key=lambda name: (-sizes[name], name))
        share = common / sizes[other]
        if common >= LEAST_PAGES and share >= LEAST_SHARE:
            found.append(Mirror(host, other, common, round(share, 3)))
    return found

"""Hosts that are mirrors of each other: most pages of one are also on the other."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from thresher.search.near_duplicates import group_signatures

MIN_PAGES = 5
"""Fewer common pages are copies, not a mirror."""
MIN_SHARE = 0.8
"""Of the pages of the smaller host."""
MAX_HOSTS = 100
"""A page on more hosts than this is taken for a default page of their software."""

MIRROR_COLUMNS = {"host": "string", "other": "string", "common": "int32", "share": "float64"}
"""The columns of the list of mirrors, with their types."""

_HOSTS_OF_GROUPS = (
    "SELECT group_concat(host, char(10)) FROM (SELECT DISTINCT head, host FROM alike "
    "JOIN doc ON doc.fingerprint = alike.page WHERE doc.live) GROUP BY head HAVING count(*) BETWEEN 2 AND ?"
)
_SIZES = (
    "SELECT host, count(DISTINCT head) FROM doc JOIN alike ON alike.page = doc.fingerprint WHERE doc.live GROUP BY host"
)
_SIGNATURES = "SELECT host, signature FROM doc JOIN alike ON alike.page = doc.fingerprint WHERE doc.live"


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


def find_mirrors(dbs: Sequence[sqlite3.Connection]) -> list[Mirror]:
    """Return the pairs of hosts that are mirrors, those with the most common pages first."""
    groups, sizes = _stored_groups(dbs[0]) if len(dbs) == 1 else _joined_groups(dbs)
    both = Counter(pair for hosts in groups for pair in combinations(sorted(hosts), 2))
    found = []
    for (one, two), common in both.most_common():
        host, other = sorted((one, two), key=lambda name: (-sizes[name], name))
        share = common / sizes[other]
        if common >= MIN_PAGES and share >= MIN_SHARE:
            found.append(Mirror(host, other, common, round(share, 3)))
    return found


Groups = tuple[Iterable[Collection[str]], dict[str, int]]
"""The hosts of each group on several hosts, and the number of groups of each host."""


def _stored_groups(db: sqlite3.Connection) -> Groups:
    groups = (hosts.split("\n") for (hosts,) in db.execute(_HOSTS_OF_GROUPS, [MAX_HOSTS]))
    return groups, dict(db.execute(_SIZES))


def _joined_groups(dbs: Sequence[sqlite3.Connection]) -> Groups:
    """Group the pages of several databases anew, by their signatures: 384 bytes of memory per page."""
    rows = [row for db in dbs for row in db.execute(_SIGNATURES)]
    if not rows:
        return [], {}
    roots = group_signatures(np.frombuffer(b"".join(row[1] for row in rows), np.uint32).reshape(len(rows), -1))
    hosts: dict[int, set[str]] = {}
    for (host, _), root in zip(rows, roots.tolist(), strict=True):
        hosts.setdefault(root, set()).add(host)
    sizes = Counter(host for members in hosts.values() for host in members)
    return [members for members in hosts.values() if 2 <= len(members) <= MAX_HOSTS], dict(sizes)

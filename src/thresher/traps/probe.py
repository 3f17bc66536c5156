"""Soft 404s: hosts that answer with a page when there is none are asked once for a page that cannot exist.

The probe is a URL of the frontier like any other, so robots.txt, the delay and the address guard hold for it too.
"""

from __future__ import annotations

from thresher.records import Candidate, Lease, ParsedPage
from thresher.text.shingles import word_pairs
from thresher.urls.canonical import fingerprint

PROBE = "probe"
"""The key in a candidate's carry that makes it one."""
NOTE = "soft 404"
LEAST_LIKENESS = 0.8
_MAX_PAIRS = 200


def is_probe(lease: Lease) -> bool:
    """Tell whether a lease is for a page that cannot exist."""
    return PROBE in lease.carry


def candidate(lease: Lease) -> Candidate:
    """Return a URL on the host of a lease that nobody has ever linked to."""
    root = lease.url[: lease.url.index("/", len("https://"))]
    name = f"{fingerprint(f'no such page on {lease.host}') & (1 << 64) - 1:016x}"
    return Candidate(
        url=f"{root}/no-such-page-{name}.html",
        score=lease.score,
        carry={PROBE: True},
        hops=lease.hops + 1,
        parent=fingerprint(lease.url),
    )


def signature(page: ParsedPage) -> list[int]:
    """Return the numbers by which other pages like this one are known."""
    return sorted(word_pairs(page.text))[:_MAX_PAIRS]


def is_like(page: ParsedPage, missing: frozenset[int]) -> bool:
    """Tell whether a page says what the page for nothing says, and hardly anything else."""
    if not missing:
        return False
    here = signature(page)
    return len(missing.intersection(here)) >= LEAST_LIKENESS * max(len(here), len(missing))

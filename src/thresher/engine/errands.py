"""Errands: a robots.txt that leads to another host is fetched in that host's own turn.

An errand is a URL of the other host with a fragment that no page can write: canonical URLs have none. It waits in
the frontier like a page, so that host's delay and its one open request hold for it. It brings no page.
"""

from __future__ import annotations

from thresher.records import Candidate, Lease

_MARK = "#robots-"
_AGAIN_SECONDS = 3600.0
"""A URL enters the frontier once, so an errand has the hour in its name: it can be sent again in the next one."""


def errand(place: str, *, score: float, at: float) -> Candidate:
    """Make the errand of asking an address for rules; it waits with the score of the URL that needs them."""
    return Candidate(url=f"{place}{_MARK}{int(at // _AGAIN_SECONDS)}", score=score)


def place_of(lease: Lease) -> str:
    """Return the address that an errand asks; empty for a lease of a page."""
    place, mark, _ = lease.url.partition(_MARK)
    return place if mark else ""

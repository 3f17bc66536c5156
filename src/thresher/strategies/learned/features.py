"""What is known of a waiting URL, as the numbers that the model weighs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from thresher.strategies.learned.links import Ints, KnownLinks
from thresher.strategies.learned.places import EVERYWHERE, Places

GROUPS: Mapping[str, tuple[str, ...]] = {
    "start": ("bias", "pages", "rate"),
    "parents": ("in", "rel_max", "rel_mean", "rel_log", "irr_log", "rel_focus", "away"),
    "siblings": ("sib_mean", "sib_max", "near", "sib_tries"),
    "places": ("path", "template", "directory", "host", "domain", "directory_tries"),
    "topic's words": ("anchor_max", "anchor_mean", "url", "context"),
    "words of the link": ("name_w", "name_lift", "name_share", "name_led"),
    "words around it": ("around_w", "around_lift", "around_share", "around_led"),
    "hub": ("hub_mean", "hub_max"),
    "address": ("bare", "outward", "depth", "query"),
}
"""The features, under the names that `thresher why` prints."""
NAMES = tuple(name for names in GROUPS.values() for name in names)
MEMBERS = np.array([[float(name in names) for names in GROUPS.values()] for name in NAMES])
"""Which feature belongs to which group."""
TRUST = 2.0
"""How many known siblings it takes to believe them as much as all URLs together."""
LEAST_RATE = 0.005

Floats = NDArray[np.float64]


def features(known: KnownLinks, places: Places, numbers: Ints, rows: Ints, at: Ints) -> Floats:
    """Give a row of features for each URL.

    Args:
        numbers: The URLs; each has a link at least.
        rows: The links to each of them in turn.
        at: To which of the URLs each link leads, from 0.
    """
    urls, links, rate = known.urls, known.links, places.rate()
    size = len(numbers)
    count = np.bincount(at, minlength=size)
    page = links["page"][rows]
    relevance, promise = urls["relevance"][page], urls["promise"][page]
    tried = urls["tries"][page]
    siblings = (urls["successes"][page] + TRUST * rate) / (tried + TRUST)
    focus = relevance / np.log2(2 + urls["links"][page])
    path = places.rates(links["path"][rows], rate)
    summed = (relevance, siblings, promise, focus, path, links["near"][rows], links["near_success"][rows], tried)
    relevant, sibling, promised, focused, on_path, near, near_success, tries = (
        np.bincount(at, each, size) for each in summed
    )
    anchor, context, bare, outward, *said = urls["facts"].take(numbers, axis=0).T / count
    most_relevant, most_siblings, most_promise = (_most(at, each, size) for each in (relevance, siblings, promise))
    domain, host, directory, template = _place_rates(places, urls["places"][numbers], rate)
    near_rate = (near_success + rate) / (near + 1)
    level = _logit(rate)
    of_siblings = _logit(np.concatenate([sibling / count, most_siblings, near_rate])) - level
    of_places = _logit(np.concatenate([on_path / count, template, directory, host, domain])) - level
    ones = np.ones(size)
    x = [
        ones,
        ones * np.log1p(places.tries(EVERYWHERE)) / 3,
        ones * level,
        np.log1p(urls["parents"][numbers]) / 3,
        most_relevant,
        (relevant + rate) / (count + 1),
        np.log1p(relevant),
        np.log1p(np.maximum(count - relevant, 0)),
        np.log1p(4 * focused),
        np.log(np.maximum(urls["away"][numbers], 1)),
        of_siblings,
        np.log1p(tries),
        of_places,
        np.log1p(places.tries(urls["places"][numbers][:, 2])),
        urls["anchor"][numbers],
        anchor,
        urls["url"][numbers],
        context,
        *said,
        promised / count,
        most_promise,
        bare,
        outward,
        np.log1p(urls["depth"][numbers]),
        urls["query"][numbers],
    ]
    return np.concatenate(x).reshape(-1, size).T  # feature after feature in memory, as they are made and weighed


def _most(at: Ints, values: NDArray[np.floating], size: int) -> NDArray[np.floating]:
    most = np.full(size, -np.inf, dtype=values.dtype)  # numbers of another kind would take ten times as long
    np.maximum.at(most, at, values)
    return most


def _place_rates(places: Places, at: NDArray[np.int32], rate: float) -> tuple[Floats, Floats, Floats, Floats]:
    domain = places.rates(at[:, 0], rate)
    host = places.rates(at[:, 1], domain)
    return domain, host, places.rates(at[:, 2], host), places.rates(at[:, 3], host)


def _logit(p: Floats | float) -> Floats:
    p = np.minimum(np.maximum(p, LEAST_RATE), 1 - LEAST_RATE)
    odds: Floats = np.log(p / (1 - p))
    return odds

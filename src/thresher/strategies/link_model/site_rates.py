"""Success rates of each part of the web (a place), shrunk towards the place above it.

theta_k = (s_k + kappa * theta_above) / (n_k + kappa)      domain > host > directory, template; tag path on its own
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.native import compiled
from thresher.urls.canonical import host_key, registered_domain
from thresher.urls.scope import template

KAPPA = 3.0
"""Shrinkage: URLs of a place that weigh as much as the rate of the place above it."""
MAX_PLACES = 1 << 17
"""Further places are counted as the one above them."""
FIRST_PLACES = 1 << 10
EVERYWHERE = 0
NO_SUCCESSES, NO_TRIES = 0.5, 5.0
"""Pseudo-counts of the crawl's own success rate."""

_VARIES = re.compile(r"[0-9]").search
"""Matches where a URL without a query has variable parts, and so a template."""
_VARIES_MUCH = re.compile(r"(?<!\d)(?:19|20|21)\d\d|[0-9a-fA-F-]{8}").search
_COUNTS = re.compile(r"\d+").sub
"""Fast path: most variable parts are plain numbers, without a year or a hash."""

Numbers = NDArray[np.integer]
Floats = NDArray[np.float64]


class UrlDirectory(NamedTuple):
    """A directory of a host.

    Args:
        numbers: Of its domain, its host and itself.
        host: The host.
        pattern: The prefix of the templates of plain URLs in it.
        varies, varies_much: Whether its own path has variable parts; and others than plain numbers.
    """

    numbers: tuple[int, int, int]
    host: str
    pattern: str
    varies: bool
    varies_much: bool


class SiteRates:
    """Counts of successes and tries of every place."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"": EVERYWHERE}
        self._tries = np.zeros(FIRST_PLACES)
        self._successes = np.zeros(FIRST_PLACES)
        self._root = lru_cache(maxsize=1 << 12)(self._find_root)
        self._directory = lru_cache(maxsize=1 << 14)(self._find_directory)
        self.path = lru_cache(maxsize=1 << 12)(self._path)

    def of(self, url: str) -> tuple[int, int, int, int]:
        """Return the numbers of a URL's domain, host, directory and template."""
        path, query, _ = url.partition("?")
        above, _, name = path.rpartition("/")
        around = self._directory(above)
        domain, host, directory = around.numbers
        if query or around.varies_much or _VARIES_MUCH(name):
            return domain, host, directory, self._number(f"{around.host} {template(url)}", host)
        if around.varies or _VARIES(name):
            return domain, host, directory, self._number(around.pattern + _COUNTS("#", name), host)
        return domain, host, directory, host

    def of_all(self, urls: list[str]) -> tuple[Numbers, NDArray[np.float32], NDArray[np.float32]]:
        """Return the places of some URLs, the depths of their paths, and which have a query."""
        if compiled:
            return compiled.places_of(urls, self._directory, self._numbers, self._number, self.of)
        paths = [url.partition("://")[2].partition("/")[2] for url in urls]
        depths = np.array([path.rstrip("/").count("/") for path in paths], dtype=np.float32)
        queries = np.array(["?" in path for path in paths], dtype=np.float32)
        return np.array([self.of(url) for url in urls], dtype=np.int32).reshape(-1, 4), depths, queries

    def _find_directory(self, above: str) -> UrlDirectory:
        """Return the directory that is shared by all URLs which differ only after their last slash."""
        end = above.find("/", len("https://"))
        root, path = (above[:end], above[end:]) if end > 0 else (above, "")
        host, domain, on_host = self._root(root)
        return UrlDirectory(
            numbers=(domain, on_host, self._number(above, on_host)),
            host=host,
            pattern=f"{host} {_COUNTS('#', path)}/",
            varies=bool(_VARIES(above, len(host))),
            varies_much=bool(_VARIES_MUCH(path)),
        )

    def _find_root(self, root: str) -> tuple[str, int, int]:
        """Return the host of a URL without its path, and the numbers of its domain and itself."""
        host = host_key(root)
        domain = self._number(registered_domain(host), EVERYWHERE)
        return host, domain, self._number(f"{host} ", domain)

    def _path(self, host: str, tag_path: str) -> int:
        """Return the number of a tag path on a host's pages; `EVERYWHERE` without a tag path."""
        return EVERYWHERE if not tag_path else self._number(f"{host} <{tag_path}>", EVERYWHERE)

    def count(self, places: list[int], successes: float, *, tries: int = 1) -> None:
        """Count the outcome of a URL at all its places."""
        numbers = np.array([EVERYWHERE, *places])
        self._tries[numbers] += tries
        self._successes[numbers] += successes

    def rate(self) -> float:
        """Return the success rate of all URLs."""
        return float((self._successes[EVERYWHERE] + NO_SUCCESSES) / (self._tries[EVERYWHERE] + NO_TRIES))

    def tries(self, places: Numbers | int) -> Floats:
        tries: Floats = self._tries[places]
        return tries

    def rates(self, places: Numbers, above: Floats | float) -> Floats:
        """Return the success rates of some places, shrunk towards the rates of the places above them."""
        shrunk: Floats = (self._successes[places] + KAPPA * above) / (self._tries[places] + KAPPA)
        return shrunk

    def rates_of(self, places: Numbers, rate: float) -> Floats:
        """Return the rates of the domain, host, directory and template of URLs, a row for each kind.

        Args:
            places: Their numbers, a row for each URL.
            rate: The success rate of all URLs.
        """
        if compiled:
            rates: Floats = compiled.place_rates(places, self._tries, self._successes, rate, KAPPA)
            return rates
        domain = self.rates(places[:, 0], rate)
        host = self.rates(places[:, 1], domain)
        return np.stack([domain, host, self.rates(places[:, 2], host), self.rates(places[:, 3], host)])

    def state(self, most: int) -> tuple[list[str], Floats]:
        """Return the state for a restart: the names and counts of the `most` places with the most tries."""
        tries = self._tries[1 : len(self._numbers)]
        chosen = np.sort(np.argsort(-tries, kind="stable")[: min(most, np.count_nonzero(tries))]) + 1
        names, numbers = list(self._numbers), [EVERYWHERE, *chosen]
        return [names[number] for number in chosen], np.stack([self._tries[numbers], self._successes[numbers]])

    def restore(self, names: Sequence[str], counts: Floats) -> None:
        """Restore the result of `state`.

        Raises:
            ValueError: The counts do not match the places.
        """
        if counts.shape != (2, len(names) + 1):
            raise ValueError("what was learned of places is damaged")
        numbers = [EVERYWHERE, *(self._number(name, EVERYWHERE) for name in names)]
        self._tries[numbers], self._successes[numbers] = counts

    def _number(self, name: str, above: int) -> int:
        known = self._numbers.get(name)
        if known is None:
            if len(self._numbers) >= MAX_PLACES:
                return above
            known = self._numbers[name] = len(self._numbers)
            if known >= len(self._tries):
                self._tries = np.concatenate([self._tries, np.zeros_like(self._tries)])
                self._successes = np.concatenate([self._successes, np.zeros_like(self._successes)])
        return known

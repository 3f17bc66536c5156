"""Logistic regression with an L2 penalty towards prior weights.

    minimise  sum of log loss  +  1/2 (w - w0)' H (w - w0)

over the features and some fixed combinations of them, which were useful on other topics; by a few Newton steps from the
last weights. There are few weights, so this costs about a millisecond, and unlike stochastic gradient descent it needs
no learning rate and forgets no example.

The prior of the model, trained on other topics: ``prior.json``, made by ``bench.effectiveness.flagship_prior``.

A safety net for the model: a mixture of experts with classic strategies, which gain weight when they predict better.

Every expert predicts for each URL the probability that it leads to the topic. When the page is fetched, the weights of
the experts are updated by their log loss (Hedge, with a fixed share). So the mixture's loss exceeds that of the best
expert by a constant, whatever the model has learned: Vovk 1990; Herbster and Warmuth 1998.

`features` computes the features of a waiting URL from all known links to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from thresher.native import compiled
from thresher.strategies.link_model.link_table import PLACES, Ints, LinkTable
from thresher.strategies.link_model.site_rates import EVERYWHERE, SiteRates
from thresher.strategies.link_model.term_model import NAME_FEATURES, NameModel

GROUPS: Mapping[str, tuple[str, ...]] = {
    "start": ("bias", "pages", "rate"),
    "parents": ("in", "rel_max", "rel_mean", "rel_log", "irr_log", "rel_focus", "away"),
    "siblings": ("sib_mean", "sib_max", "near", "sib_tries"),
    "places": ("path", "template", "directory", "host", "domain", "directory_tries"),
    "topic's words": ("anchor_max", "anchor_mean", "url", "context"),
    "words of the link": ("name_w", "name_lift", "name_share", "name_led"),
    "words around it": ("around_w", "around_lift", "around_share", "around_led"),
    "similar names": NAME_FEATURES,
    "hub": ("hub_mean", "hub_max"),
    "address": ("bare", "outward", "depth", "query"),
}
"""The features, under the names that `thresher why` prints."""
NAMES = tuple(name for names in GROUPS.values() for name in names)
MEMBERS = np.array([[float(name in names) for names in GROUPS.values()] for name in NAMES])
"""Which feature belongs to which group."""
_AT = {name: place for place, name in enumerate(NAMES)}
_SIBLINGS = [_AT[name] for name in ("sib_mean", "sib_max", "near")]
_PLACES = [_AT[name] for name in ("path", "template", "directory", "host", "domain")]
_FACTS = [
    *(_AT[name] for name in ("anchor_mean", "context", "bare", "outward")),
    *(_AT[name] for group in ("words of the link", "words around it") for name in GROUPS[group]),
]
"""The features of a URL that are means over the links to it, in the order of `LinkTable`'s facts."""
_OWN = [_AT[name] for name in ("anchor_max", "url", "query")]
_VECTORS = [_AT[name] for name in NAME_FEATURES]
TRUST = 2.0
"""Shrinkage: known siblings that weigh as much as the rate of all URLs together."""
MIN_RATE = 0.005

Floats = NDArray[np.float64]


def features(known: LinkTable, places: SiteRates, names: NameModel, numbers: Ints, rows: Ints, at: Ints) -> Floats:
    """Return a row of features for each URL.

    Args:
        names: The model of names; its features are 0 without word vectors.
        numbers: The URLs; each has at least one link.
        rows: The links to each of them in turn.
        at: Index into `numbers` of the URL that each link leads to.
    """
    urls, rate, size = known.urls, places.rate(), len(numbers)
    sums, most = _link_sums(known, places, rows, at, size)
    count, relevant, sibling, promised, focused, on_path, near, near_success, tries = sums
    of_urls = urls["places"].take(numbers, axis=0)
    x = np.empty((len(NAMES), size))
    level = _logit(rate)
    x[_AT["bias"]] = 1.0
    x[_AT["pages"]] = np.log1p(places.tries(EVERYWHERE)) / 3
    x[_AT["rate"]] = level
    x[_AT["rel_max"]], x[_AT["hub_max"]] = most[0], most[2]
    x[_AT["rel_mean"]] = (relevant + rate) / (count + 1)
    x[_AT["away"]] = np.log(np.maximum(urls["away"].take(numbers), 1))
    raw = x[_AT["rel_log"] : _AT["rel_focus"] + 1]
    raw[:] = relevant, np.maximum(count - relevant, 0), 4 * focused
    np.log1p(raw, out=raw)
    x[_AT["in"]] = np.log1p(urls["parents"].take(numbers)) / 3
    x[_AT["sib_tries"]] = np.log1p(tries)
    x[_AT["directory_tries"]] = np.log1p(places.tries(of_urls[:, PLACES.index("directory")]))
    x[_AT["depth"]] = np.log1p(urls["depth"].take(numbers))
    domain, host, directory, template = places.rates_of(of_urls, rate)
    x[_SIBLINGS] = _logit(np.stack([sibling / count, most[1], (near_success + rate) / (near + 1)])) - level
    x[_PLACES] = _logit(np.stack([on_path / count, template, directory, host, domain])) - level
    x[_FACTS] = urls["facts"].take(numbers, axis=0).T / count
    x[_OWN] = [urls[name].take(numbers) for name in ("anchor", "url", "query")]
    x[_VECTORS] = names.features(urls["vector"].take(numbers, axis=0)).T
    x[_AT["hub_mean"]] = promised / count
    return x.T  # column-major in memory, as the features are computed and used


def _link_sums(
    known: LinkTable, places: SiteRates, rows: Ints, at: Ints, size: int
) -> tuple[Floats, Sequence[NDArray[np.floating]]]:
    """Sum the features of links over the URLs that they lead to.

    Returns:
        For each URL the number of links, and sums of relevance, siblings, promise, focus, path, near, near_success and
        tries; and the maxima of the first three.
    """
    urls, links, rate = known.urls, known.links, places.rate()
    page = links["page"].take(rows)
    relevance = urls["relevance"].take(page)
    focus = relevance / np.log2(2 + urls["links"].take(page))
    path = places.rates(links["path"].take(rows), rate)
    if compiled:
        sums = compiled.link_sums(rows, at, size, links.filled, urls.filled, focus, path, rate, TRUST)
        return sums[:-3], list(sums[-3:])
    promise, tried = urls["promise"][page], urls["tries"][page]
    siblings = (urls["successes"][page] + TRUST * rate) / (tried + TRUST)
    summed = (relevance, siblings, promise, focus, path, links["near"][rows], links["near_success"][rows], tried)
    sums = np.stack([np.bincount(at, minlength=size), *(np.bincount(at, each, size) for each in summed)])
    return sums, [_most(at, each, size) for each in (relevance, siblings, promise)]


def _most(at: Ints, values: NDArray[np.floating], size: int) -> NDArray[np.floating]:
    most = np.full(size, -np.inf, dtype=values.dtype)  # another dtype would take ten times as long
    np.maximum.at(most, at, values)
    return most


def _logit(p: Floats | float) -> Floats:
    p = np.minimum(np.maximum(p, MIN_RATE), 1 - MIN_RATE)
    odds: Floats = np.log(p / (1 - p))
    return odds


@dataclass(frozen=True, kw_only=True)
class Prior:
    """The prior of a model.

    Args:
        weights: Of the features, then of the combinations.
        prior_strength: The precision of each weight, in examples.
        mixing: The weight of each feature in each combination, a row per feature.
    """

    weights: Floats
    prior_strength: Floats
    mixing: Floats

    @property
    def tag(self) -> int:
        """Identifies the combinations, whose weights mean nothing under another prior."""
        return crc32(self.mixing.tobytes())

    def with_combinations(self, x: Floats) -> Floats:
        """Return the features, followed by their combinations: the tanh of weighted sums."""
        return np.concatenate([x, np.tanh(x @ self.mixing)], axis=-1)


PRIOR, PRIOR_WITHOUT_VECTORS = "prior.json", "prior_without_vectors.json"
"""The priors in the package: for crawls with word vectors and without."""


def read_prior(path: str | Path, names: Sequence[str], *, prior_strength: float = 1.0) -> Prior:
    """Read a prior; features that it does not know have the weight 0.

    Args:
        path: A file; the name of a prior in the package if it has no folder.
        names: The features.
        prior_strength: A factor of the prior's precisions.
    """
    is_packaged = path in (PRIOR, PRIOR_WITHOUT_VECTORS)
    file = files("thresher.strategies.link_model") / str(path) if is_packaged else Path(path)
    read: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    features: dict[str, Any] = read["features"]
    combined = read["combinations"]
    nothing = {"weight": 0.0, "hold": 1.0, "mixing": [0.0] * len(combined)}
    known = [features.get(name, nothing) for name in names]
    return Prior(
        weights=np.array([each["weight"] for each in [*known, *combined]], dtype=np.float64),
        prior_strength=prior_strength * np.array([each["hold"] for each in [*known, *combined]], dtype=np.float64),
        mixing=np.array([each["mixing"] for each in known], dtype=np.float64).reshape(len(names), len(combined)),
    )


MAX_EXAMPLES = 2_000
"""The latest examples, which the weights are fitted to."""
NEWTON_STEPS = 2
MAX_STEP = 2.0
MIN_CURVATURE = 1e-4
SURE = 1e-4
STOPS, STOP_SHARES = (np.polynomial.legendre.leggauss(4) + np.array([[1.0], [0.0]])) / 2
"""Nodes and weights of the quadrature (Gauss, Legendre) for the parts of a score."""


def sigmoid(z: Floats) -> Floats:
    """Return probabilities for log odds."""
    return 1 / (1 + np.exp(np.minimum(np.maximum(-z, -30), 30)))  # `clip` costs more than all of it


def log_odds(p: Floats) -> Floats:
    """Return the log odds of probabilities, which are clipped away from 0 and 1."""
    p = np.clip(p, SURE, 1 - SURE)
    odds: Floats = np.log(p / (1 - p))
    return odds


class Model:
    """The model: weights of the features and of their combinations."""

    def __init__(self, prior: Prior, *, most: int = MAX_EXAMPLES) -> None:
        self.weights = prior.weights.copy()
        self._prior = prior
        self._x = np.zeros((most, len(prior.mixing)))
        self._r = np.zeros(most)
        self._keys = np.zeros(most, dtype=np.int64)
        self._rows: dict[int, int] = {}
        self.count = 0

    def predict(self, x: Floats) -> Floats:
        """Return the probabilities that URLs lead to the topic, by their features."""
        return sigmoid(self._prior.with_combinations(x) @ self.weights)

    def parts(self, x: Floats) -> Floats:
        """Return what each feature of some URLs adds to the log odds, its share of the combinations included.

        By integrated gradients (Sundararajan et al. 2017), from a URL that nothing is known of. The log odds of that
        URL count for the first feature, which is always 1.
        """
        mixing, width = self._prior.mixing, x.shape[1]
        straight, combined = self.weights[:width], self.weights[width:]
        unknown = np.zeros(width)
        unknown[0] = 1.0
        hidden = np.tanh((x - unknown) @ mixing * STOPS[:, None, None] + unknown @ mixing)
        slopes = straight + combined * (1 - np.tensordot(STOP_SHARES, hidden**2, 1)) @ mixing.T
        parts: Floats = slopes * (x - unknown)
        parts[:, 0] = self._prior.with_combinations(unknown) @ self.weights
        return parts

    def add(self, key: int, x: Floats, r: float) -> None:
        """Add an example: the features of a URL before it was fetched, and the relevance of its page."""
        row = self.count % len(self._r)
        self._rows.pop(int(self._keys[row]), None)
        self._x[row], self._r[row], self._keys[row] = x, r, key
        self._rows[key] = row
        self.count += 1

    def revise(self, key: int, r: float) -> None:
        """Update the relevance of an example."""
        if (row := self._rows.get(key)) is not None:
            self._r[row] = r

    def fit(self) -> None:
        x, r = self._examples()
        x, prior_strength = self._prior.with_combinations(x), self._prior.prior_strength
        for _ in range(NEWTON_STEPS):
            p = sigmoid(x @ self.weights)
            gradient = x.T @ (p - r) + prior_strength * (self.weights - self._prior.weights)
            curvature = (x * (p * (1 - p) + MIN_CURVATURE)[:, None]).T @ x + np.diag(prior_strength)
            step = np.linalg.solve(curvature, gradient)
            self.weights -= step / max(1.0, float(np.abs(step).max()) / MAX_STEP)

    def state(self) -> dict[str, Any]:
        x, r = self._examples()
        keys = self._keys[: len(r)]
        return {
            "x": x.astype(np.float16),
            "r": r.astype(np.float16),
            "keys": keys,
            "weights": self.weights,
            "prior": np.array([self._prior.tag]),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the result of `state`; under another prior, by fitting the weights to the examples again.

        Raises:
            ValueError: It belongs to other features.
        """
        x, r, weights = _with_name_features(state["x"]), state["r"], state["weights"]
        if x.ndim != 2 or x.shape[1] != self._x.shape[1]:
            raise ValueError("what was learned is of other features")
        for key, one_x, one_r in zip(state["keys"].tolist(), x.astype(np.float64), r.tolist(), strict=True):
            self.add(int(key), one_x, float(one_r))
        is_same_prior = state.get("prior", np.zeros(1)).tolist() == [self._prior.tag]
        if is_same_prior and weights.shape == self.weights.shape:
            self.weights = weights.astype(np.float64)
        else:
            self.fit()

    def _examples(self) -> tuple[Floats, Floats]:
        filled = min(self.count, len(self._r))
        return self._x[:filled], self._r[:filled]


def _with_name_features(x: Floats) -> Floats:
    """Return the features of examples with those of names, as zeros, if an older version wrote them without."""
    if x.ndim != 2 or x.shape[1] != len(NAMES) - len(NAME_FEATURES):
        return x
    place = NAMES.index(NAME_FEATURES[0])
    return np.insert(x, [place] * len(NAME_FEATURES), 0.0, axis=1)


FIRST_WEIGHT = 0.9
"""Initial weight of the model: its prior was trained on other topics, where it predicted better than any classic."""
FIXED_SHARE = 0.01
"""Share of the weights that is distributed equally, so that an expert that was wrong for long can recover."""
FIRST_SLOPE, FIRST_LEVEL, MIN_SLOPE = 3.0, -2.5, 0.5
"""Initial calibration of a classic's score; its slope stays positive."""
RATE, FIRST_SQUARE = 0.3, 1.0
MAX_LOSS = 5.0
"""Upper bound of the loss of one page, in nats."""


CLASSICS: Mapping[str, Mapping[str, float]] = {
    "best-first": {"rel_max": 1.0},
    "relevant-parents": {"rel_mean": 1.0},
    "page-anchor": {"rel_max": 0.5, "anchor_max": 0.5},
    "fcmrps": {"rel_max": 0.5, "anchor_max": 0.5, "url": 0.5, "context": 0.5},
}
"""The scores of classics, as weighted sums of the model's features; FCMRPS without the direction of links."""
_USED = sorted({NAMES.index(name) for sums in CLASSICS.values() for name in sums})
_SUMS = np.array([[sums.get(NAMES[column], 0.0) for column in _USED] for sums in CLASSICS.values()])


class ExpertMixture:
    """Mixes the predictions of the model and of the classics."""

    def __init__(self) -> None:
        classics = len(CLASSICS)
        self._weights = np.array([FIRST_WEIGHT, *([(1 - FIRST_WEIGHT) / classics] * classics)])
        self._lines = np.tile([FIRST_SLOPE, FIRST_LEVEL], (classics, 1))
        self._squares = np.full((classics, 2), FIRST_SQUARE)

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each expert, by name."""
        return dict(zip(("learned", *CLASSICS), self._weights.tolist(), strict=True))

    def state(self) -> dict[str, Floats]:
        return {"net_say": self._weights, "net_lines": self._lines, "net_squares": self._squares}

    def restore(self, state: Mapping[str, Floats]) -> None:
        """Restore the result of `state`; entries of older versions do not have it.

        Raises:
            ValueError: It belongs to other classics.
        """
        if "net_say" not in state:
            return
        weights, lines, squares = (np.asarray(state[name], dtype=np.float64) for name in self.state())
        if weights.shape != self._weights.shape or lines.shape != squares.shape or lines.shape != self._lines.shape:
            raise ValueError("what was learned is of other classics")
        self._weights, self._lines, self._squares = weights, lines, squares

    def mix(self, x: Floats, learned: Floats) -> Floats:
        """Return the weighted mean of all experts' predictions for some URLs.

        Args:
            x: The URLs' features.
            learned: The model's predictions.
        """
        return self._weights @ self._predict(_scores(x), learned)

    def learn(self, x: Floats, learned: float, relevance: float) -> None:
        """Update the weights of the experts by the outcome of a URL, and calibrate the classics."""
        scores = _scores(x[None, :])
        p = np.clip(self._predict(scores, np.array([learned]))[:, 0], 1e-6, 1 - 1e-6)
        loss = -relevance * np.log(p) - (1 - relevance) * np.log(1 - p)
        weights = self._weights * np.exp(-np.minimum(loss, MAX_LOSS))
        self._weights = (1 - FIXED_SHARE) * weights / weights.sum() + FIXED_SHARE / len(weights)
        gradient = (p[1:] - relevance)[:, None] * np.stack([scores[:, 0], np.ones(len(scores))], axis=1)
        self._squares += gradient**2
        self._lines -= RATE * gradient / np.sqrt(self._squares)
        self._lines[:, 0] = np.maximum(self._lines[:, 0], MIN_SLOPE)

    def _predict(self, scores: Floats, learned: Floats) -> Floats:
        return np.vstack([learned, sigmoid(scores * self._lines[:, :1] + self._lines[:, 1:])])


def _scores(x: Floats) -> Floats:
    scores: Floats = _SUMS @ x.T[_USED]
    return scores

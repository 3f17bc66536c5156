"""Anthelion: Meusel, Mika and Blanco, Focused crawling for structured data, CIKM 2014, and its published code.

Two things are learned: a bandit whose arms are hosts, by how many good and bad pages each gave, and an online
classifier of URLs, by their tokens and by the labels of parents and siblings. The next URL is the best one of the best
host; now and then, less and less often, of a random host.

The features of Anthelion's classifier of URLs: hashed tokens, and the labels of its parents and siblings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from zlib import crc32

import numpy as np

from thresher.modelstate.codec import pack_both, unpack_both
from thresher.records import Candidate, Judgement, Lease, ParsedPage
from thresher.urls.canonical import host_key
from thresher.urls.tokens import split_host
from thresher_lab.peers.naive_bayes import Features, NaiveBayes
from thresher_lab.peers.turns import Found, TurnBasedStrategy

HASHES = 10_000
GOOD_PARENT, BAD_PARENT, GOOD_SIBLING, BAD_SIBLING = range(HASHES, HASHES + 4)
FEATURES = HASHES + 4
MIN_LETTERS = 3
MAX_PAGES = 20_000
MAX_PARENTS = 8
"""Of one URL; further ones are ignored."""
REMEMBERED_URLS = 1 << 15
_NUMBER = "[NUMBER]"
_TOKEN_ENDS = re.compile(r"[^a-z0-9]").split


def tokens_of(url: str) -> list[str]:
    """Cut what follows the host into tokens of three characters and more, each once; numbers are all one token.

    Tokens of letters and digits mixed are left out.
    """
    found = (token for token in _TOKEN_ENDS(split_host(url)[1]) if len(token) >= MIN_LETTERS)
    named = (_NUMBER if token.isdecimal() else token for token in found)
    return list(dict.fromkeys(token for token in named if token == _NUMBER or token.isalpha()))


def url_features(url: str, labels: Sequence[int]) -> Features:
    """Return the numbers of all features of a URL."""
    return np.array([*_hashes(url), *labels], dtype=np.int32)


@lru_cache(maxsize=REMEMBERED_URLS)
def _hashes(url: str) -> tuple[int, ...]:
    return tuple(sorted({crc32(token.encode()) % HASHES for token in tokens_of(url)}))


class Families:
    """The labels of the latest pages, and of the children of each that were fetched."""

    def __init__(self) -> None:
        self._relevant: dict[str, bool] = {}
        self._children: dict[str, set[bool]] = {}

    def add(self, page: str, relevant: bool) -> None:
        """Record the label of a page with links."""
        self._relevant[page] = relevant
        self._children.setdefault(page, set())
        if len(self._relevant) > MAX_PAGES:
            oldest = next(iter(self._relevant))
            del self._relevant[oldest], self._children[oldest]

    def child(self, parents: Iterable[str], relevant: bool) -> None:
        """Record the label of a page for all known pages that link to it."""
        for parent in parents:
            if parent in self._children:
                self._children[parent].add(relevant)

    def labels(self, parents: Sequence[str]) -> list[int]:
        """Return the features of a URL from its parents and from their other children."""
        of_parents = {self._relevant[parent] for parent in parents if parent in self._relevant}
        of_siblings = set().union(*(self._children.get(parent, ()) for parent in parents))
        found = ((GOOD_PARENT, True in of_parents), (BAD_PARENT, False in of_parents),
                 (GOOD_SIBLING, True in of_siblings), (BAD_SIBLING, False in of_siblings))  # fmt: skip
        return [feature for feature, is_there in found if is_there]


GOOD, BAD = 0, 1
MAX_HOSTS = 50_000
"""Hosts whose good and bad pages are counted; the oldest are dropped."""
ALPHA, BETA = 1, 1
"""Prior counts of good and bad pages of a host."""


@dataclass(slots=True)
class _Url:
    """A waiting URL: its host, the pages it was found on, and its prediction."""

    host: str
    parents: list[str] = field(default_factory=list)
    prediction: float = 0.0


class Anthelion(TurnBasedStrategy[_Url]):
    """Fetch the best URL of the host that is doing best.

    Hosts and the classifier are saved with the crawl; siblings and waiting links are not, so that after a
    restart old links keep the scores they have. Each worker learns from the pages that it fetches. Bounded: 10,004
    features, 50,000 hosts, 20,000 pages with their children's labels, and the latest 20,000 links.

    Args:
        random_share: Of the choices, how many are of a random host at first: λ.
        decay_every: Choices after which that is half as many, a third, and so on; 0 for never.
        learn_every: Pages after which the classifier learns from them, and waiting links are classified again.
        random_state: The same number gives the same random hosts.
    """

    def __init__(
        self, *, random_share: float = 0.2, decay_every: int = 100, learn_every: int = 5, random_state: int = 0
    ) -> None:
        if not 0 <= random_share <= 1:
            raise ValueError(f"random_share must lie between 0 and 1, got {random_share}")
        if decay_every < 0 or learn_every < 1:
            raise ValueError("decay_every must be at least 0, and learn_every at least 1")
        super().__init__("anthelion")
        self._random_share = random_share
        self._decay_every = decay_every
        self._learn_every = learn_every
        self._random = Random(random_state)  # noqa: S311 - no secret
        self._classifier = NaiveBayes(2, FEATURES)
        self._hosts: dict[str, list[int]] = {}
        self._families = Families()
        self._pulled = 0
        self._new_pages = 0

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Learn from this page, and score its links."""
        self._choice.on_result(lease)
        self._learn(lease, judgement.relevant)
        self._families.add(page.url, judgement.relevant)
        for url in dict.fromkeys(link.url for link in page.links):
            yield self._found(url, page.url)
        self._state.page_done()

    def host_value(self, host: str, best_score: float) -> float:
        """Return the value of an arm: the prediction for its best URL, times good over bad pages."""
        good, bad = self._hosts.get(host, (0, 0))
        return best_score * (good + ALPHA) / (bad + BETA)

    def random_share(self) -> float:
        """Return the current share of random choices."""
        periods = self._pulled // self._decay_every if self._decay_every else 0
        return self._random_share / (periods + 1)

    def _found(self, url: str, parent: str) -> Candidate:
        """Classify a found URL; one that is waiting already gets one more parent."""
        if url in self._waiting:
            known = self._waiting[url]
            if len(known.parents) < MAX_PARENTS:
                known.parents.append(parent)
        else:
            known = _Url(host_key(url), [parent])
            known.prediction = self._predict([(url, known)])[0]
        score = known.prediction
        self._waiting.add_first(url, score, known)
        good, bad = self._hosts.get(known.host, (0, 0))
        breakdown = {"prediction": known.prediction, "good": float(good), "bad": float(bad)}
        return Candidate(url=url, score=score, breakdown=breakdown, strategy_data={"parent": parent})

    def _learn(self, lease: Lease, relevant: bool) -> None:
        label, host = GOOD if relevant else BAD, host_key(lease.url)
        known, parent = self._waiting.leave(lease.url), lease.strategy_data.get("parent")
        parents = known.parents if known else [parent] if isinstance(parent, str) else []
        self._classifier.add(label, url_features(lease.url, self._families.labels(parents)))
        self._families.child(parents, relevant)
        counts = self._hosts.pop(host, [0, 0])
        counts[label] += 1
        self._hosts[host] = counts
        if len(self._hosts) > MAX_HOSTS:
            del self._hosts[next(iter(self._hosts))]
        self._new_pages += 1
        if self._new_pages >= self._learn_every:
            self._new_pages = 0
            self._classifier.fit()
            self._classify_again()

    def _classify_again(self) -> None:
        urls = list(self._waiting.items())
        for (_, known), prediction in zip(urls, self._predict(urls), strict=True):
            known.prediction = prediction

    def _predict(self, urls: Sequence[tuple[str, _Url]]) -> list[float]:
        """Return the probabilities of good pages; as factors of host values they must not be negative."""
        features = [url_features(url, self._families.labels(known.parents)) for url, known in urls]
        predictions: list[float] = self._classifier.predict(features)[:, GOOD].tolist()
        return predictions

    def _choose(self) -> Found | None:
        """Choose a host, and its best URL."""
        best: dict[str, tuple[float, str]] = {}
        for url, known in self._waiting.items():
            if known.host not in best or known.prediction > best[known.host][0]:
                best[known.host] = (known.prediction, url)
        if not best:
            return None
        if self._random.random() < self.random_share():
            host = self._random.choice(list(best))
        else:
            host = max(best, key=lambda each: self.host_value(each, best[each][0]))
        self._pulled += 1
        url = best[host][1]
        return url, self._waiting.choose(url)

    def _write(self) -> bytes:
        hosts = dict(list(self._hosts.items())[-MAX_HOSTS // 5 :])  # so that an entry stays small
        arrays = {"examples": self._classifier.examples, "counts": self._classifier.counts.astype(np.int32)}
        return pack_both(arrays, {"hosts": hosts, "pulled": self._pulled})

    def _read(self, content: bytes) -> None:
        arrays, values = unpack_both(content)
        self._classifier.examples[:], self._classifier.counts[:] = arrays["examples"], arrays["counts"]
        self._classifier.fit()
        self._hosts = {str(host): [int(good), int(bad)] for host, (good, bad) in values["hosts"].items()}
        self._pulled = int(values["pulled"])

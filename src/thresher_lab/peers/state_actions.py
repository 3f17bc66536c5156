"""The nine numbers by which TRES knows a link: three of the path that led to its page, six of the link itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thresher.records import Link, ParsedPage
from thresher.text.tokens import tokenize
from thresher.topics.profile import TopicProfile
from thresher.urls.canonical import host_key
from thresher.urls.tokens import split_host
from thresher_lab.peers.tree_frontier import StateActionSample

NAMES = (
    "father's relevance",
    "inverse distance from the last relevant page",
    "share of relevant pages on the path",
    "keyword in the URL",
    "keyword in the anchor",
    "phrase in the anchor",
    "share of relevant pages of the host",
    "host is unknown",
    "likeness of the anchor",
)
INPUTS = len(NAMES)
HOST_SHARE, HOST_UNKNOWN = 6, 7
UNKNOWN_SHARE = 0.5
MAX_HOSTS = 50_000

Path = tuple[int, int, int]
"""Relevant pages on the way to a page, irrelevant ones, and the distance from the last relevant one."""


class StateActions:
    """Computes state-actions of links.

    Args:
        topic_profile: The topic; its terms are the keywords, its phrases of several words the key phrases.
    """

    def __init__(self, topic_profile: TopicProfile) -> None:
        self._sim = topic_profile.similarity
        self._keywords = {term for vector in topic_profile.vectors.values() for term in vector}
        self._phrases = [phrase.lower() for phrase in topic_profile.phrases if " " in phrase.strip()]
        self._hosts: dict[str, tuple[int, int]] = {}

    def visited(self, url: str, reward: float) -> None:
        """Count a page of a host."""
        relevant, visited = self._hosts.pop(host_key(url), (0, 0))
        self._hosts[host_key(url)] = (relevant + (reward > 0), visited + 1)
        if len(self._hosts) > MAX_HOSTS:
            del self._hosts[next(iter(self._hosts))]

    def seed(self, url: str, title: str) -> StateActionSample:
        """Make a state-action that led to a seed: no path, its title for an anchor, and a host that is all relevant."""
        return StateActionSample(url, np.array([0.0, 0.0, 0.0, *self._words(url, title), 1.0, 0.0, self._sim(title)]))

    def expand(self, page: ParsedPage, path: Path, reward: float) -> list[StateActionSample]:
        """Make state-actions of the links of a page, each URL once, by its last link as in TRES."""
        relevant, irrelevant, distance = path
        here = (relevant + 1, irrelevant, 1) if reward else (relevant, irrelevant + 1, distance + 1)
        state = [reward, quantize(1 / here[2]), quantize(here[0] / (here[0] + here[1]))]
        links = {link.url: link for link in page.links}
        return [StateActionSample(link.url, self._vector(state, link), here) for link in links.values()]

    def renew(self, sample: StateActionSample) -> None:
        """Update the host features of a link."""
        sample.x[HOST_SHARE], sample.x[HOST_UNKNOWN] = self._host(sample.url)

    def _vector(self, state: Sequence[float], link: Link) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        action = (*self._words(link.url, link.anchor), *self._host(link.url), self._sim(link.anchor))
        return np.array([*state, *action], dtype=np.float64)

    def _words(self, url: str, anchor: str) -> tuple[float, float, float]:
        """Return whether keywords are in a URL and in an anchor, and whether a phrase is in the anchor."""
        in_url = not self._keywords.isdisjoint(tokenize(split_host(url)[1]))
        in_anchor = not self._keywords.isdisjoint(tokenize(anchor))
        lower = anchor.lower()
        return float(in_url), float(in_anchor), float(any(phrase in lower for phrase in self._phrases))

    def _host(self, url: str) -> tuple[float, float]:
        relevant, visited = self._hosts.get(host_key(url), (0, 0))
        return (quantize(relevant / visited), 0.0) if visited else (UNKNOWN_SHARE, 1.0)


def quantize(value: float) -> float:
    """Round to a tenth, so that few values are left to split between."""
    return round(value, 1)

"""A sleeping bandit over tag paths: SB-CLASSIFIER of Gauquier, Manolescu and Senellart, 2026.

Links at the same position of their pages lead to pages of the same kind. Similar tag paths form an arm; an arm sleeps
while no link of it waits. Of the awake arms the one with the best AUER score is pulled: its mean reward plus an
exploration bonus. One of its links, sampled at random, is fetched next.

Groups of similar tag paths, by the cosine of their pairs of neighbouring elements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import log, sqrt
from random import Random
from typing import Any

from thresher.modelstate.codec import pack_values, unpack_values
from thresher.records import Candidate, Judgement, Lease, ParsedPage
from thresher.text.vectors import cosine
from thresher_lab.peers.turns import Found, TurnBasedStrategy

MAX_GROUPS = 500
"""Beyond it a path joins the nearest group."""
MAX_PATHS = 20_000
"""Paths whose groups are remembered."""


def pairs_of(tag_path: str) -> dict[str, int]:
    """Return the pairs of neighbouring elements of a path, its ends included, each once.

    Our paths are bare tags. Were pairs counted, ``div/div`` would outweigh all else, and all paths would be alike.
    """
    elements = ["^", *tag_path.split("/"), "$"]
    return dict.fromkeys((f"{one}/{other}" for one, other in pairwise(elements)), 1)


class TagPaths:
    """Groups of tag paths, each with its centre.

    Args:
        theta: The least cosine of a path and the centre of its group.
    """

    def __init__(self, *, theta: float) -> None:
        if not 0 <= theta <= 1:
            raise ValueError(f"theta must lie between 0 and 1, got {theta}")
        self._theta = theta
        self._centres: list[Counter[str]] = []
        self._known: dict[str, int] = {}

    def find(self, tag_path: str) -> int:
        """Return the group of a path; a path that is similar to none starts a new one. It stays in its group."""
        if tag_path not in self._known:
            if len(self._known) >= MAX_PATHS:
                del self._known[next(iter(self._known))]
            self._known[tag_path] = self._join(pairs_of(tag_path))
        return self._known[tag_path]

    def state(self) -> Mapping[str, Any]:
        """Return all groups as JSON values."""
        latest = dict(list(self._known.items())[-MAX_PATHS // 10 :])  # so that an entry stays small
        return {"centres": self._centres, "known": latest}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what `state` returned."""
        self._centres = [Counter({str(pair): int(n) for pair, n in centre.items()}) for centre in state["centres"]]
        self._known = {str(path): int(group) for path, group in state["known"].items()}

    def _join(self, pairs: Mapping[str, int]) -> int:
        similarity = self._similarity(pairs)
        nearest = max(range(len(similarity)), key=similarity.__getitem__, default=-1)
        if nearest >= 0 and (similarity[nearest] >= self._theta or len(self._centres) >= MAX_GROUPS):
            self._centres[nearest].update(pairs)  # the sum points where the mean does
            return nearest
        self._centres.append(Counter(pairs))
        return len(self._centres) - 1

    def _similarity(self, pairs: Mapping[str, int]) -> Sequence[float]:
        return [cosine(pairs, centre) for centre in self._centres]


@dataclass(slots=True)
class BanditArm:
    """One arm: its pulls, its rewards, and its waiting links."""

    pulls: int = 0
    reward: float = 0.0
    links: list[str] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """The mean reward so far; 0 before the first pull."""
        return self.reward / self.pulls if self.pulls else 0.0


class TagPathBandit(TurnBasedStrategy[int]):
    """Fetch links from page positions that led to the topic before, exploring other positions less and less.

    The tag path of a link is stored with it. Arms and their rewards are saved with the crawl; waiting links are not, so
    that after a restart old links keep the scores they have. Each worker has its own arms. Bounded: 500 arms, and the
    latest 20,000 links.

    Args:
        alpha: Weight of the exploration bonus; 2√2 is AUER's.
        theta: Least similarity of the tag paths of one arm, from 0 to 1.
        random_state: The same number gives the same samples.
    """

    def __init__(self, *, alpha: float = 2.828, theta: float = 0.75, random_state: int = 0) -> None:
        if alpha < 0:
            raise ValueError(f"alpha must be at least 0, got {alpha}")
        super().__init__("tag-path-bandit")
        self._alpha = alpha
        self._paths = TagPaths(theta=theta)
        self._random = Random(random_state)  # noqa: S311 - no secret
        self._arms: dict[int, BanditArm] = {}

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Reward the arm that led here, and give each new link to its arm."""
        self._record_reward(lease, judgement.reward)
        for link in page.links:
            number = self._paths.find(link.tag_path)
            arm = self._arms.setdefault(number, BanditArm())
            if self._waiting.add_first(link.url, arm.mean, number):
                arm.links.append(link.url)
            breakdown = {"arm": float(number), "mean reward": arm.mean, "pulls": float(arm.pulls)}
            yield Candidate(
                url=link.url, score=arm.mean, breakdown=breakdown, strategy_data={"tag_path": link.tag_path}
            )
        self._state.page_done()

    def on_miss(self, lease: Lease) -> Iterator[Candidate]:
        """Return the arm no reward for a page that is never fetched, and choose again."""
        self._record_reward(lease, 0.0)
        return iter(())

    def auer(self, arm: BanditArm, t: int) -> float:
        """Return the score of an awake arm after t pulls of any arm."""
        return arm.mean + self._alpha * sqrt(log(max(t, 1)) / arm.pulls) if arm.pulls else float("inf")

    def _record_reward(self, lease: Lease, reward: float) -> None:
        self._choice.on_result(lease)
        self._waiting.leave(lease.url)
        path = lease.strategy_data.get("tag_path")
        if isinstance(path, str):
            arm = self._arms.setdefault(self._paths.find(path), BanditArm())
            arm.pulls += 1
            arm.reward += reward

    def _choose(self) -> Found | None:
        """Pull the best awake arm; among arms never pulled, the one found first."""
        t = sum(arm.pulls for arm in self._arms.values())
        for number in sorted(self._arms, key=lambda number: -self.auer(self._arms[number], t)):
            if url := self._sample(self._arms[number]):
                return url, self._waiting.choose(url)
        return None

    def _sample(self, arm: BanditArm) -> str | None:
        """Sample a waiting link; an arm without one sleeps."""
        while arm.links:
            place = self._random.randrange(len(arm.links))
            arm.links[place], arm.links[-1] = arm.links[-1], arm.links[place]
            url = arm.links.pop()
            if url in self._waiting:
                return url
        return None

    def _write(self) -> bytes:
        arms = {number: [arm.pulls, arm.reward] for number, arm in self._arms.items()}
        return pack_values({"paths": self._paths.state(), "arms": list(arms.items())})

    def _read(self, content: bytes) -> None:
        state = unpack_values(content)
        self._paths.restore(state["paths"])
        self._arms = {int(number): BanditArm(int(pulls), float(reward)) for number, (pulls, reward) in state["arms"]}

"""TRES: Kontogiannis, Kelesis, Pollatos, Giannakopoulos and Paliouras, arXiv 2112.07620, and its published code.

Tree-based focused crawling with reinforcement learning: the state is what was crawled so far, an action is to follow a
link. A link and the path to it are nine numbers; a network values them, learned by double Q-learning with replay. A
tree frontier samples one link from each of its leaves, and the one of greatest value is fetched. `q_network.py`, with
the same layers, replaces its Keras network.

A small network that gives the value of a state-action, in place of TRES's Keras model: the same layers, in numpy.

Dense layers of 30 and 15 with leaky ReLU, then one number; squared loss; Adam with clipped gradients.

The nine numbers by which TRES knows a link: three of the path that led to its page, six of the link itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.modelstate.codec import fitted, pack_both, unpack_both
from thresher.records import Candidate, Judgement, Lease, Link, ParsedPage, StrategyData
from thresher.text.tokens import tokenize
from thresher.topics.profile import TopicProfile
from thresher.urls.canonical import host_key
from thresher.urls.tokens import split_host
from thresher_lab.peers.tree_frontier import StateActionSample, TreeFrontier
from thresher_lab.peers.turns import Found, TurnBasedStrategy

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


LAYERS = (30, 15, 1)
LEAK = 0.1
CLIP = 1.0
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-7
"""Adam's own."""

Matrix = NDArray[np.float64]


class QNetwork:
    """Q(s, a), learned step by step.

    Args:
        inputs: The length of a state-action vector.
        rate: Adam's learning rate.
        random_state: The same number gives the same first weights.
    """

    def __init__(self, inputs: int, *, rate: float, random_state: int) -> None:
        self._rate = rate
        rng = np.random.default_rng(random_state)
        sizes = (inputs, *LAYERS)
        self._weights: list[Matrix] = []
        for fan_in, fan_out in pairwise(sizes):
            limit = np.sqrt(6 / (fan_in + fan_out))  # Glorot's, Keras's default
            self._weights += [rng.uniform(-limit, limit, (fan_in, fan_out)), np.zeros(fan_out)]
        self._means = [np.zeros_like(weight) for weight in self._weights]
        self._squares = [np.zeros_like(weight) for weight in self._weights]
        self._steps = 0

    def predict(self, X: Matrix) -> Matrix:
        """Return the value of each row."""
        return self._forward(X)[-1][:, 0]

    def learn(self, X: Matrix, y: Matrix) -> None:
        """Take one gradient step on a batch."""
        outputs = self._forward(X)
        delta = 2 * (outputs[-1] - y[:, None]) / len(y)
        gradients: list[Matrix] = []
        for layer in reversed(range(len(LAYERS))):
            below = outputs[layer]
            gradients = [below.T @ delta, delta.sum(axis=0), *gradients]
            delta = delta @ self._weights[2 * layer].T
            if layer:  # derivative of the layer below
                delta = delta * np.where(below > 0, 1.0, LEAK)
        self._adam([np.clip(gradient, -CLIP, CLIP) for gradient in gradients])

    def weights(self) -> list[Matrix]:
        """Return a copy of the weights."""
        return [weight.copy() for weight in self._weights]

    def set_weights(self, weights: list[Any]) -> None:
        """Replace the weights.

        Raises:
            ValueError: They have other shapes.
        """
        if [weight.shape for weight in weights] != [weight.shape for weight in self._weights]:
            raise ValueError("the weights are those of another network")
        self._weights = [np.array(weight, dtype=np.float64) for weight in weights]

    def _forward(self, X: Matrix) -> list[Matrix]:
        """Return the input and the output of each layer."""
        outputs = [np.asarray(X, dtype=np.float64)]
        for layer in range(len(LAYERS)):
            raw = outputs[-1] @ self._weights[2 * layer] + self._weights[2 * layer + 1]
            is_last = layer == len(LAYERS) - 1
            outputs.append(raw if is_last else np.where(raw > 0, raw, LEAK * raw))
        return outputs

    def _adam(self, gradients: list[Matrix]) -> None:
        self._steps += 1
        step = self._rate * np.sqrt(1 - BETA_2**self._steps) / (1 - BETA_1**self._steps)
        for place, gradient in enumerate(gradients):
            self._means[place] += (1 - BETA_1) * (gradient - self._means[place])
            self._squares[place] += (1 - BETA_2) * (gradient**2 - self._squares[place])
            self._weights[place] -= step * self._means[place] / (np.sqrt(self._squares[place]) + EPSILON)


BATCH_SIZE = 60
BUFFER = 2_000
"""Experiences for replay, each with the state-actions that followed."""
MAX_ACTIONS = 100
"""Of one page, for replay."""
MAX_SAVED = 10_000
"""Experiences from which a tree is rebuilt."""

Experience = tuple[Matrix, float, Matrix]
"""A state-action, its reward, and the state-actions of the page that it led to."""


class Tres(TurnBasedStrategy[StateActionSample]):
    """Fetch, of one link from each leaf of a tree, the one with the highest long-term value.

    The nine numbers of a link are stored with it. Experience and network are saved with the crawl, and the tree is
    rebuilt from them; waiting links are not saved, so that after a restart old links keep the scores they have. Each
    worker learns for itself. Bounded: 2,000 experiences for replay, 50,000 links in the tree, 1,000 experiences in a
    leaf.

    Args:
        topic_profile: The topic.
        gamma: Discount factor.
        rate: Learning rate of the network.
        replay_start: Pages before the network is used; until then leaves are chosen at random.
        replay_every: Pages between two learning steps.
        target_every: Pages after which the target network is updated.
        random_state: The same number gives the same samples and first weights.
    """

    def __init__(
        self,
        topic_profile: TopicProfile,
        *,
        gamma: float = 0.99,
        rate: float = 0.001,
        replay_start: int = 30,
        replay_every: int = 3,
        target_every: int = 50,
        random_state: int = 0,
    ) -> None:
        if not 0 <= gamma < 1:
            raise ValueError(f"gamma must be at least 0 and below 1, got {gamma}")
        if min(replay_start, replay_every, target_every) < 1:
            raise ValueError("replay_start, replay_every and target_every must be at least 1")
        super().__init__("tres")
        self._gamma, self._replay_start = gamma, replay_start
        self._replay_every, self._target_every = replay_every, target_every
        self._random = Random(random_state)  # noqa: S311 - no secret
        self._state_actions = StateActions(topic_profile)
        self._tree = TreeFrontier(self._random)
        self._q = QNetwork(INPUTS, rate=rate, random_state=random_state)
        self._target_q = QNetwork(INPUTS, rate=rate, random_state=random_state)
        self._buffer: deque[Experience] = deque(maxlen=BUFFER)
        self._pages = 0

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Learn from this page, and add its links to the tree."""
        self._choice.on_result(lease)
        taken = self._waiting.leave(lease.url) or _stored_sample(lease.url, lease.strategy_data)
        if lease.hops == 0:
            taken = self._state_actions.seed(lease.url, page.title)
        reward = 1.0 if judgement.relevant or lease.hops == 0 else 0.0
        self._state_actions.visited(lease.url, reward)
        found = self._state_actions.expand(page, taken.path if taken else (0, 0, 0), reward)
        if taken:
            self._learn(taken, reward, found)
        for sample in found:
            yield self._wait(sample)
        self._state.page_done()

    def _wait(self, sample: StateActionSample) -> Candidate:
        """Put a link into the queue by its page and its anchor, and into the tree once for each page that it is on."""
        father, similarity = float(sample.x[0]), float(sample.x[-1])
        score = (father + similarity) / 2
        self._waiting.add_first(sample.url, score, sample)
        if not self._waiting.is_done(sample.url):
            self._tree.add(sample)
        strategy_data = {"x": sample.x.tolist(), "path": list(sample.path)}
        breakdown = {"father": father, "path": float(sample.x[2]), "anchor": similarity}
        return Candidate(url=sample.url, score=score, breakdown=breakdown, strategy_data=strategy_data)

    def _choose(self) -> Found | None:
        samples = list(self._tree.draw(self._waiting.__contains__))
        if not samples:
            return None
        for sample in samples:
            self._state_actions.renew(sample)
        if self._pages < self._replay_start:
            chosen = self._random.choice(samples)
        else:
            chosen = samples[int(self._q.predict(np.array([sample.x for sample in samples])).argmax())]
        return chosen.url, self._waiting.choose(chosen.url, chosen)

    def _learn(self, taken: StateActionSample, reward: float, found: Sequence[StateActionSample]) -> None:
        self._pages += 1
        self._tree.learn(taken.x, reward)
        if found:
            self._buffer.append((taken.x, reward, np.array([sample.x for sample in found[:MAX_ACTIONS]])))
        if self._pages >= self._replay_start and self._pages % self._replay_every == 0:
            self._replay()
        if self._pages % self._target_every == 0:
            self._target_q.set_weights(self._q.weights())

    def _replay(self) -> None:
        """Take a step towards r + γ·Q'(s', argmax Q(s', a)), for a batch of experiences."""
        batch = self._random.choices(self._buffer, k=BATCH_SIZE) if self._buffer else []
        if batch:
            targets = [reward + self._gamma * self._next_value(actions) for _, reward, actions in batch]
            self._q.learn(np.array([x for x, _, _ in batch]), np.array(targets))

    def _next_value(self, actions: Matrix) -> float:
        best = int(self._q.predict(actions).argmax())
        return float(self._target_q.predict(actions[best : best + 1])[0])

    def _write(self) -> bytes:
        weights = {f"q{place}": weight for place, weight in enumerate(self._q.weights())}
        experience = self._tree.experience()

        def entry(most: int) -> bytes:
            latest = experience[-most:] if most else []
            X = np.array([x for x, _ in latest]).reshape(-1, INPUTS)
            return pack_both({**weights, "X": X, "r": np.array([r for _, r in latest])}, {"pages": self._pages})

        return fitted(entry, MAX_SAVED)[0]

    def _read(self, content: bytes) -> None:
        arrays, values = unpack_both(content)
        self._pages = int(values["pages"])
        for q in (self._q, self._target_q):
            q.set_weights([arrays[f"q{place}"] for place in range(len(q.weights()))])
        for x, reward in zip(arrays["X"], arrays["r"].tolist(), strict=True):
            self._tree.learn(x, reward)


def _stored_sample(url: str, strategy_data: StrategyData) -> StateActionSample | None:
    """Read the state-action that led to a page, if its link was found in an earlier run or by another worker."""
    x, path = strategy_data.get("x"), strategy_data.get("path")
    if not (isinstance(x, list) and len(x) == INPUTS and isinstance(path, list) and len(path) == 3):
        return None
    return StateActionSample(url, np.array(x, dtype=np.float64), (int(path[0]), int(path[1]), int(path[2])))

"""InfoSpiders: Menczer, Decision Support Systems 35, 2003, as in SURVEY, figure 5.

A population of agents walks the web, each from page to page along one link at a time. Relevant pages add to the energy
of an agent: an agent with much energy splits, one without energy dies. A failed fetch costs as much as any other and
adds no energy: the agent continues with a link that it passed over.

An agent is stored in the strategy data of the URL that it has chosen, with the links that it passed over.

The set of URLs that agents have chosen, persisted over restarts and shared between the workers of a crawl.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from heapq import nlargest
from itertools import islice
from math import exp
from random import Random
from typing import Any, Self
from uuid import uuid4

from thresher.judges.base import StateStore
from thresher.modelstate.codec import BadEntry, readable
from thresher.modelstate.schedule import RefitSchedule
from thresher.records import Candidate, Judgement, Lease, Link, ParsedPage, StrategyData
from thresher.strategies.base import StatefulStrategy
from thresher.text.tokens import count, tokenize
from thresher.topics.profile import TopicProfile
from thresher.traps.detector import trap
from thresher.urls.canonical import fingerprint
from thresher.urls.scope import UrlScope

MAX_SEEN = 200_000
"""Limit of the worker's own URLs, and of those of all other workers; beyond it the oldest are dropped."""
MAX_SENT = 120_000
"""Own URLs shared with other workers, the latest: eight bytes each, so that an entry stays below a megabyte."""
SAVE_PAGES = 1_000
"""The most pages between two saves, which a crash may lose; at first it is less."""
SAVE_SHARE = 0.02
"""Pages between two saves, as a share of all pages. Saves are frequent at first, because two agents that choose the
same page count as one, and the entry is small while the crawl is."""
STATE_KIND = "seen"
_HEAD = struct.Struct("<4s16sq")
_MARK = b"seen"


class SeenUrls:
    """A bounded set of URL fingerprints.

    Entries of workers are merged as sets, so reading one twice changes nothing. An entry also has the number of agents
    that a worker has sent and that have not arrived; the numbers of all workers are added.
    """

    def __init__(self) -> None:
        self.out = 0
        self._others_out: dict[bytes, int] = {}
        self._worker = uuid4().bytes
        self._own: dict[int, None] = {}
        self._others: dict[int, None] = {}
        self._refit_schedule = RefitSchedule(write=(1, SAVE_SHARE, SAVE_PAGES), read_share=SAVE_SHARE)
        self._pages = 0
        self._state_store: StateStore | None = None

    def __contains__(self, url: str) -> bool:
        number = fingerprint(url)
        return number in self._own or number in self._others

    @property
    def all_out(self) -> int:
        """Number of agents of all workers that are under way, as far as is known."""
        return self.out + sum(self._others_out.values())

    def by_others(self, url: str) -> bool:
        return fingerprint(url) in self._others

    def add(self, url: str) -> None:
        self._own[fingerprint(url)] = None
        _bound(self._own)

    def page_started(self) -> None:
        """Count a page, and read the entries of other workers when that is due."""
        self._pages += 1
        if self._refit_schedule.is_read_due(self._pages):
            self._read_others()

    def page_done(self) -> None:
        if self._refit_schedule.is_write_due(self._pages):
            self.save_state()

    def load_state(self, state_store: StateStore) -> None:
        self._state_store = state_store
        if content := state_store.read(STATE_KIND):
            self._worker, _, found = _read(content)
            _unite(self._own, found)
        self._read_others()

    def save_state(self) -> None:
        if self._state_store:
            latest = islice(self._own, max(0, len(self._own) - MAX_SENT), None)
            head = _HEAD.pack(_MARK, self._worker, self.out)
            self._state_store.write(STATE_KIND, head + array("q", latest).tobytes())
        self._refit_schedule.written(self._pages)

    def _read_others(self) -> None:
        self._refit_schedule.read(self._pages)
        entries = self._state_store.read_others(STATE_KIND) if self._state_store else ()
        for worker, out, found in readable(entries, _read, "seen URLs"):
            if worker != self._worker:
                self._others_out[worker] = out
                _unite(self._others, found)


def _read(content: bytes) -> tuple[bytes, int, array[int]]:
    """Decode an entry: worker, number of agents under way, and fingerprints."""
    numbers, found = content[_HEAD.size :], array("q")
    if len(content) < _HEAD.size or not content.startswith(_MARK) or len(numbers) % found.itemsize:
        raise BadEntry("it holds no seen URLs")
    _, worker, out = _HEAD.unpack_from(content)
    found.frombytes(numbers[-MAX_SEEN * found.itemsize :])
    return worker, max(0, out), found


def _unite(seen: dict[int, None], found: array[int]) -> None:
    seen.update(dict.fromkeys(found))
    _bound(seen)


def _bound(seen: dict[int, None]) -> None:
    for number in list(islice(seen, max(0, len(seen) - MAX_SEEN))):
        del seen[number]


MAX_KEYWORDS = 20
MAX_PASSED = 5
"""Passed-over links that an agent remembers."""
REMEMBERED_TEXTS = 1 << 14
_LARGEST_WEIGHT = 10.0
_DIGITS = 4
"""Rounding keeps the strategy data of a URL short, and makes ten times a tenth exactly one."""

Clues = Mapping[str, float]
"""Per keyword: the sum over its occurrences of the inverse distance to a link."""


@dataclass(frozen=True, slots=True)
class Prospect:
    """A link with an agent's estimate of it."""

    url: str
    estimate: float
    clues: Clues


@dataclass(frozen=True, slots=True, kw_only=True)
class InfoSpider:
    """An agent.

    Args:
        energy: At 0 the agent dies.
        genotype: Its keywords and their weights.
        round: How many links it and its ancestors have followed.
        estimate: Its estimate of the page that it chose.
        clues: The inputs of that estimate.
        passed: The best links that it passed over.
    """

    energy: float
    genotype: Mapping[str, float]
    round: int = 0
    estimate: float = 0.5
    clues: Clues = field(default_factory=dict)
    passed: tuple[Prospect, ...] = ()

    @classmethod
    def from_strategy_data(cls, strategy_data: Mapping[str, Any]) -> Self:
        passed = tuple(Prospect(url, estimate, clues) for url, estimate, clues in strategy_data["passed"])
        return cls(
            energy=strategy_data["energy"],
            genotype=strategy_data["genotype"],
            round=strategy_data["round"],
            estimate=strategy_data["estimate"],
            clues=strategy_data["clues"],
            passed=passed,
        )

    def strategy_data(self) -> StrategyData:
        return {
            "energy": self.energy,
            "genotype": self.genotype,
            "round": self.round,
            "estimate": self.estimate,
            "clues": self.clues,
            "passed": [[one.url, one.estimate, one.clues] for one in self.passed],
        }

    def estimate_links(self, links: Iterable[Link], language: str = "") -> list[Prospect]:
        """Estimate the links of a page, each URL once, by its best link."""
        found: dict[str, Prospect] = {}
        for link in links:
            clues = clues_of(link, self.genotype, language)
            estimate = self._expect(clues) if clues else 0.5
            if link.url not in found or found[link.url].estimate < estimate:
                found[link.url] = Prospect(link.url, estimate, clues)
        return list(found.values())

    def eat(self, benefit: float, cost: float) -> InfoSpider:
        """Add the benefit of a page to the energy, and subtract its cost."""
        return replace(self, energy=round(self.energy + benefit - cost, _DIGITS))

    def learn(self, benefit: float, rate: float) -> InfoSpider:
        """Do one step of gradient descent from the estimate of this page towards its benefit."""
        genotype = dict(self.genotype)
        for keyword, clue in self.clues.items():
            if keyword in genotype:
                weight = genotype[keyword] + rate * (benefit - self.estimate) * clue
                genotype[keyword] = round(max(-_LARGEST_WEIGHT, min(_LARGEST_WEIGHT, weight)), _DIGITS)
        return replace(self, genotype=genotype)

    def split(self, terms: Mapping[str, int]) -> tuple[InfoSpider, InfoSpider]:
        """Share the energy with a child that also has the page's most frequent new term as a keyword.

        Args:
            terms: Counts of the terms on the page.
        """
        half = replace(self, energy=round(self.energy / 2, _DIGITS))
        new = max(terms.keys() - self.genotype.keys(), key=lambda term: (terms[term], term), default=None)
        if new is None:
            return half, half
        genotype = dict(self.genotype)
        weight = sum(genotype.values()) / max(len(genotype), 1)
        if len(genotype) >= MAX_KEYWORDS:
            del genotype[min(genotype, key=lambda keyword: abs(genotype[keyword]))]
        return half, replace(half, genotype={**genotype, new: round(weight, _DIGITS)})

    def go_to(self, chosen: Prospect, others: Iterable[Prospect]) -> InfoSpider:
        """Choose a link, and remember the best of those passed over."""
        known = {one.url: one for one in (*self.passed, *others) if one.url != chosen.url}
        passed = sorted(known.values(), key=lambda one: -one.estimate)[:MAX_PASSED]
        return replace(self, round=self.round + 1, estimate=chosen.estimate, clues=chosen.clues, passed=tuple(passed))

    def _expect(self, clues: Clues) -> float:
        signal = sum(self.genotype[keyword] * clue for keyword, clue in clues.items())
        return round(1.0 / (1.0 + exp(-max(-30.0, min(30.0, signal)))), _DIGITS)


def clues_of(link: Link, keywords: Mapping[str, float], language: str = "") -> dict[str, float]:
    """Sum the inverse distance of each keyword from a link: 1 inside its anchor, 2 for the next word, ….

    Half of the context is assumed to be before the link, half after it.
    """
    clues: dict[str, float] = {}
    for term in _terms(link.anchor, language):
        if term in keywords:
            clues[term] = clues.get(term, 0.0) + 1.0
    around = _terms(link.context, language)
    if not clues and keywords.keys().isdisjoint(around):
        return clues
    middle = (len(around) - 1) / 2
    for place, term in enumerate(around):
        if term in keywords:
            clues[term] = clues.get(term, 0.0) + 1 / (1.5 + abs(place - middle))
    return {term: round(clue, _DIGITS) for term, clue in clues.items()}


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _terms(text: str, language: str) -> tuple[str, ...]:
    """Tokenize a text; cached, because menus repeat on many pages."""
    return tuple(tokenize(text, language))


LAST = -1_000_000.0
"""A score below every round: of URLs where a new agent may start when no other is left."""
ROUNDS_LOST = 10
"""An agent this many rounds behind is taken for lost with a failed fetch."""


class InfoSpiders(StatefulStrategy):
    """Let a population of agents follow one link at a time, gain energy from relevant pages, learn, split and die.

    An agent is carried by the URL that it has chosen, and continues at the worker that fetches it. The URLs seen are
    saved with the crawl, and exchanged between workers. Each worker counts the agents that it sent and that have not
    arrived at any worker, and shares the count with the others; after a restart the count begins at 0.

    Args:
        topic_profile: The topic; its words are the first agents' genotype.
        agents: How many start from the seeds; at least one from every seed.
        most_agents: How many may live at a time.
        energy: Of a new agent.
        cost: Of a page.
        split_above: The energy above which an agent splits in two.
        beta: How strongly links of higher estimate are preferred; 0 chooses uniformly at random.
        rate: Learning rate of an agent's weights.
        random_state: The same number gives the same choices.
    """

    def __init__(
        self,
        topic_profile: TopicProfile,
        *,
        agents: int = 10,
        most_agents: int = 100,
        energy: float = 0.5,
        cost: float = 0.1,
        split_above: float = 1.0,
        beta: float = 5.0,
        rate: float = 0.5,
        random_state: int = 0,
    ) -> None:
        self._newborn = InfoSpider(energy=energy, genotype=_keywords(topic_profile))
        self._agents = agents
        self._most_agents = most_agents
        self._cost = cost
        self._split_above = split_above
        self._beta = beta
        self._rate = rate
        self._random_state = random_state
        self._round = 0
        self._out: dict[str, int] = {}
        self._state = self._seen = SeenUrls()
        self._scope = UrlScope()

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Distribute the first agents over the seeds."""
        for place, url in enumerate(urls):
            agents = self._agents // len(urls) + (place < self._agents % len(urls))
            yield Candidate(url=url, score=0.0, strategy_data={"agents": max(agents, 1)})

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Let the agents on a page gain energy, learn, split or die; each that lives chooses one link.

        The best of all other links wait below those of agents: when no agent is left, a new one starts there.
        """
        self._record_arrival(lease)
        links = [link for link in page.links if link.url not in self._seen]
        arrived = self._arrived(lease)
        prospects: list[Prospect] = []
        for number, spider in enumerate(self._live(arrived, page, judgement, lease)):
            rng = Random(f"{self._random_state} {page.url} {number}")  # noqa: S311 - no secret
            prospects = spider.estimate_links(links, page.language)
            if chosen := self._choose(spider, prospects, rng):
                links = [link for link in links if link.url != chosen.url]
                yield self._send(spider, chosen, prospects)
        prospects = prospects or (arrived or [self._newborn])[0].estimate_links(links, page.language)
        yield from self._restarts(prospects, judgement.reward)
        self._seen.page_done()

    def on_miss(self, lease: Lease) -> Iterator[Candidate]:
        """Charge the agent for the failed fetch, and let it continue with a link that it passed over."""
        self._record_arrival(lease)
        if "energy" in lease.strategy_data:
            spider = InfoSpider.from_strategy_data(lease.strategy_data).eat(0.0, self._cost)
            chosen = self._passed_over(spider) if spider.energy > 0 else None
            if chosen:
                yield self._send(spider, chosen, [])
        self._seen.page_done()

    def _arrived(self, lease: Lease) -> list[InfoSpider]:
        """Return the agents on a URL: its own, the first ones on a seed, or a new one where none is left."""
        if "energy" in lease.strategy_data:
            return [InfoSpider.from_strategy_data(lease.strategy_data)]
        agents = lease.strategy_data.get("agents", 1 if self._seen.all_out < self._most_agents else 0)
        return [replace(self._newborn, round=self._round)] * (agents if isinstance(agents, int) else 1)

    def _live(
        self, arrived: Sequence[InfoSpider], page: ParsedPage, judgement: Judgement, lease: Lease
    ) -> Iterator[InfoSpider]:
        """Update agents that followed a link to a page; those that start here neither pay nor gain."""
        if "energy" not in lease.strategy_data:
            yield from arrived
            return
        benefit = judgement.reward
        [spider] = arrived
        spider = spider.eat(benefit, self._cost).learn(benefit, self._rate)
        if spider.energy > self._split_above and self._seen.all_out + 1 < self._most_agents:
            yield from spider.split(count(page.text, page.language))
        elif spider.energy > 0:
            yield spider

    def _choose(self, spider: InfoSpider, prospects: Sequence[Prospect], rng: Random) -> Prospect | None:
        """Sample one link, weighted by estimates; at a dead end take the best one passed over."""
        left = list(prospects)
        weights = [exp(self._beta * one.estimate) for one in left]
        while left:
            [place] = rng.choices(range(len(left)), weights)
            if self._is_page(left[place].url):
                return left[place]
            del left[place], weights[place]
        return self._passed_over(spider)

    def _passed_over(self, spider: InfoSpider) -> Prospect | None:
        return next((one for one in spider.passed if one.url not in self._seen), None)

    def _send(self, spider: InfoSpider, chosen: Prospect, prospects: Sequence[Prospect]) -> Candidate:
        """Return the candidate for an agent's next link, with the best of the others remembered."""
        self._seen.add(chosen.url)
        spider = spider.go_to(chosen, self._best_pages(prospects))
        self._out[chosen.url] = spider.round
        self._seen.out = len(self._out)
        breakdown = {"round": float(spider.round), "estimate": chosen.estimate, "energy": spider.energy}
        return Candidate(
            url=chosen.url, score=-float(spider.round), breakdown=breakdown, strategy_data=spider.strategy_data()
        )

    def _restarts(self, prospects: Sequence[Prospect], relevance: float) -> Iterator[Candidate]:
        for one in self._best_pages(prospects):
            breakdown = {"page": relevance, "estimate": one.estimate}
            yield Candidate(url=one.url, score=LAST + relevance, breakdown=breakdown)

    def _best_pages(self, prospects: Sequence[Prospect]) -> Iterator[Prospect]:
        """Return the best unseen links to pages; checked lazily, because the check takes time."""
        ranked = sorted(prospects, key=lambda one: -one.estimate)
        return islice((one for one in ranked if one.url not in self._seen and self._is_page(one.url)), MAX_PASSED)

    def _is_page(self, url: str) -> bool:
        return not self._scope.allows(url, 0) and not trap(url)

    def _record_arrival(self, lease: Lease) -> None:
        """Record that a URL was fetched, and give up on agents that are overdue."""
        self._seen.page_started()
        self._seen.add(lease.url)
        self._out.pop(lease.url, None)
        arrived = lease.strategy_data.get("round", 0)
        self._round = max(self._round, arrived if isinstance(arrived, int) else 0)
        lost = self._round - ROUNDS_LOST
        for url in [url for url, sent in self._out.items() if sent < lost or self._seen.by_others(url)]:
            del self._out[url]
        self._seen.out = len(self._out)


def _keywords(topic_profile: TopicProfile) -> Mapping[str, float]:
    """Return the terms of the topic with the largest weights, over all its languages."""
    weights: dict[str, float] = {}
    for vector in topic_profile.vectors.values():
        for term, weight in vector.items():
            weights[term] = max(weights.get(term, 0.0), weight)
    return dict(nlargest(MAX_KEYWORDS, weights.items(), key=lambda item: item[1]))

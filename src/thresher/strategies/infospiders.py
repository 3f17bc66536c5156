"""InfoSpiders: Menczer, Decision Support Systems 35, 2003, as SURVEY, figure 5, gives it.

A population of agents walks the web, each from page to page along one link at a time (`spider.py`). Good pages feed
them; who eats well multiplies, who starves dies.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import nlargest
from math import exp
from random import Random

from thresher.classify.base import Notebook
from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage
from thresher.strategies.aim import Aim
from thresher.strategies.spider import MOST_KEYWORDS, MOST_PASSED, Prospect, Spider
from thresher.text.tokens import count
from thresher.urls.canonical import fingerprint
from thresher.urls.scope import Scope
from thresher.urls.traps import trap

LAST = -1_000_000.0
"""Below every round: where a new agent may start when no other is left."""
ROUNDS_LOST = 10
"""An agent that lags this far behind has met a page that never came."""
MOST_SEEN = 200_000
SAVE_PAGES = 1_000
"""How many pages' memory a crash may cost."""
NOTES = "seen"


class InfoSpiders:
    """Let a population of agents follow one link at a time, live on what they find, learn, multiply and die.

    Args:
        aim: The topic; its words are the first agents' genotype.
        agents: How many start from the seeds; one from every seed at least.
        most_agents: How many may live at a time.
        energy: What an agent is born with.
        cost: What a page costs it.
        split_above: The energy above which an agent splits in two.
        beta: How much surer a link of higher estimate is chosen; 0 draws at random.
        rate: How far an agent's weights follow one page.
        random_state: The same number gives the same choices.
    """

    merge = Merge.MAX

    def __init__(
        self,
        aim: Aim,
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
        self._newborn = Spider(energy=energy, genotype=_keywords(aim))
        self._agents = agents
        self._most_agents = most_agents
        self._cost = cost
        self._split_above = split_above
        self._beta = beta
        self._rate = rate
        self._random_state = random_state
        self._round = 0
        self._out: dict[str, int] = {}
        self._seen: dict[int, None] = {}
        self._unsaved = 0
        self._scope = Scope()
        self._notebook: Notebook | None = None

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Share the first agents out among the seeds."""
        for place, url in enumerate(urls):
            agents = self._agents // len(urls) + (place < self._agents % len(urls))
            yield Candidate(url=url, score=0.0, carry={"agents": max(agents, 1)})

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Let the agents on a page eat, learn, split or die; each that lives chooses one link.

        The best of all other links wait below every agent's: when no agent is left, a new one starts there.
        """
        self._note(lease)
        links = [link for link in page.links if self._is_open(link.url)]
        arrived = self._arrived(lease)
        prospects: list[Prospect] = []
        for number, spider in enumerate(self._live(arrived, page, judgement, lease)):
            prospects = [one for one in spider.look_at(links) if self._is_unseen(one.url)]
            draw = Random(f"{self._random_state} {page.url} {number}")  # noqa: S311 - no secret
            if chosen := self._choose(spider, prospects, draw):
                yield self._send(spider.go_to(chosen, prospects), chosen)
        prospects = prospects or (arrived or [self._newborn])[0].look_at(links)
        yield from self._restarts(prospects, judgement.relevance)

    def keep_in(self, notebook: Notebook) -> None:
        """Take up which URLs were seen before, by this worker and by others."""
        self._notebook = notebook
        own = notebook.read(NOTES)
        self._take_up([own] if own else [])
        self._take_up(notebook.read_others(NOTES))

    def write_down(self) -> None:
        """Write down which URLs were seen, and read what others saw."""
        if self._notebook:
            self._notebook.write(NOTES, array("q", self._seen).tobytes())
            self._take_up(self._notebook.read_others(NOTES))
        self._unsaved = 0

    def _arrived(self, lease: Lease) -> list[Spider]:
        """Wake who rode on a URL: an agent, the first ones on a seed, or a new one where none is left."""
        if "energy" in lease.carry:
            return [Spider.from_carry(lease.carry)]
        agents = lease.carry.get("agents", 1 if len(self._out) < self._most_agents else 0)
        return [replace(self._newborn, round=self._round)] * (agents if isinstance(agents, int) else 1)

    def _live(
        self, arrived: Sequence[Spider], page: ParsedPage, judgement: Judgement, lease: Lease
    ) -> Iterator[Spider]:
        """Feed and teach who followed a link to a page; who starts here neither pays nor gains."""
        if "energy" not in lease.carry:
            yield from arrived
            return
        benefit = judgement.relevance
        [spider] = arrived
        spider = spider.eat(benefit, self._cost).learn(benefit, self._rate)
        if spider.energy > self._split_above and len(self._out) + 1 < self._most_agents:
            yield from spider.split(count(page.text))
        elif spider.energy > 0:
            yield spider

    def _choose(self, spider: Spider, prospects: Sequence[Prospect], draw: Random) -> Prospect | None:
        """Draw one link, the likelier the higher its estimate; at a dead end take the best one passed over."""
        if prospects:
            return draw.choices(prospects, [exp(self._beta * one.estimate) for one in prospects])[0]
        return next((one for one in spider.passed if self._is_unseen(one.url)), None)

    def _send(self, spider: Spider, chosen: Prospect) -> Candidate:
        self._see(chosen.url)
        self._out[chosen.url] = spider.round
        parts = {"round": float(spider.round), "estimate": chosen.estimate, "energy": spider.energy}
        return Candidate(url=chosen.url, score=-float(spider.round), parts=parts, carry=spider.carry())

    def _restarts(self, prospects: Sequence[Prospect], worth: float) -> Iterator[Candidate]:
        left = (one for one in prospects if self._is_unseen(one.url))
        for one in nlargest(MOST_PASSED, left, key=lambda one: one.estimate):
            parts = {"page": worth, "estimate": one.estimate}
            yield Candidate(url=one.url, score=LAST + worth, parts=parts)

    def _is_open(self, url: str) -> bool:
        """Tell whether an agent may go to a URL: it was not seen, and it looks like a page."""
        return self._is_unseen(url) and not self._scope.allows(url, 0) and not trap(url)

    def _is_unseen(self, url: str) -> bool:
        return fingerprint(url) not in self._seen

    def _note(self, lease: Lease) -> None:
        """Note that a page has come, and give up on agents whose pages must have come long before."""
        self._see(lease.url)
        self._out.pop(lease.url, None)
        arrived = lease.carry.get("round", 0)
        self._round = max(self._round, arrived if isinstance(arrived, int) else 0)
        for url in [url for url, sent in self._out.items() if sent < self._round - ROUNDS_LOST]:
            del self._out[url]
        self._unsaved += 1
        if self._unsaved >= SAVE_PAGES:
            self.write_down()

    def _see(self, url: str) -> None:
        self._seen[fingerprint(url)] = None
        if len(self._seen) > MOST_SEEN:
            del self._seen[next(iter(self._seen))]

    def _take_up(self, notes: Sequence[bytes]) -> None:
        for note in notes:
            found = array("q")
            found.frombytes(note[: len(note) // found.itemsize * found.itemsize])
            self._seen.update(dict.fromkeys(found))


def _keywords(aim: Aim) -> Mapping[str, float]:
    """Give the weightiest terms of the topic, over all its languages."""
    weights: dict[str, float] = {}
    for vector in aim.vectors.values():
        for term, weight in vector.items():
            weights[term] = max(weights.get(term, 0.0), weight)
    return dict(nlargest(MOST_KEYWORDS, weights.items(), key=lambda item: item[1]))

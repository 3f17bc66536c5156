"""InfoSpiders: Menczer, Decision Support Systems 35, 2003, as SURVEY, figure 5, gives it.

A population of agents walks the web, each from page to page along one link at a time (`spider.py`). Good pages feed
them; who eats well multiplies, who starves dies. A page that never comes costs as much as any other and feeds nobody:
the agent goes on with a link that it passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import nlargest
from itertools import islice
from math import exp
from random import Random

from thresher.classify.base import Notebook
from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage
from thresher.strategies.aim import Aim
from thresher.strategies.seen import SeenUrls
from thresher.strategies.spider import MOST_KEYWORDS, MOST_PASSED, Prospect, Spider
from thresher.text.tokens import count
from thresher.urls.scope import Scope
from thresher.urls.traps import trap

LAST = -1_000_000.0
"""Below every round: where a new agent may start when no other is left."""
ROUNDS_LOST = 10
"""An agent that lags this far behind has met a page that never came."""


class InfoSpiders:
    """Let a population of agents follow one link at a time, live on what they find, learn, multiply and die.

    An agent rides on the URL that it goes to, and goes on at whichever worker fetches that. Which URLs were seen is
    saved with the crawl, and exchanged between workers. How many agents are out each worker counts for itself, those
    that it sent and that no worker is known to have met, and tells the others; after a restart it counts anew.

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
        self._seen = SeenUrls()
        self._scope = Scope()

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
        links = [link for link in page.links if link.url not in self._seen]
        arrived = self._arrived(lease)
        prospects: list[Prospect] = []
        for number, spider in enumerate(self._live(arrived, page, judgement, lease)):
            draw = Random(f"{self._random_state} {page.url} {number}")  # noqa: S311 - no secret
            prospects = spider.look_at(links)
            if chosen := self._choose(spider, prospects, draw):
                links = [link for link in links if link.url != chosen.url]
                yield self._send(spider, chosen, prospects)
        prospects = prospects or (arrived or [self._newborn])[0].look_at(links)
        yield from self._restarts(prospects, judgement.reward)
        self._seen.page_done()

    def missed(self, lease: Lease) -> Iterator[Candidate]:
        """Let the agent on a page that never came pay for it, and go on with a link that it passed over."""
        self._note(lease)
        if "energy" in lease.carry:
            spider = Spider.from_carry(lease.carry).eat(0.0, self._cost)
            chosen = self._passed_over(spider) if spider.energy > 0 else None
            if chosen:
                yield self._send(spider, chosen, [])
        self._seen.page_done()

    def keep_in(self, notebook: Notebook) -> None:
        """Take up which URLs were seen before, by this worker and by others."""
        self._seen.keep_in(notebook)

    def write_down(self) -> None:
        """Write down which URLs were seen."""
        self._seen.write_down()

    def _arrived(self, lease: Lease) -> list[Spider]:
        """Wake who rode on a URL: an agent, the first ones on a seed, or a new one where none is left."""
        if "energy" in lease.carry:
            return [Spider.from_carry(lease.carry)]
        agents = lease.carry.get("agents", 1 if self._seen.all_out < self._most_agents else 0)
        return [replace(self._newborn, round=self._round)] * (agents if isinstance(agents, int) else 1)

    def _live(
        self, arrived: Sequence[Spider], page: ParsedPage, judgement: Judgement, lease: Lease
    ) -> Iterator[Spider]:
        """Feed and teach who followed a link to a page; who starts here neither pays nor gains."""
        if "energy" not in lease.carry:
            yield from arrived
            return
        benefit = judgement.reward
        [spider] = arrived
        spider = spider.eat(benefit, self._cost).learn(benefit, self._rate)
        if spider.energy > self._split_above and self._seen.all_out + 1 < self._most_agents:
            yield from spider.split(count(page.text))
        elif spider.energy > 0:
            yield spider

    def _choose(self, spider: Spider, prospects: Sequence[Prospect], draw: Random) -> Prospect | None:
        """Draw one link, the likelier the higher its estimate; at a dead end take the best one passed over."""
        left = list(prospects)
        weights = [exp(self._beta * one.estimate) for one in left]
        while left:
            [place] = draw.choices(range(len(left)), weights)
            if self._is_page(left[place].url):
                return left[place]
            del left[place], weights[place]
        return self._passed_over(spider)

    def _passed_over(self, spider: Spider) -> Prospect | None:
        return next((one for one in spider.passed if one.url not in self._seen), None)

    def _send(self, spider: Spider, chosen: Prospect, prospects: Sequence[Prospect]) -> Candidate:
        """Let an agent go to a link, with the best of the others in mind."""
        self._seen.add(chosen.url)
        spider = spider.go_to(chosen, self._best_pages(prospects))
        self._out[chosen.url] = spider.round
        self._seen.out = len(self._out)
        parts = {"round": float(spider.round), "estimate": chosen.estimate, "energy": spider.energy}
        return Candidate(url=chosen.url, score=-float(spider.round), parts=parts, carry=spider.carry())

    def _restarts(self, prospects: Sequence[Prospect], worth: float) -> Iterator[Candidate]:
        for one in self._best_pages(prospects):
            parts = {"page": worth, "estimate": one.estimate}
            yield Candidate(url=one.url, score=LAST + worth, parts=parts)

    def _best_pages(self, prospects: Sequence[Prospect]) -> Iterator[Prospect]:
        """Give the best that look like pages and were not seen; the others are never asked, for asking takes time."""
        ranked = sorted(prospects, key=lambda one: -one.estimate)
        return islice((one for one in ranked if one.url not in self._seen and self._is_page(one.url)), MOST_PASSED)

    def _is_page(self, url: str) -> bool:
        return not self._scope.allows(url, 0) and not trap(url)

    def _note(self, lease: Lease) -> None:
        """Note that a page has come, and give up on agents whose pages must have come long before."""
        self._seen.page_begun()
        self._seen.add(lease.url)
        self._out.pop(lease.url, None)
        arrived = lease.carry.get("round", 0)
        self._round = max(self._round, arrived if isinstance(arrived, int) else 0)
        lost = self._round - ROUNDS_LOST
        for url in [url for url, sent in self._out.items() if sent < lost or self._seen.by_others(url)]:
            del self._out[url]
        self._seen.out = len(self._out)


def _keywords(aim: Aim) -> Mapping[str, float]:
    """Give the weightiest terms of the topic, over all its languages."""
    weights: dict[str, float] = {}
    for vector in aim.vectors.values():
        for term, weight in vector.items():
            weights[term] = max(weights.get(term, 0.0), weight)
    return dict(nlargest(MOST_KEYWORDS, weights.items(), key=lambda item: item[1]))

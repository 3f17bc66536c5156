"""ACHE's link classifier with levels: Barbosa and Freire, WWW 2007, and the crawler ACHE that grew out of it.

The crawl's own back-links give the distance of links from the topic: level 0 led to a relevant page, level 1 to a page
that links to one, level 2 to a page one link further away. A classifier learns the words of each level, in the URL, the
anchor and around it; a link waits in the band of its most likely level, ordered by that probability.

Distances of links from the topic, by the back-links of the crawl: the training data of ACHE's levels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from thresher.modelstate.codec import pack_values, unpack_values
from thresher.records import Candidate, Judgement, Lease, Link, Merge, ParsedPage, Revision, StrategyData
from thresher.strategies.base import ScoreChange, StatefulStrategy
from thresher_lab.peers.level_classifier import LevelClassifier, Neighbourhood, neighbourhood, words_near
from thresher_lab.peers.saved_state import StateSaver
from thresher_lab.peers.waiting_links import WaitingLinks

MAX_PAGES = 3_000
"""Only the latest pages are used for training."""
MAX_SAMPLES = 5_000
"""Of each level."""
MAX_BACKLINKS = 50
"""Of one page, the earliest ones."""


@dataclass(slots=True)
class _Page:
    near: Neighbourhood | None
    """The words near the link that led here; None for a seed."""
    links: list[str]
    relevant: bool


class CrawledLevels:
    """The latest pages of a crawl, how they were reached, and where they lead.

    Args:
        levels: How many levels there are.
        random: Samples the links to train on when there are too many.
    """

    def __init__(self, levels: int, random: Random) -> None:
        self._levels = levels
        self._random = random
        self._pages: dict[str, _Page] = {}

    def add(self, page: ParsedPage, near: Neighbourhood | None, *, relevant: bool) -> None:
        """Remember a page that was fetched."""
        self._pages.pop(page.url, None)
        self._pages[page.url] = _Page(near, list(dict.fromkeys(link.url for link in page.links)), relevant)
        if len(self._pages) > MAX_PAGES:
            del self._pages[next(iter(self._pages))]

    def revise(self, revisions: Sequence[Revision]) -> None:
        """Apply revised judgements."""
        for revision in revisions:
            if page := self._pages.get(revision.url):
                page.relevant = revision.judgement.relevant

    def samples(self) -> list[list[Neighbourhood]]:
        """Return the links of each level: those to relevant pages, those to pages that link to them, and so on.

        A page on several ways to the topic counts for each of them, as in ACHE; a relevant one only for level 0.
        """
        backlinks = self._backlinks()
        reached: Sequence[str] = [url for url, page in self._pages.items() if page.relevant]
        samples = [self._near(reached)]
        for _ in range(1, self._levels):
            reached = self._bounded([source for url in reached for source in backlinks.get(url, ())])
            samples.append(self._near([url for url in reached if not self._pages[url].relevant]))
        return samples

    def _backlinks(self) -> dict[str, list[str]]:
        """Return for each fetched page the pages that link to it."""
        found: dict[str, list[str]] = {}
        for url, page in self._pages.items():
            for target in page.links:
                if target in self._pages and target != url and len(found.setdefault(target, [])) < MAX_BACKLINKS:
                    found[target].append(url)
        return found

    def _near(self, urls: Sequence[str]) -> list[Neighbourhood]:
        return [near for url in self._bounded(urls) if (near := self._pages[url].near)]

    def _bounded(self, urls: Sequence[str]) -> Sequence[str]:
        return self._random.sample(urls, MAX_SAMPLES) if len(urls) > MAX_SAMPLES else urls


LEVELS = 3
BELOW_BAND = 0.99
"""The largest probability, so that no link reaches the band above."""


class AcheLevels(StatefulStrategy):
    """Follow links by their distance from the topic, predicted from their words.

    Until the first training links wait by the relevance of their pages. The words of a link are stored with it. The
    classifier is saved with the crawl; the pages that the next one learns from and the links that are scored again are
    not. Each worker learns from the pages that it fetches. Bounded: the latest 3,000 pages, and the latest 20,000
    links.

    Args:
        learn_every: Pages after which the classifier is trained again.
        random_state: The same number gives the same samples, and the same order of links of relevant pages at first.
    """

    merge = Merge.FIRST

    def __init__(self, *, learn_every: int = 50, random_state: int = 0) -> None:
        if learn_every < 1:
            raise ValueError(f"learn_every must be at least 1, got {learn_every}")
        self._learn_every = learn_every
        self._random = Random(random_state)  # noqa: S311 - no secret
        self._crawled = CrawledLevels(LEVELS, self._random)
        self._classifier: LevelClassifier | None = None
        self._waiting: WaitingLinks[Neighbourhood] = WaitingLinks()
        self._new_pages = 0
        self._state = StateSaver("ache-levels", self._write, self._read)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Put links into the band of their predicted level."""
        self._waiting.leave(lease.url)
        self._crawled.add(page, _stored_neighbourhood(lease), relevant=judgement.relevant)
        self._new_pages += 1
        links: dict[str, Link] = {}
        for link in page.links:
            links.setdefault(link.url, link)
        near = [neighbourhood(link) for link in links.values()]
        levels = self._classifier.levels(near) if self._classifier else None
        for place, (url, link) in enumerate(links.items()):
            if levels:
                score, breakdown = banded(levels[place]), _parts(levels[place])
            else:
                score, breakdown = self._baseline(judgement.reward), {"page": judgement.reward}
            self._waiting.add_first(url, score, near[place])
            yield Candidate(url=url, score=score, breakdown=breakdown, strategy_data={"near": words_near(link)})
        self._state.page_done()

    def on_miss(self, lease: Lease) -> Iterator[Candidate]:
        self._waiting.leave(lease.url)
        return iter(())

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, ScoreChange]:
        """Train when it is due, and rescore all remembered waiting links."""
        self._crawled.revise(revisions)
        if self._new_pages < self._learn_every:
            return {}
        self._new_pages = 0
        trained = LevelClassifier.train(self._crawled.samples())
        if trained is None:
            return {}
        self._classifier = trained
        links = list(self._waiting.items())
        levels = trained.levels([near for _, near in links])
        return self._waiting.rescore({url: banded(each) for (url, _), each in zip(links, levels, strict=True)})

    def _baseline(self, relevance: float) -> float:
        """Return a link the relevance of its page; links of a page of relevance 1 are shuffled above all others."""
        return (relevance if relevance < 1 else 1 + self._random.random() * BELOW_BAND) / LEVELS

    def _write(self) -> bytes:
        return pack_values({"classifier": self._classifier.state() if self._classifier else None})

    def _read(self, content: bytes) -> None:
        if state := unpack_values(content)["classifier"]:
            self._classifier = LevelClassifier.from_state(state)


def banded(probabilities: Sequence[float]) -> float:
    """Return the score of a link: 2, 1 or 0 for its likeliest level, plus how likely that is, over three."""
    level = max(range(len(probabilities)), key=probabilities.__getitem__)
    return (LEVELS - 1 - level + min(probabilities[level], BELOW_BAND)) / LEVELS


def _parts(probabilities: Sequence[float]) -> dict[str, float]:
    return {f"level {level}": probability for level, probability in enumerate(probabilities)}


def _stored_neighbourhood(lease: Lease) -> Neighbourhood | None:
    """Return the words near the link that led to a page; None for a seed."""
    strategy_data: StrategyData = lease.strategy_data
    near = strategy_data.get("near")
    return Neighbourhood.of(lease.url, *map(str, near)) if isinstance(near, list | tuple) and len(near) == 2 else None

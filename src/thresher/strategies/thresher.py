"""Thresher's own strategy: all evidence of the papers, learned online, waiting URLs ranked again as it learns.

A link's score is the probability that it leads to the topic. A logistic regression gives it, from all known links to
the same URL, by weights that were learned on other topics and follow this crawl as it goes (`learned.model`). Classics
stand by in case it goes astray (`learned.net`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from thresher.classify.base import Notebook
from thresher.records import TOLD, Candidate, Forecast, Judgement, Lease, Merge, ParsedPage, Revision
from thresher.strategies.aim import Aim
from thresher.strategies.base import Change
from thresher.strategies.learned.features import (
    GROUPS,
    MEMBERS,
    NAMES,
    Floats,
    features,
)
from thresher.strategies.learned.forecast import forecast
from thresher.strategies.learned.links import MOST_LINKS, Ints, KnownLinks
from thresher.strategies.learned.model import Model, log_odds, sigmoid
from thresher.strategies.learned.net import Net
from thresher.strategies.learned.notes import Notes
from thresher.strategies.learned.places import Places
from thresher.strategies.learned.prior import read_prior
from thresher.strategies.learned.words import Ids, Words
from thresher.urls.canonical import fingerprint

SWEEP_URLS = 1_000
"""How many of the best URLs are scored again every few pages."""
THINK_PAGES, THINK_LINKS = 25, 200
"""Pages between two thoughts about all words and all that waits: so many, or one for each so many links."""
FIT_PAGES, FIT_SHARE = 5, 0.05
"""Examples between two fits of the model: so many, or this share of all."""
SWEEP_SHARE, LATE_SWEEPS = 1 / 60, 2
"""Of all pages: how many lie between two sweeps; but no more than so many times what lies between the first."""
HOT = 300
"""How many of the best URLs get a new score in a sweep; of the others those that leave the best."""
REFUSED = 0.0
"""What a person says of a page that is not about the topic."""
LEAST_CHANGE = 0.002
"""Smaller changes of a score are not worth a write."""
LINKS_LEARNED = 8
"""Of all links to a URL, those whose words are learned from."""
MOST_PAGE_WORDS = 5_000
"""The latest pages whose words are remembered, for second thoughts of the judge."""


class Thresher:
    """Follow the links that are likeliest to lead to the topic, by all that was learned so far.

    The links a worker knows are its own; what became of URLs, workers tell each other. After a restart learning goes
    on, with the links to the best of what waits; the rest keeps its last score until it is found again. The page store
    does not hold all that was known of a link (its element, its heading, links to pages that were fetched before), so
    the score of a recalled URL is its score in the frontier, moved by what the model learns from then on.

    Args:
        aim: The topic.
        sweep_pages: Pages between two new scores of the best that wait, at first; later twice as many.
        sweep_urls: How many these are.
        hold: How strongly weights are held to those learned on other topics; 1 is what these differ by.
        without: Features to leave out, joined by ``+``: for experiments.
        prior: A file with other weights to start from.
        net: Whether classics stand by.
        most_links: How many links are remembered.
    """

    merge = Merge.MAX

    def __init__(
        self,
        aim: Aim,
        *,
        sweep_pages: int = 5,
        sweep_urls: int = SWEEP_URLS,
        hold: float = 1.0,
        without: str = "",
        prior: str = "",
        net: bool = True,
        most_links: int = MOST_LINKS,
    ) -> None:
        self._places = Places()
        self._words = Words()
        self._known = KnownLinks(aim, self._places, self._words, width=len(NAMES), most_links=most_links)
        self._model = Model(read_prior(prior, NAMES, hold=hold))
        self._net = Net() if net else None
        self._notes = Notes(self._model, self._words, self._places, self._net)
        self._used = np.array([float(name not in without.split("+")) for name in NAMES])
        self._sweep_pages = sweep_pages
        self._sweep_urls = sweep_urls
        self._pages_to_sweep = self._pages_to_thought = 1
        self._asked = 0
        self._examples_to_fit = FIT_PAGES
        self._page_words: dict[int, Ids] = {}
        self._counted: dict[int, list[int]] = {}
        self._recalled = False

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Learn from where the links to this page led, then weigh its own."""
        self._keep_recalled_scores()
        known, relevance = self._known, judgement.reward
        known.number(page.url)  # a seed is known from now on
        self._note_all(lease, page.url, relevance)
        self._read(page, relevance)
        children = known.add_page(page, relevance)
        if not len(children):
            return
        x = self._features(children, *known.all_links_to(children))
        scores, parts = self._scores(children, x), (self._model.parts(x) @ MEMBERS).round(3).tolist()
        known.urls["x"][children] = x
        known.urls["score"][children] = np.maximum(known.urls["score"][children], scores)
        for child, score, values in zip(children.tolist(), scores.tolist(), parts, strict=True):
            yield Candidate(url=known.names[child], score=score, parts=dict(zip(GROUPS, values, strict=True)))

    def missed(self, lease: Lease) -> Iterator[Candidate]:
        """Learn from a URL that brought no page, or a copy of one."""
        self._note_all(lease, lease.url, 0.0)
        return iter(())

    def recall(
        self, page: ParsedPage, judgement: Judgement, *, waiting: Mapping[str, float], outcomes: Mapping[str, float]
    ) -> None:
        """Know the links of a page of an earlier run again; what they taught is in the notes."""
        known = self._known
        for url, relevance in outcomes.items():
            known.remember(fingerprint(url), relevance)
        children = known.add_page(page, judgement.reward, recalled=True)
        key = fingerprint(page.url)
        self._page_words[key] = self._words.of_page(page.text)
        self._counted[key] = known.urls["places"][known.number(page.url)].tolist()
        if len(children):
            known.urls["score"][children] = [waiting.get(known.names[child], 0.0) for child in children.tolist()]
            self._recalled = True

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, Change]:
        """Take over what is now thought of some pages; every few pages, score all that waits again.

        When a person has spoken, all is scored again at once: somebody may be waiting to see what it changed. A no
        counts against the page, not against its links: what comes close to the topic leads to it, and on dev topics
        whoever let the links fall found less.
        """
        self._keep_recalled_scores()
        for revision in revisions:
            key, judgement = fingerprint(revision.url), revision.judgement
            if judgement.parts.get(TOLD) != REFUSED:
                self._think_again(key, judgement.reward)
        self._pages_to_sweep -= 1
        self._asked += 1
        if any(TOLD in revision.judgement.parts for revision in revisions):
            self._pages_to_sweep = self._pages_to_thought = 0
        return {} if self._pages_to_sweep > 0 else self._sweep()

    def forecast(self, *, pages: int, harvest: float, waiting: int) -> Forecast | None:
        """Return how many of the waiting URLs lead to relevant pages, as measured in the lab."""
        return forecast(pages=pages, harvest=harvest, waiting=waiting)

    def keep_in(self, notebook: Notebook) -> None:
        """Go on with what was learned before, and know which URLs were fetched last."""
        for key, relevance in self._notes.keep_in(notebook):
            self._known.remember(key, relevance)

    def write_down(self) -> None:
        """Write down what was learned."""
        self._notes.write_down()

    def _note_all(self, lease: Lease, url: str, relevance: float) -> None:
        """Learn from what became of a URL, and of the one that redirected to it."""
        self._note(fingerprint(url), relevance)
        if lease.redirects:
            self._note(lease.parent, relevance)

    def _note(self, key: int, relevance: float) -> None:
        """Learn from what became of a URL, and from what became of those of other workers."""
        self._learn(key, relevance)
        for other_key, other_relevance in self._notes.page_done(key, relevance):
            self._learn(other_key, other_relevance)

    def _learn(self, key: int, relevance: float) -> None:
        """Learn from what became of a URL, unless that is known already."""
        known, number = self._known, self._known.find(key)
        if number is None:
            known.remember(key, relevance)
            return
        if known.urls["fetched"][number]:
            return
        self._count(key, known.places_of(number), relevance)
        x, rows = known.urls["x"][number].astype(np.float64), known.links_to(number)[:LINKS_LEARNED]
        if rows:
            foreseen = float(self._model.foresee(x))
            error = foreseen - relevance
            if self._net:
                self._net.learn(x, foreseen, relevance)
            names, contexts, pages = known.links["name"][rows], known.links["around"][rows], known.introductions(rows)
            self._words.follow(names, contexts, pages, relevance=relevance, error=error)
            self._model.add(key, x, relevance)
            self._examples_to_fit -= 1
        known.settle(number, relevance)
        if self._examples_to_fit <= 0:
            self._model.fit()
            self._examples_to_fit = max(FIT_PAGES, int(FIT_SHARE * self._model.count))

    def _count(self, key: int, places: list[int], relevance: float) -> None:
        """Count what became of a URL at its places, and remember which: links found later stand at others."""
        self._places.count(places, relevance)
        self._counted[key] = places
        if len(self._counted) > MOST_PAGE_WORDS:
            del self._counted[next(iter(self._counted))]

    def _read(self, page: ParsedPage, relevance: float) -> None:
        words = self._words.of_page(page.text)
        self._words.read_page(words, relevance)
        self._page_words[fingerprint(page.url)] = words
        if len(self._page_words) > MOST_PAGE_WORDS:
            del self._page_words[next(iter(self._page_words))]

    def _think_again(self, key: int, relevance: float) -> None:
        number = self._known.find(key)
        if number is None or not self._known.urls["fetched"][number]:
            return
        if change := self._known.settle(number, relevance):
            self._places.count(self._counted.get(key, []), change, tries=0)
            self._model.revise(key, relevance)
            if key in self._page_words:
                self._words.revise_page(self._page_words[key], change)

    def _features(self, numbers: Ints, rows: Ints, at: Ints) -> Floats:
        x: Floats = features(self._known, self._places, numbers, rows, at) * self._used
        return x

    def _scores(self, numbers: Ints, x: Floats) -> Floats:
        """Give the scores of some URLs by their features, moved by what was not recalled of them."""
        learned = self._model.foresee(x)
        mixed = self._net.mix(x, learned) if self._net else learned
        shift = self._known.urls["shift"][numbers]
        return np.where(shift == 0, mixed, sigmoid(log_odds(mixed) + shift))

    def _keep_recalled_scores(self) -> None:
        """Note by how much the scores of recalled URLs differ from what the model gives for what is left of them."""
        if not self._recalled:
            return
        self._recalled = False
        numbers, rows, at = self._known.waiting()
        self._think(rows)
        x = self._features(numbers, rows, at)
        scores = self._known.urls["score"][numbers]
        self._known.urls["x"][numbers] = x
        self._known.urls["shift"][numbers] = 0
        shift = log_odds(scores) - log_odds(self._scores(numbers, x))
        self._known.urls["shift"][numbers] = np.where(scores > 0, shift, 0)

    @property
    def _pause(self) -> int:
        """Pages until the next sweep: more as the crawl grows, and one page changes less."""
        most = LATE_SWEEPS * self._sweep_pages
        return min(max(self._sweep_pages, int(SWEEP_SHARE * self._asked)), most)

    def _think(self, rows: Ints) -> None:
        """Work out anew what all words say, those of some links and those of all pages."""
        self._words.think()
        self._known.listen(rows)
        self._known.listen_to_pages()

    def _sweep(self) -> dict[str, Change]:
        """Score the best that wait again, and every now and then all; give what changes among the best."""
        known = self._known
        self._pages_to_thought -= self._pause
        self._pages_to_sweep = self._pause
        everything = self._pages_to_thought <= 0
        numbers, rows, at = known.waiting() if everything else known.hottest(self._sweep_urls)
        if not len(numbers):
            return {}
        if everything:
            self._think(rows)
            self._pages_to_thought = max(THINK_PAGES, len(rows) // THINK_LINKS)
        x = self._features(numbers, rows, at)
        known.urls["x"][numbers] = x
        now, was = self._scores(numbers, x), known.urls["score"][numbers]
        last = len(now) - min(HOT, len(now))
        hot = np.maximum(now, was) >= np.partition(now, last)[last]
        changed = np.flatnonzero(hot & (np.abs(now - was) > LEAST_CHANGE))
        numbers, was, now = numbers[changed], was[changed], now[changed]
        known.urls["score"][numbers] = now
        changes = map(Change, was.tolist(), now.tolist())
        return dict(zip(map(known.names.__getitem__, numbers.tolist()), changes, strict=True))

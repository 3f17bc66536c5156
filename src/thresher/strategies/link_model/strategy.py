"""Thresher's own strategy: all evidence of the papers, learned online, waiting URLs rescored as it learns.

A link's score is the probability that it leads to the topic. A logistic regression predicts it from all known links to
the same URL, by weights that were trained on other topics and are refitted during the crawl (`flagship.model`). It is
mixed with classic strategies in case it predicts badly (`ExpertMixture`).

A worker saves its model, words and places: after a restart, or as the start of a new worker, learning continues from
there. The links it knows are not saved; waiting URLs keep their last scores.

With other workers it shares the outcomes of the latest URLs, by their fingerprints. Each learns from them by the links
to these URLs that it knows itself. Reading an outcome twice changes nothing.

`forecast` says how many waiting URLs lead to relevant pages: a 90 % interval, fitted on crawls of the lab.

    log(1 + end) = a + b log(1 + harvest)        for each end of the interval

The coefficients are quantile regressions (Koenker and Bassett 1978) over dev topics, moved outwards until every web and
every size of crawl is covered (conformalized quantile regression, Romano et al. 2019). ``python -m
bench.effectiveness.forecast_coverage`` fits them and measures the coverage. They are valid for the strategy
`thresher`.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import islice
from math import ceil, expm1, floor, log1p

import numpy as np

from thresher.judges.base import StateStore
from thresher.modelstate.codec import fitted, pack_both, readable, unpack_both
from thresher.modelstate.schedule import RefitSchedule
from thresher.records import LABEL_PART, Candidate, Forecast, Judgement, Lease, ParsedPage, Revision
from thresher.strategies.base import BaseStrategy, ScoreChange
from thresher.strategies.link_model.link_table import MAX_LINKS, RELEVANT, Ints, LinkTable
from thresher.strategies.link_model.model import (
    GROUPS,
    MEMBERS,
    NAMES,
    PRIOR,
    PRIOR_WITHOUT_VECTORS,
    ExpertMixture,
    Floats,
    Model,
    features,
    log_odds,
    read_prior,
    sigmoid,
)
from thresher.strategies.link_model.site_rates import SiteRates
from thresher.strategies.link_model.term_model import ANCHOR_CHARACTERS, Ids, NameModel, TermModel, end_of
from thresher.text.word_vectors import load_word_vectors, unit_length
from thresher.topics.profile import TopicProfile
from thresher.urls.canonical import fingerprint

MIN_PAGES = 200
"""Before this many pages there is no forecast."""


def forecast(*, pages: int, harvest: float, waiting: int) -> Forecast | None:
    """Return the interval; None where the coefficients are not valid, or nothing waits.

    Args:
        pages: Pages of the crawl so far.
        harvest: Sum of the relevance of the latest 100 fetches.
        waiting: Number of waiting URLs.
    """
    if pages < MIN_PAGES or waiting <= 0:
        return None
    ends = {end: expm1(max(0.0, a + b * log1p(max(0.0, harvest)))) for end, (a, b) in coefficients().items()}
    most = min(waiting, max(1, ceil(ends["most"])))
    return Forecast(pages=pages, least=min(most, floor(ends["least"])), most=most)


@cache
def coefficients() -> Mapping[str, Sequence[float]]:
    """Return a and b of each end."""
    text = (resources.files("thresher.strategies.link_model") / "forecast.json").read_text(encoding="utf-8")
    content: dict[str, list[float]] = json.loads(text)
    return content


LEARNED, OUTCOMES = "learned", "outcomes"
"""The kinds of entries."""
MAX_NAMES = 20_000
"""Words, and places, that are saved."""
MAX_OUTCOMES = 2_000

Outcome = tuple[int, float]
"""A URL's fingerprint, and the relevance of its page."""


class LinkModelState:
    """Saves the state of a worker, and reads the outcomes of others."""

    def __init__(
        self, model: Model, words: TermModel, places: SiteRates, names: NameModel, net: ExpertMixture | None = None
    ) -> None:
        self._model = model
        self._words = words
        self._names = names
        self._site_rates = places
        self._experts = net
        self._latest: deque[Outcome] = deque(maxlen=MAX_OUTCOMES)
        self._refit_schedule = RefitSchedule()
        self._pages = 0
        self._state_store: StateStore | None = None

    def load_state(self, state_store: StateStore) -> Sequence[Outcome]:
        """Restore the state of an earlier run; a new worker begins with the state of one of the others.

        Returns:
            The outcomes of the latest URLs of this worker.
        """
        self._state_store = state_store
        self._refit_schedule.write_seconds = state_store.write_seconds
        if content := state_store.read(OUTCOMES):
            self._latest.extend(_read_outcomes(content))
        if content := state_store.read(LEARNED):
            self._restore(content)
        else:
            next(islice(readable(state_store.read_others(LEARNED), self._restore, "what was learned"), 1), None)
        return tuple(self._latest)

    def page_done(self, key: int, relevance: float) -> Iterator[Outcome]:
        """Record the outcome of a URL; when it is due, save the state, and yield the outcomes of other workers."""
        self._pages += 1
        self._latest.append((key, relevance))
        if self._refit_schedule.is_write_due(self._pages):
            self.save_state()
        if self._state_store and self._refit_schedule.is_read_due(self._pages):
            self._refit_schedule.read(self._pages)
            for outcomes in readable(self._state_store.read_others(OUTCOMES), _read_outcomes, "outcomes"):
                yield from outcomes

    def save_state(self) -> None:
        if self._state_store:
            content, _ = fitted(self._entry, MAX_NAMES)
            self._state_store.write(LEARNED, content)
            keys, relevance = zip(*self._latest, strict=True) if self._latest else ((), ())
            arrays = {"keys": np.array(keys, dtype=np.int64), "relevance": np.array(relevance, dtype=np.float32)}
            self._state_store.write(OUTCOMES, pack_both(arrays, {}))
        self._refit_schedule.written(self._pages)

    def _entry(self, most: int) -> bytes:
        words, word_counts = self._words.state(most)
        places, place_counts = self._site_rates.state(most)
        net = self._experts.state() if self._experts else {}
        arrays = {
            **self._model.state(),
            **self._names.state(),
            **net,
            "word_counts": word_counts,
            "place_counts": place_counts,
        }
        return pack_both(arrays, {"words": words, "places": places})

    def _restore(self, content: bytes) -> None:
        arrays, names = unpack_both(content)
        self._model.restore(arrays)
        self._words.restore(names["words"], arrays["word_counts"])
        self._names.restore(arrays)
        self._site_rates.restore(names["places"], arrays["place_counts"])
        if self._experts:
            self._experts.restore(arrays)


def _read_outcomes(content: bytes) -> list[Outcome]:
    arrays, _ = unpack_both(content)
    keys, relevance = arrays["keys"].tolist(), np.clip(arrays["relevance"], 0.0, 1.0).tolist()
    return list(zip(keys, relevance, strict=True))


EARLY_PAGES = 60
"""Pages up to which the best waiting URLs are rescored after every page."""
SPREAD_PAGES = 100
"""Pages up to which the spread of all names is estimated in every sweep; then when all URLs are rescored."""
SWEEP_URLS = 300
"""How many of the best URLs are rescored every few pages."""
FULL_SWEEP_PAGES, FULL_SWEEP_LINKS = 25, 200
"""Pages between two updates of all words and all waiting URLs: this many, or one for each this many links."""
FIT_PAGES, FIT_SHARE = 5, 0.05
"""Examples between two fits of the model: this many, or this share of all."""
SWEEP_SHARE, LATE_SWEEPS = 1 / 60, 2
"""Pages between two sweeps, as a share of all; at most this many times `sweep_pages`."""
HOT = 300
"""How many of the best URLs get a new score in a sweep; of the others, those that drop out of the best."""
REFUSED = 0.0
"""The label of a page that is not about the topic."""
MIN_CHANGE = 0.002
"""Smaller changes of a score are not worth a write."""
LINKS_LEARNED = 8
"""Links to a URL whose words are learned from."""
MAX_PAGE_WORDS = 5_000
"""The latest pages whose words are remembered, for revised judgements."""


class LinkModelStrategy(BaseStrategy):
    """Follow the links that are likeliest to lead to the topic, by a model that learns from every page.

    Each worker knows its own links; workers share the outcomes of URLs. After a restart learning continues, with the
    links to the best waiting URLs; the others keep their last scores until they are found again. The page store does
    not hold everything about a link (its element, its heading, links to pages that were fetched before), so the score
    of a URL after a restart is its score in the frontier, shifted by what the model learns from then on.

    Args:
        topic_profile: The topic.
        sweep_pages: Pages between two rescorings of the best waiting URLs, at first; later twice as many.
        sweep_urls: How many URLs are rescored.
        prior_strength: How strongly weights are held to those of other topics; 1 is how much these differ.
        without: Features to leave out, joined by ``+``: for experiments.
        prior: A file with other weights to start from.
        net: Whether the model is mixed with classic strategies.
        most_links: How many links are remembered.
        vectors: Whether names of URLs are compared with titles by pretrained word vectors.
        early_pages: Up to this many pages, the best waiting URLs are rescored after every page, if there are vectors.
    """

    def __init__(
        self,
        topic_profile: TopicProfile,
        *,
        sweep_pages: int = 5,
        sweep_urls: int = SWEEP_URLS,
        prior_strength: float = 1.0,
        without: str = "",
        prior: str = "",
        net: bool = True,
        most_links: int = MAX_LINKS,
        vectors: bool = True,
        early_pages: int = EARLY_PAGES,
    ) -> None:
        self._site_rates = SiteRates()
        self._words = TermModel()
        table = load_word_vectors() if vectors else None
        self._names = NameModel(table, self._words, " ".join(topic_profile.phrases))
        self._links = LinkTable(
            topic_profile, self._site_rates, self._words, self._names, width=len(NAMES), most_links=most_links
        )
        packaged = PRIOR if table else PRIOR_WITHOUT_VECTORS
        self._model = Model(read_prior(prior or packaged, NAMES, prior_strength=prior_strength))
        self._experts = ExpertMixture() if net else None
        self._state = LinkModelState(self._model, self._words, self._site_rates, self._names, self._experts)
        self._used = np.array([float(name not in without.split("+")) for name in NAMES])
        self._sweep_pages = sweep_pages
        self._sweep_urls = sweep_urls
        self._early_pages = early_pages if table else 0
        self._pages_to_sweep = self._pages_to_full_sweep = 1
        self._pages_seen = 0
        self._examples_to_fit = FIT_PAGES
        self._page_words: dict[int, Ids] = {}
        self._counted: dict[int, list[int]] = {}
        self._recalled = False

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> list[Candidate]:
        """Learn from the links to this page, then score its own."""
        self._keep_recalled_scores()
        known, relevance = self._links, judgement.reward
        known.number(page.url)  # a seed is known from now on
        is_seed = not lease.hops and not known.urls["parents"][known.number(page.url)]
        self._record_outcomes(lease, page.url, relevance)
        self._read(page, relevance, is_seed=is_seed)
        children = known.add_page(page, relevance)
        if not len(children):
            return []
        x = self._features(children, *known.all_links_to(children))
        scores, parts = self._scores(children, x), (self._model.parts(x) @ MEMBERS).round(3).tolist()
        known.urls["x"][children] = x
        known.urls["score"][children] = np.maximum(known.urls["score"][children], scores)
        urls = map(known.names.__getitem__, children.tolist())
        breakdowns = (dict(zip(GROUPS, values, strict=True)) for values in parts)
        return list(map(Candidate, urls, scores.tolist(), breakdowns))

    def on_miss(self, lease: Lease) -> Iterator[Candidate]:
        """Learn from a URL without a page, or with a duplicate."""
        self._record_outcomes(lease, lease.url, 0.0)
        return iter(())

    def warm_start(
        self, page: ParsedPage, judgement: Judgement, *, waiting: Mapping[str, float], outcomes: Mapping[str, float]
    ) -> None:
        """Load the links of a page of an earlier run; what was learned from them is in the saved state."""
        known = self._links
        for url, relevance in outcomes.items():
            known.remember(fingerprint(url), relevance)
        children = known.add_page(page, judgement.reward, recalled=True)
        key = fingerprint(page.url)
        self._page_words[key] = self._words.of_page(page.text, page.language)
        self._counted[key] = known.urls["places"][known.number(page.url)].tolist()
        if len(children):
            known.urls["score"][children] = [waiting.get(known.names[child], 0.0) for child in children.tolist()]
            self._recalled = True

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, ScoreChange]:
        """Update the outcomes of revised pages; rescore waiting URLs when a sweep is due.

        After a new label all waiting URLs are rescored at once, because the user may be waiting for the effect. A
        negative label counts against the page, not against its links: pages close to the topic lead to it, and on dev
        topics lowering the scores of these links found less.
        """
        self._keep_recalled_scores()
        for revision in revisions:
            key, judgement = fingerprint(revision.url), revision.judgement
            if judgement.breakdown.get(LABEL_PART) != REFUSED:
                self._revise_outcome(key, judgement.reward)
        self._pages_to_sweep -= 1
        self._pages_seen += 1
        if any(LABEL_PART in revision.judgement.breakdown for revision in revisions):
            self._pages_to_sweep = self._pages_to_full_sweep = 0
        return {} if self._pages_to_sweep > 0 else self._sweep()

    def forecast(self, *, pages: int, harvest: float, waiting: int) -> Forecast | None:
        return forecast(pages=pages, harvest=harvest, waiting=waiting)

    def load_state(self, state_store: StateStore) -> None:
        """Restore the state of an earlier run, and the outcomes of the latest URLs."""
        for key, relevance in self._state.load_state(state_store):
            self._links.remember(key, relevance)

    def save_state(self) -> None:
        self._state.save_state()

    def _record_outcomes(self, lease: Lease, url: str, relevance: float) -> None:
        """Learn from the outcome of a URL, and of the one that redirected to it."""
        self._record_outcome(fingerprint(url), relevance)
        if lease.redirects:
            self._record_outcome(lease.parent, relevance)

    def _record_outcome(self, key: int, relevance: float) -> None:
        """Learn from the outcome of a URL, and from outcomes of other workers when they are read."""
        self._learn(key, relevance)
        for other_key, other_relevance in self._state.page_done(key, relevance):
            self._learn(other_key, other_relevance)
            self._learn_name(other_key, other_relevance)

    def _learn_name(self, key: int, relevance: float) -> None:
        """Take the name of another worker's relevant page for its title, which only that worker has read."""
        number = self._links.find(key)
        if self._names.is_active and number is not None and relevance >= RELEVANT and not self._names.has(key):
            self._names.add(key, unit_length(self._links.urls["vector"][number].astype(np.float32)), relevance)

    def _learn(self, key: int, relevance: float) -> None:
        """Learn from the outcome of a URL, unless it is known already."""
        known, number = self._links, self._links.find(key)
        if number is None:
            known.remember(key, relevance)
            return
        if known.urls["fetched"][number]:
            return
        self._count(key, known.places_of(number), relevance)
        x, rows = known.urls["x"][number].astype(np.float64), known.links_to(number)[:LINKS_LEARNED]
        if rows:
            predicted = float(self._model.predict(x))
            error = predicted - relevance
            if self._experts:
                self._experts.learn(x, predicted, relevance)
            names, contexts, pages = known.links["name"][rows], known.links["around"][rows], known.introductions(rows)
            self._words.follow(names, contexts, pages, relevance=relevance, error=error)
            self._model.add(key, x, relevance)
            self._examples_to_fit -= 1
        known.settle(number, relevance)
        if self._examples_to_fit <= 0:
            self._model.fit()
            self._examples_to_fit = max(FIT_PAGES, int(FIT_SHARE * self._model.count))

    def _count(self, key: int, places: list[int], relevance: float) -> None:
        """Count the outcome of a URL at its places, and remember these: links found later add others."""
        self._site_rates.count(places, relevance)
        self._counted[key] = places
        if len(self._counted) > MAX_PAGE_WORDS:
            del self._counted[next(iter(self._counted))]

    def _read(self, page: ParsedPage, relevance: float, *, is_seed: bool) -> None:
        words, key = self._words.of_page(page.text, page.language), fingerprint(page.url)
        self._words.read_page(words, relevance)
        if self._names.is_active:
            ids, _ = self._words.of([f"{page.title[:ANCHOR_CHARACTERS]} {end_of(page.url)}"], page.language)
            self._names.add(key, self._names.embed(ids[None, :])[0], relevance, is_seed=is_seed)
        self._page_words[key] = words
        if len(self._page_words) > MAX_PAGE_WORDS:
            del self._page_words[next(iter(self._page_words))]

    def _revise_outcome(self, key: int, relevance: float) -> None:
        number = self._links.find(key)
        if number is None or not self._links.urls["fetched"][number]:
            return
        if change := self._links.settle(number, relevance):
            self._site_rates.count(self._counted.get(key, []), change, tries=0)
            self._model.revise(key, relevance)
            self._names.revise(key, relevance)
            if key in self._page_words:
                self._words.revise_page(self._page_words[key], change)

    def _features(self, numbers: Ints, rows: Ints, at: Ints) -> Floats:
        x: Floats = features(self._links, self._site_rates, self._names, numbers, rows, at) * self._used
        return x

    def _scores(self, numbers: Ints, x: Floats) -> Floats:
        """Return the scores of some URLs by their features, plus their shifts after a warm start."""
        learned = self._model.predict(x)
        mixed = self._experts.mix(x, learned) if self._experts else learned
        shift = self._links.urls["shift"][numbers]
        return np.where(shift == 0, mixed, sigmoid(log_odds(mixed) + shift))

    def _keep_recalled_scores(self) -> None:
        """Store the difference between the scores of URLs after a warm start and the model's predictions for them."""
        if not self._recalled:
            return
        self._recalled = False
        numbers, rows, at = self._links.waiting()
        self._update_text_features(rows)
        self._update_name_model(estimate=True)
        x = self._features(numbers, rows, at)
        scores = self._links.urls["score"][numbers]
        self._links.urls["x"][numbers] = x
        self._links.urls["shift"][numbers] = 0
        shift = log_odds(scores) - log_odds(self._scores(numbers, x))
        self._links.urls["shift"][numbers] = np.where(scores > 0, shift, 0)

    @property
    def _pause(self) -> int:
        """Pages until the next sweep: more as the crawl grows and one page changes less."""
        if self._pages_seen < self._early_pages:
            return 1
        most = LATE_SWEEPS * self._sweep_pages
        return min(max(self._sweep_pages, int(SWEEP_SHARE * self._pages_seen)), most)

    def _update_text_features(self, rows: Ints) -> None:
        """Update the features of all words, of some links and of all pages."""
        self._words.update()
        self._links.update_text_features(rows)
        self._links.update_page_features()

    def _update_name_model(self, *, estimate: bool) -> None:
        if estimate:
            self._names.estimate_spread(self._links.urls["vector"])
        self._names.fit()

    def _sweep(self) -> dict[str, ScoreChange]:
        """Rescore the best waiting URLs, and now and then all; return the changes among the best."""
        known = self._links
        self._pages_to_full_sweep -= self._pause
        self._pages_to_sweep = self._pause
        everything = self._pages_to_full_sweep <= 0
        numbers, rows, at = known.waiting() if everything else known.hottest(self._sweep_urls)
        if not len(numbers):
            return {}
        if everything:
            self._update_text_features(rows)
            self._pages_to_full_sweep = max(FULL_SWEEP_PAGES, len(rows) // FULL_SWEEP_LINKS)
        self._update_name_model(estimate=everything or self._pages_seen < SPREAD_PAGES)
        x = self._features(numbers, rows, at)
        known.urls["x"][numbers] = x
        now, was = self._scores(numbers, x), known.urls["score"][numbers]
        last = len(now) - min(HOT, len(now))
        hot = np.maximum(now, was) >= np.partition(now, last)[last]
        changed = np.flatnonzero(hot & (np.abs(now - was) > MIN_CHANGE))
        numbers, was, now = numbers[changed], was[changed], now[changed]
        known.urls["score"][numbers] = now
        changes = map(ScoreChange._make, zip(was.tolist(), now.tolist(), strict=True))
        return dict(zip(map(known.names.__getitem__, numbers.tolist()), changes, strict=True))

"""Learning anchor: Chakrabarti, Punera and Subramanyam, WWW 2002, as in SURVEY, figure 6.

The crawl itself shows where anchors lead. A link waits together with its anchor; when its page has been fetched and
judged, the anchor is an example for the classifier that scores all further anchors.

From the figure: the weighted sum of page and anchor (its minus sign is a misprint), training between batches, and a
threshold that each training recomputes; a link becomes an example at once, labelled by its own score, when that is
beyond the threshold. This is `pseudo_labels`. Ours: by default the target page labels the example, so that no threshold
is needed: with one, a classifier without confident scores would never get new examples.

The threshold of pseudo labels, recomputed by each training: SURVEY, figure 6.

A naive Bayes classifier of anchors, trained on anchors whose targets are known: SURVEY, section 2.6.

New examples count from the next training on; until then every anchor is scored by the same model. The counts of other
workers' examples are added to the own.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import exp, log
from typing import Any, NamedTuple
from uuid import uuid4

from thresher.judges.base import StateStore
from thresher.modelstate.codec import fitted, pack_values, readable, unpack_values
from thresher.modelstate.schedule import RefitSchedule
from thresher.records import Candidate, Json, Judgement, Lease, Link, ParsedPage, Revision, StrategyData
from thresher.strategies.base import BaseStrategy, ScoreChange
from thresher.strategies.batches import Batches, generation_of
from thresher.text.tokens import count

MAX_TERMS = 50_000
"""Terms that are remembered; the rarest are dropped first."""
MAX_ANCHORS = 1 << 15
"""Anchors whose scores are cached until the next training."""
_LARGEST = 30.0
"""Log-odds are clipped to this, so that their exponential stays finite."""


@dataclass(frozen=True, slots=True)
class AnchorCounts:
    """Examples of each class, and the terms of their anchors."""

    examples: Mapping[bool, int]
    terms: Mapping[bool, Counter[str]]

    @classmethod
    def read(cls, state: Mapping[str, Any]) -> AnchorCounts:
        """Decode the result of `AnchorClassifier.state`.

        Raises:
            ValueError: It is invalid.
        """
        examples = [int(number) for number in state["examples"]]
        terms = {str(term): [int(number) for number in counts] for term, counts in state["terms"].items()}
        if min(*examples, *(number for counts in terms.values() for number in counts)) < 0:
            raise ValueError("a count is below 0")
        of_class = {
            relevant: Counter({term: counts[place] for term, counts in terms.items() if counts[place]})
            for place, relevant in enumerate((True, False))
        }
        return cls(dict(zip((True, False), examples, strict=True)), of_class)

    def bounded(self, most: int) -> AnchorCounts:
        """Keep the most frequent terms."""
        both = self.terms[True] + self.terms[False]
        if len(both) <= most:
            return self
        kept = {term for term, _ in both.most_common(most)}
        return AnchorCounts(
            self.examples,
            {
                relevant: Counter({t: n for t, n in found.items() if t in kept})
                for relevant, found in self.terms.items()
            },
        )


class AnchorClassifier:
    """Predicts the probability that the target of an anchor is relevant.

    Args:
        alpha: Additive smoothing: the count of every term in each class before the first example.
        fewest: Examples of each class that training needs.
    """

    def __init__(self, *, alpha: float = 1.0, fewest: int = 1) -> None:
        self._alpha = alpha
        self._fewest = fewest
        self._examples = {True: 0, False: 0}
        self._terms: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        self._others: dict[str, AnchorCounts] = {}
        self._prior = 0.0
        self._log_odds: dict[str, float] = {}
        self._cache: dict[str, float | None] = {}
        self.is_trained = False

    def add(self, anchor: str, relevant: bool) -> None:
        """Add an example; it counts from the next training on."""
        self._examples[relevant] += 1
        self._terms[relevant].update(count(anchor))

    @property
    def examples(self) -> int:
        """Number of examples, those of other workers included."""
        return sum(sum(counts.examples.values()) for counts in self._all_counts())

    def train(self) -> bool:
        """Train on all examples; return False while there are too few of one class."""
        all_counts = self._all_counts()
        of_class = {relevant: sum(each.examples[relevant] for each in all_counts) for relevant in (True, False)}
        if min(of_class.values()) < self._fewest:
            return False
        self._drop_rare_terms()
        on, off = (_sum(each.terms[relevant] for each in self._all_counts()) for relevant in (True, False))
        V, alpha = on.keys() | off.keys(), self._alpha
        all_on, all_off = on.total() + alpha * len(V), off.total() + alpha * len(V)
        self._log_odds = {t: log((on[t] + alpha) / all_on) - log((off[t] + alpha) / all_off) for t in V}
        self._prior = log(of_class[True] / of_class[False])
        self._cache.clear()
        self.is_trained = True
        return True

    def score(self, anchor: str) -> float | None:
        """Return the probability that an anchor leads to a relevant page; None without words or training."""
        if not self.is_trained:
            return None
        if anchor not in self._cache:
            if len(self._cache) >= MAX_ANCHORS:
                self._cache.clear()
            self._cache[anchor] = self._score(anchor)
        return self._cache[anchor]

    def state(self, most_terms: int = MAX_TERMS) -> dict[str, Any]:
        """Return this worker's own examples as plain values that JSON can hold."""
        own = AnchorCounts(self._examples, self._terms).bounded(most_terms).terms
        terms = {term: [own[True][term], own[False][term]] for term in own[True].keys() | own[False].keys()}
        return {"examples": [self._examples[True], self._examples[False]], "terms": terms}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the examples that `state` returned, and train on them."""
        own = AnchorCounts.read(state)
        self._examples, self._terms = dict(own.examples), dict(own.terms)
        self.train()

    def merge(self, worker: str, state: Mapping[str, Any]) -> None:
        """Replace the examples of another worker; they count from the next training on.

        Raises:
            ValueError: They are invalid.
        """
        self._others[worker] = AnchorCounts.read(state)
        each = MAX_TERMS // len(self._others)
        self._others = {name: counts.bounded(each) for name, counts in self._others.items()}

    def _all_counts(self) -> list[AnchorCounts]:
        return [AnchorCounts(self._examples, self._terms), *self._others.values()]

    def _score(self, anchor: str) -> float | None:
        counts = count(anchor)
        if not counts:
            return None
        log_odds = self._prior + sum(tf * self._log_odds.get(term, 0.0) for term, tf in counts.items())
        return 1.0 / (1.0 + exp(-max(-_LARGEST, min(_LARGEST, log_odds))))

    def _drop_rare_terms(self) -> None:
        both = self._terms[True] + self._terms[False]
        for term, _ in both.most_common()[MAX_TERMS:]:
            self._terms[True].pop(term, None)
            self._terms[False].pop(term, None)


def _sum(counters: Iterable[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for counter in counters:
        total.update(counter)
    return total


KNOWN_TARGETS = 1_000
"""The latest links with a score and a known target, by which the threshold is chosen."""
UNDECIDED = 0.5

Known = tuple[float, bool]
"""The predicted probability that a link is relevant, and whether it was."""


def new_threshold(known: Sequence[Known], accuracy: float, old: float) -> float:
    """Return the least confidence from which scores were accurate enough; the old threshold when there is none."""
    ranked = sorted(((confidence(score), (score > UNDECIDED) == relevant) for score, relevant in known), reverse=True)
    threshold, seen, right = None, 0, 0
    for least, group in groupby(ranked, key=lambda one: one[0]):
        verdicts = [is_right for _, is_right in group]
        seen, right = seen + len(verdicts), right + sum(verdicts)
        if right >= accuracy * seen:
            threshold = least
    return old if threshold is None else threshold


def confidence(anchor_score: float) -> float:
    """Return the distance of a score from undecided, from 0 to 1."""
    return abs(2 * anchor_score - 1)


MAX_ANCHOR_CHARACTERS = 200
OWN_SHARE = 0.1
"""Share of `retrain_every` that must be the worker's own examples; else many workers would keep it training."""
MAX_WAITING = 100_000
"""Links that are remembered for rescoring; beyond it the oldest are dropped, and keep their scores."""
MIN_CHANGE = 0.005
"""Smaller changes of a score are not worth a write."""
STATE_KIND = "anchors"


class _WaitingLink(NamedTuple):
    page_score: float
    anchor: str
    score: float


class LearningAnchor(BaseStrategy):
    """Follow links by their pages and by their anchors, and learn from the crawl which anchors lead to the topic.

    Anchors are carried by their URLs, so the worker that fetches a page learns from the link to it. Examples are saved
    with the crawl, and the counts of all workers are added up: each trains on all of them. After each training the
    waiting links that the worker has found in this run are scored again.

    Args:
        factor: Weight of the page against the anchor.
        first_examples: The first training needs this many relevant and this many irrelevant examples.
        retrain_every: Examples after which the classifier of anchors is retrained; in batches it is trained
            between them.
        pseudo_labels: Whether a link becomes an example at once by its own score, as in the figure, and not when
            its target is known.
        accuracy: Least accuracy of the scores beyond the threshold of pseudo labels.
        batch: ``none`` follows the best waiting link. ``all`` takes the figure literally: links wait until all links
            found before them are fetched, and then go best first. With a number, links wait until the ready queue is
            empty, and then this many of the best move into it.
    """

    def __init__(
        self,
        *,
        factor: float = 0.5,
        first_examples: int = 5,
        retrain_every: int = 100,
        pseudo_labels: bool = False,
        accuracy: float = 0.9,
        batch: str | int = "none",
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError(f"factor must lie between 0 and 1, got {factor}")
        if first_examples < 1:
            raise ValueError(f"first_examples must be at least 1, got {first_examples}")
        self._factor = factor
        self._retrain_every = retrain_every
        self._accuracy = accuracy
        self._pseudo_labels = pseudo_labels
        self._batches = Batches(batch)
        self.batch_size = self._batches.size
        self._generation = 0
        self._classifier = AnchorClassifier(fewest=first_examples)
        self._threshold = 0.0
        self._new_examples = 0
        self._known: deque[Known] = deque(maxlen=KNOWN_TARGETS)
        self._trained_on = 0
        self._others_known: dict[str, list[Known]] = {}
        self._refit_schedule = RefitSchedule()
        self._pages = 0
        self._waiting: dict[str, _WaitingLink] = {}
        self._rescore_due = False
        self._worker = uuid4().hex
        self._state_store: StateStore | None = None

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Learn from the link that led to this page, then score its links."""
        self._waiting.pop(lease.url, None)
        self._learn(lease.strategy_data, judgement.relevant)
        self._exchange()
        if self._is_due(lease):
            self._retrain()
        generation = self._batches.generation_data(lease)
        return (self._weigh(link, judgement.reward, generation) for link in page.links)

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, ScoreChange]:
        """Return new scores of the links that wait, after the classifier of anchors was trained again."""
        if not self._rescore_due:
            return {}
        self._rescore_due = False
        changes = {}
        for url, link in self._waiting.items():
            score = self._batches.place(self._combined(link.page_score, self._classifier.score(link.anchor)), {})
            if abs(score - link.score) > MIN_CHANGE:
                changes[url] = ScoreChange(link.score, score)
                self._waiting[url] = link._replace(score=score)
        return changes

    def load_state(self, state_store: StateStore) -> None:
        self._state_store = state_store
        if content := state_store.read(STATE_KIND):
            state = unpack_values(content)
            self._worker = str(state["worker"])
            self._classifier.restore(state["classifier"])
            self._threshold = float(state["threshold"])
            self._known.extend(_read_known(state))
        self._read_others()
        self._retrain()

    def save_state(self) -> None:
        if self._state_store:
            content, _ = fitted(self._entry, MAX_TERMS)
            self._state_store.write(STATE_KIND, content)
        self._refit_schedule.written(self._pages)

    def _entry(self, most_terms: int) -> bytes:
        classifier = self._classifier.state(most_terms)
        state = {"classifier": classifier, "threshold": self._threshold, "known": list(self._known)}
        return pack_values({"worker": self._worker, **state})

    def _exchange(self) -> None:
        """Now and then save the own examples, and read those of other workers."""
        self._pages += 1
        if self._refit_schedule.is_write_due(self._pages):
            self.save_state()
        if self._refit_schedule.is_read_due(self._pages):
            self._read_others()

    def _read_others(self) -> None:
        self._refit_schedule.read(self._pages)
        entries = self._state_store.read_others(STATE_KIND) if self._state_store else ()
        for worker in readable(entries, self._merge, "anchors"):
            each = KNOWN_TARGETS // len(self._others_known or [worker])
            self._others_known = {name: known[-each:] for name, known in self._others_known.items()}

    def _merge(self, content: bytes) -> str:
        """Replace the examples of another worker by its latest entry; return its id."""
        state = unpack_values(content)
        worker, known = str(state["worker"]), list(_read_known(state))
        if worker != self._worker:
            self._classifier.merge(worker, state["classifier"])
            self._others_known[worker] = known
        return worker

    def _weigh(self, link: Link, page_score: float, generation: Mapping[str, int]) -> Candidate:
        """Score a link by its page and its anchor; by its page alone when the anchor has no score."""
        anchor, anchor_score = link.anchor[:MAX_ANCHOR_CHARACTERS], self._classifier.score(link.anchor)
        score, breakdown = self._combined(page_score, anchor_score), {"page": page_score}
        strategy_data: dict[str, Json] = {"anchor": anchor, **generation}
        if anchor_score is not None:
            breakdown["anchor"] = strategy_data["anchor_score"] = anchor_score
            if self._pseudo_labels and confidence(anchor_score) > self._threshold:
                self._add(anchor, anchor_score > UNDECIDED)
        placed = self._batches.place(score, generation)
        self._remember(link.url, _WaitingLink(page_score, anchor, placed))
        return Candidate(url=link.url, score=placed, breakdown=breakdown, strategy_data=strategy_data)

    def _combined(self, page_score: float, anchor_score: float | None) -> float:
        return page_score if anchor_score is None else self._factor * page_score + (1 - self._factor) * anchor_score

    def _remember(self, url: str, link: _WaitingLink) -> None:
        """Remember a link for the next training; of several to one URL the best. A generation keeps its order."""
        known = self._waiting.get(url)
        if self._batches.in_generations or (known and known.score >= link.score):
            return
        self._waiting[url] = link
        if len(self._waiting) > MAX_WAITING:
            del self._waiting[next(iter(self._waiting))]

    def _learn(self, strategy_data: StrategyData, relevant: bool) -> None:
        """Add the link that led to a page as an example; with pseudo labels only until the first training."""
        anchor, anchor_score = strategy_data.get("anchor"), strategy_data.get("anchor_score")
        if isinstance(anchor_score, float):
            self._known.append((anchor_score, relevant))
        if anchor and isinstance(anchor, str) and not (self._pseudo_labels and self._classifier.is_trained):
            self._add(anchor, relevant)

    def _add(self, anchor: str, relevant: bool) -> None:
        self._classifier.add(anchor, relevant)
        self._new_examples += 1

    def _is_due(self, lease: Lease) -> bool:
        """Return whether training is due: at the first chance, between batches, or after enough examples."""
        if self._batches.in_generations:
            before, self._generation = self._generation, max(self._generation, generation_of(lease.strategy_data))
            return self._generation > before
        if self.batch_size:  # a batch begins below 0; its first link may fail, and then is not scored
            return lease.score < 0 or self._new_examples >= self.batch_size
        if not self._classifier.is_trained:
            return True
        new = self._classifier.examples - self._trained_on
        return new >= self._retrain_every and self._new_examples >= OWN_SHARE * self._retrain_every

    def _retrain(self) -> None:
        if self._classifier.examples > self._trained_on and self._classifier.train():
            known = [*self._known, *(each for others in self._others_known.values() for each in others)]
            self._threshold = new_threshold(known, self._accuracy, self._threshold)
            self._new_examples, self._trained_on = 0, self._classifier.examples
            self._rescore_due = True


def _read_known(state: Mapping[str, Any]) -> Iterator[Known]:
    return ((float(score), bool(relevant)) for score, relevant in state["known"][-KNOWN_TARGETS:])

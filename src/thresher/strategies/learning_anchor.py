"""Learning anchor: Chakrabarti, Punera and Subramanyam, WWW 2002, as SURVEY, figure 6, gives it.

The crawl itself shows where anchors lead. A link waits together with its anchor; when its page has come and been
judged, the anchor is an example for the classifier that scores all further anchors.

The figure's: the weighted sum of page and anchor (its minus sign is a misprint), training between batches, and a
threshold that training gives anew; a link becomes an example at once, by its own score, when that is beyond the
threshold. This is `pseudo_labels`. Ours: by default the page behind the link says what it is an example of, so that no
threshold is needed: with one, a classifier that is sure of nothing would never hear of anything new.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

from thresher.classify.base import Notebook
from thresher.classify.entries import fitted, pack_values, readable, unpack_values
from thresher.classify.rhythm import Rhythm
from thresher.records import Candidate, Carry, Json, Judgement, Lease, Link, Merge, ParsedPage
from thresher.strategies.batches import Batches
from thresher.strategies.evidence.anchor_classifier import MOST_TERMS, AnchorClassifier
from thresher.strategies.evidence.anchor_threshold import KNOWN_TARGETS, UNDECIDED, Known, confidence, new_threshold
from thresher.strategies.generations import generation_of

MAX_ANCHOR_CHARACTERS = 200
OWN_SHARE = 0.1
"""Of the examples that a training waits for: how many must be the worker's own, or many others would keep it busy."""
NOTES = "anchors"


class LearningAnchor:
    """Follow links by their pages and by their anchors, and learn from the crawl which anchors lead to the topic.

    Anchors ride on their URLs, so whichever worker fetches a page learns from the link to it. Examples are saved with
    the crawl, and the counts of all workers are added up: each trains on all of them.

    Args:
        factor: Weight of the page against the anchor.
        first_examples: The first training comes as soon as there are so many relevant and so many irrelevant examples.
        retrain_every: Examples after which the classifier of anchors is trained again; in batches it is trained
            between them.
        pseudo_labels: Whether a link becomes an example at once by its own score, as the figure has it, and not when
            its target is known.
        accuracy: How often scores beyond the threshold of pseudo labels must be right.
        batch: ``none`` follows the best link of all that wait. ``all`` reads the figure by its letter: links wait until
            all that were found before them are fetched, and then go best first. With a number, links wait until the
            ready queue is empty, and then so many of the best move into it.
    """

    merge = Merge.MAX

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
        self._rhythm = Rhythm()
        self._pages = 0
        self._worker = uuid4().hex
        self._notebook: Notebook | None = None

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Learn from where the link to this page led, then weigh its own links."""
        self._learn(lease.carry, judgement.relevant)
        self._exchange()
        if self._is_due(lease):
            self._retrain()
        born = self._batches.born(lease)
        return (self._weigh(link, judgement.reward, born) for link in page.links)

    def keep_in(self, notebook: Notebook) -> None:
        """Go on with the anchors of an earlier run, and with those of other workers."""
        self._notebook = notebook
        if content := notebook.read(NOTES):
            state = unpack_values(content)
            self._worker = str(state["worker"])
            self._classifier.go_on_from(state["classifier"])
            self._threshold = float(state["threshold"])
            self._known.extend(_read_known(state))
        self._read_others()
        self._retrain()

    def write_down(self) -> None:
        """Write down the anchors and where they led."""
        if self._notebook:
            content, _ = fitted(self._entry, MOST_TERMS)
            self._notebook.write(NOTES, content)
        self._rhythm.written(self._pages)

    def _entry(self, most_terms: int) -> bytes:
        classifier = self._classifier.state(most_terms)
        state = {"classifier": classifier, "threshold": self._threshold, "known": list(self._known)}
        return pack_values({"worker": self._worker, **state})

    def _exchange(self) -> None:
        """Every now and then write down the own examples, and read those of others."""
        self._pages += 1
        if self._rhythm.is_write_due(self._pages):
            self.write_down()
        if self._rhythm.is_read_due(self._pages):
            self._read_others()

    def _read_others(self) -> None:
        self._rhythm.read(self._pages)
        entries = self._notebook.read_others(NOTES) if self._notebook else ()
        for worker in readable(entries, self._take_over, "anchors"):
            each = KNOWN_TARGETS // len(self._others_known or [worker])
            self._others_known = {name: known[-each:] for name, known in self._others_known.items()}

    def _take_over(self, content: bytes) -> str:
        """Put what another worker wrote in the place of what it wrote before; return who."""
        state = unpack_values(content)
        worker, known = str(state["worker"]), list(_read_known(state))
        if worker != self._worker:
            self._classifier.take_over(worker, state["classifier"])
            self._others_known[worker] = known
        return worker

    def _weigh(self, link: Link, page_score: float, born: Mapping[str, int]) -> Candidate:
        """Score a link by its page and its anchor; by its page alone when nothing is known of its anchor."""
        anchor, anchor_score = link.anchor[:MAX_ANCHOR_CHARACTERS], self._classifier.score(link.anchor)
        score, parts = page_score, {"page": page_score}
        carry: dict[str, Json] = {"anchor": anchor, **born}
        if anchor_score is not None:
            score = self._factor * page_score + (1 - self._factor) * anchor_score
            parts["anchor"] = carry["anchor_score"] = anchor_score
            if self._pseudo_labels and confidence(anchor_score) > self._threshold:
                self._add(anchor, anchor_score > UNDECIDED)
        return Candidate(url=link.url, score=self._batches.place(score, born), parts=parts, carry=carry)

    def _learn(self, carry: Carry, relevant: bool) -> None:
        """Make an example of the link that led to a page; with pseudo labels only until the first training."""
        anchor, anchor_score = carry.get("anchor"), carry.get("anchor_score")
        if isinstance(anchor_score, float):
            self._known.append((anchor_score, relevant))
        if anchor and isinstance(anchor, str) and not (self._pseudo_labels and self._classifier.is_trained):
            self._add(anchor, relevant)

    def _add(self, anchor: str, relevant: bool) -> None:
        self._classifier.add(anchor, relevant)
        self._new_examples += 1

    def _is_due(self, lease: Lease) -> bool:
        """Tell whether it is time to train: at the first chance, between batches, or after enough examples."""
        if self._batches.in_generations:
            before, self._generation = self._generation, max(self._generation, generation_of(lease.carry))
            return self._generation > before
        if self.batch_size:  # a batch begins below 0; its first link may be dead, and then nobody says so
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


def _read_known(state: Mapping[str, Any]) -> Iterator[Known]:
    return ((float(score), bool(relevant)) for score, relevant in state["known"][-KNOWN_TARGETS:])

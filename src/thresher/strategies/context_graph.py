"""Context graphs: Diligenti, Coetzee, Lawrence, Giles and Gori, VLDB 2000, as in SURVEY, figure 4.

Pages at each distance from a target have words of their own. A link waits in the queue of the distance that is
predicted for its page, and the nearest queue is served first, so a crawl can find its way over unrelated pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage
from thresher.strategies.aim import Aim
from thresher.strategies.best_first import BATCHES
from thresher.strategies.generations import fold, generation_of, next_generation
from thresher.strategies.layer_model import load_layers
from thresher.strategies.queues import queue_score

ORDERS = ("fifo", "likelihood")


class ContextGraph:
    """Follow links of pages that are few links away from the topic, by what was learned from earlier pages.

    Needs training: thresher train.

    Args:
        aim: The topic; its folder of trained models holds the layers.
        order: Inside a queue, ``fifo`` takes the oldest link first; ``likelihood`` the one whose page belongs most
            surely to its layer.
        batch: ``none`` follows the best link of all that wait. ``all`` reads the figure by its letter: links wait until
            all that were found before them are fetched.
    """

    merge = Merge.FIRST

    def __init__(self, aim: Aim, *, order: str = "fifo", batch: str = "none") -> None:
        if order not in ORDERS:
            raise ValueError(f"order must be {' or '.join(ORDERS)}, got {order!r}")
        if batch not in BATCHES:
            raise ValueError(f"batch must be {' or '.join(BATCHES)}, got {batch!r}")
        self._model = load_layers(aim.model, "context-graph")
        self._by_likelihood = order == "likelihood"
        self._in_generations = batch == "all"

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Nothing is known of the seeds, so they wait in the last queue."""
        N = self._model.N
        return (Candidate(url=url, score=queue_score(N + 1, N)) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Put all links into the queue of their page's layer."""
        k, likelihood = self._model.layer_of(page)
        score = queue_score(k, self._model.N, likelihood if self._by_likelihood else 0.0)
        carry = next_generation(lease) if self._in_generations else {}
        if self._in_generations:
            score = fold(generation_of(carry), score)
        parts = {"queue": float(k), "likelihood": likelihood}
        return (Candidate(url=link.url, score=score, parts=parts, carry=carry) for link in page.links)

"""Context graphs: Diligenti, Coetzee, Lawrence, Giles and Gori, VLDB 2000, as in SURVEY, figure 4.

Pages at each distance from a target have words of their own. A link waits in the queue of the distance that is
predicted for its page, and the nearest queue is served first, so a crawl can find its way over unrelated pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thresher.classify.base import Notebook
from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage
from thresher.strategies.aim import Aim
from thresher.strategies.batches import Batches
from thresher.strategies.layer_model import load_layers
from thresher.strategies.layering.relearn import Relearner
from thresher.strategies.queues import SEED_SCORE, queue_score

ORDERS = ("fifo", "likelihood")


class ContextGraph:
    """Follow links of pages that are few links away from the topic, by what was learned from earlier pages.

    Needs training: thresher train. A generation rides on its URLs. With `retrain_every`, the latest pages are saved
    with the crawl, a restart learns from them again, and workers learn from each other's.

    Args:
        aim: The topic; its folder of trained models holds the layers.
        order: Inside a queue, ``fifo`` takes the oldest link first; ``likelihood`` the one whose page belongs most
            surely to its layer.
        batch: ``none`` follows the best link of all that wait. ``all`` reads the figure by its letter: links wait until
            all that were found before them are fetched, and then go best first. With a number, links wait until the
            ready queue is empty, and then so many of the best move into it.
        seeds_last: Whether seeds wait in the last queue, as LAYERS has it: then the links of the first seed go before
            the second seed. In batches the seeds are the first ready queue either way, as in the figure.
        retrain_every: After so many new targets the layers are learned again, from the latest 3,000 pages of the crawl
            itself; 0 for never. Links that wait stay in their queues.
    """

    merge = Merge.FIRST

    def __init__(
        self,
        aim: Aim,
        *,
        order: str = "fifo",
        batch: str | int = "none",
        seeds_last: bool = False,
        retrain_every: int = 0,
    ) -> None:
        if order not in ORDERS:
            raise ValueError(f"order must be {' or '.join(ORDERS)}, got {order!r}")
        self._by_likelihood = order == "likelihood"
        self._batches = Batches(batch)
        self.batch_size = self._batches.size
        self._seeds_last = seeds_last
        self._relearner = Relearner(retrain_every)
        self._model = load_layers(aim.model, "context-graph")

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top, or in the last queue, since nothing is known of them."""
        score = queue_score(self._model.N + 1, self._model.N) if self._seeds_last else SEED_SCORE
        return (Candidate(url=url, score=score) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Put all links into the queue of their page's layer."""
        self._model = self._relearner.take_in(page, self._model, target=judgement.relevant)
        k, likelihood = self._model.layer_of(page)
        born = self._batches.born(lease)
        score = self._batches.place(queue_score(k, self._model.N, likelihood if self._by_likelihood else 0.0), born)
        parts = {"queue": float(k), "likelihood": likelihood}
        return (Candidate(url=link.url, score=score, parts=parts, carry=born) for link in page.links)

    def keep_in(self, notebook: Notebook) -> None:
        """Go on with what an earlier run had learned."""
        self._model = self._relearner.keep_in(notebook, self._model)

    def write_down(self) -> None:
        """Nothing to do: what was learned from was written down when it was learned."""

"""Context graphs: Diligenti, Coetzee, Lawrence, Giles and Gori, VLDB 2000, as in SURVEY, figure 4.

Pages at each distance from a target have typical words. A link waits in the queue of the distance that is predicted for
its page, and the nearest queue is served first, so a crawl can find its way over unrelated pages.
"""

from __future__ import annotations

from collections.abc import Iterator

from thresher.judges.base import StateStore
from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage
from thresher.strategies.base import BaseStrategy
from thresher.strategies.batches import Batches
from thresher.topics.profile import TopicProfile
from thresher_papers.strategies.layers.model import SEED_SCORE, load_layers, queue_score
from thresher_papers.strategies.layers.relearn import Relearner

ORDERS = ("fifo", "likelihood")


class ContextGraph(BaseStrategy):
    """Follow links of pages that are few links away from the topic, as predicted by a trained model.

    Needs training: thresher train. The generation is carried by the URLs. With `retrain_every`, the latest pages are
    saved with the crawl, a restart trains on them again, and workers train on each other's.

    Args:
        topic_profile: The topic; its folder of trained models holds the layers.
        order: Within a queue, ``fifo`` takes the oldest link first; ``likelihood`` the one whose page belongs most
            surely to its layer.
        batch: ``none`` follows the best waiting link. ``all`` takes the figure literally: links wait until all links
            found before them are fetched, and then go best first. With a number, links wait until the ready queue is
            empty, and then this many of the best move into it.
        seeds_last: Whether seeds wait in the last queue, as in LAYERS: then the links of the first seed go before
            the second seed. In batches the seeds are the first ready queue either way, as in the figure.
        retrain_every: After this many new targets the layers are trained again, on the latest 3,000 pages of the crawl
            itself; 0 for never. Waiting links stay in their queues.
    """

    merge = Merge.FIRST

    def __init__(
        self,
        topic_profile: TopicProfile,
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
        self._relearner = Relearner(retrain_every)
        self._model = load_layers(topic_profile.model, "context-graph")
        self.seed_score = queue_score(self._model.N + 1, self._model.N) if seeds_last else SEED_SCORE

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        self._model = self._relearner.add_page(page, self._model, target=judgement.relevant)
        k, likelihood = self._model.layer_of(page)
        strategy_data = self._batches.generation_data(lease)
        score = self._batches.place(
            queue_score(k, self._model.N, likelihood if self._by_likelihood else 0.0), strategy_data
        )
        breakdown = {"queue": float(k), "likelihood": likelihood}
        return (
            Candidate(url=link.url, score=score, breakdown=breakdown, strategy_data=strategy_data)
            for link in page.links
        )

    def load_state(self, state_store: StateStore) -> None:
        self._model = self._relearner.load_state(state_store, self._model)

    def save_state(self) -> None:
        """Do nothing: the training pages are saved whenever the model is trained."""

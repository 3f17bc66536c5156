"""LAYERS: Tsay, Liu, Lai and Shin, Design and evaluation of focused crawling system; names are the paper's.

A context graph with ordered queues: a link whose anchor has the words of the query goes to the first queue, and within
a queue links are ordered by the layer to which similar anchors led.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from thresher.records import Candidate, Judgement, Lease, Link, Merge, ParsedPage
from thresher.strategies.base import BaseStrategy
from thresher.topics.profile import TopicProfile
from thresher_papers.strategies.evidence.hot_word import HotWords
from thresher_papers.strategies.layers.model import REMEMBERED_ANCHORS, SEED_SCORE, layered_score, load_layers
from thresher_papers.strategies.layers.ranking import LayerRankedPages


class Layers(BaseStrategy):
    """Follow links by the layer of their page, by hot words in their anchors, and by where similar anchors led before.

    Needs training: thresher train. Nothing is learned while crawling, so restarts and all workers give equal scores.

    Args:
        topic_profile: The topic; its folder of trained models holds the layers.
        theta_h: A link whose anchor is more similar to the query than this goes to the first queue.
        seeds_last: Whether seeds wait at the end of the last queue, as in the paper: then the links of the first
            seed go before the second seed.
    """

    merge = Merge.FIRST

    def __init__(self, topic_profile: TopicProfile, *, theta_h: float = 0.2, seeds_last: bool = False) -> None:
        self._model = load_layers(topic_profile.model, "layers")
        self._hot = lru_cache(maxsize=REMEMBERED_ANCHORS)(HotWords(topic_profile.phrases).similarity)
        self._theta_h = theta_h
        N = self._model.N
        self.seed_score = layered_score(N + 1, N + 1, 0.0, N) if seeds_last else SEED_SCORE

    @staticmethod
    def ranked_pages(pages: Path, model: Path, *, without_opt_outs: bool = False) -> LayerRankedPages:
        """Open the pages of a crawl in the order of their probability of layer 0, by its trained model."""
        return LayerRankedPages(pages, load_layers(model, "layers"), without_opt_outs=without_opt_outs)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Choose the queue of each link, and its position in it."""
        page_layer, likelihood = self._model.layer_of(page)
        return (self._place(link, page_layer, likelihood) for link in page.links)

    def _place(self, link: Link, page_layer: int, likelihood: float) -> Candidate:
        hot = self._hot(link.anchor)
        k = 0 if hot > self._theta_h else page_layer
        i, sim = self._model.link_layer(link.anchor)
        score = layered_score(k, i, sim, self._model.N)
        breakdown = {
            "queue": float(k),
            "hot word": hot,
            "page likelihood": likelihood,
            "link layer": float(i),
            "sim": sim,
        }
        return Candidate(url=link.url, score=score, breakdown=breakdown)

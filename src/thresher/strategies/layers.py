"""LAYERS: Tsay, Liu, Lai and Shin, Design and evaluation of focused crawling system; names are the paper's.

A context graph whose queues are ordered: a link whose anchor holds the words of the query goes to the first queue, and
inside a queue links go by the layer to which anchors like theirs led.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from thresher.records import Candidate, Judgement, Lease, Link, Merge, ParsedPage
from thresher.strategies.aim import Aim
from thresher.strategies.evidence.hot_word import HotWords
from thresher.strategies.layer_model import REMEMBERED_ANCHORS, load_layers
from thresher.strategies.queues import SEED_SCORE, layered_score


class Layers:
    """Follow links by the layer of their page, by hot words in their anchors, and by where such anchors led before.

    Needs training: thresher train. Nothing is learned while crawling, so a restart and other workers score alike.

    Args:
        aim: The topic; its folder of trained models holds the layers.
        theta_h: A link whose anchor is more like the query than this goes to the first queue.
        seeds_last: Whether seeds wait at the end of the last queue, as the paper has it: then the links of the first
            seed go before the second seed.
    """

    merge = Merge.FIRST

    def __init__(self, aim: Aim, *, theta_h: float = 0.2, seeds_last: bool = False) -> None:
        self._model = load_layers(aim.model, "layers")
        self._hot = lru_cache(maxsize=REMEMBERED_ANCHORS)(HotWords(aim.phrases).similarity)
        self._theta_h = theta_h
        self._seeds_last = seeds_last

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top, or at the end of the last queue, since nothing is known of them."""
        N = self._model.N
        score = layered_score(N + 1, N + 1, 0.0, N) if self._seeds_last else SEED_SCORE
        return (Candidate(url=url, score=score) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Choose each link's queue, and its place in it."""
        page_layer, likelihood = self._model.layer_of(page)
        return (self._place(link, page_layer, likelihood) for link in page.links)

    def _place(self, link: Link, page_layer: int, likelihood: float) -> Candidate:
        hot = self._hot(link.anchor)
        k = 0 if hot > self._theta_h else page_layer
        i, sim = self._model.link_layer(link.anchor)
        score = layered_score(k, i, sim, self._model.N)
        parts = {"queue": float(k), "hot word": hot, "page likelihood": likelihood, "link layer": float(i), "sim": sim}
        return Candidate(url=link.url, score=score, parts=parts)

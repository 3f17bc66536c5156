"""Shark search: Hersovici et al., WWW7, 1998, as in SURVEY, figure 2; or as FCMRPS runs it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from thresher.records import Candidate, Judgement, Lease, Link, ParsedPage, ScoreBreakdown
from thresher.strategies.base import BaseStrategy
from thresher.strategies.depth_limit import fcmrps_depth, fish_depth
from thresher.topics.profile import TopicProfile
from thresher_papers.strategies.evidence.anchor import Similarity, anchor_relevance, context_relevance

FORMS = ("survey", "fcmrps")
W_PC, W_AT = 0.2, 0.8
"""The weights of page and anchor in FCMRPS 5.2.1."""


class Shark(BaseStrategy):
    """Follow links by the relevance of the pages above them and by the words in and around them.

    The inherited score and the remaining depth of a path are stored with its URL, so both survive restarts and are
    shared by workers.

    Args:
        topic_profile: The topic.
        form: ``survey`` passes scores on with a decay; ``fcmrps`` weighs page and anchor with 0.2 and 0.8.
        delta: Decay of the inherited score per link.
        beta: Weight of the anchor against the words around it.
        gamma: Weight of the inherited score against that of the words.
        D: A path may lead over D + 1 irrelevant pages in a row; in form ``fcmrps`` over D, as FCMRPS itself.
    """

    def __init__(
        self,
        topic_profile: TopicProfile,
        *,
        form: str = "survey",
        delta: float = 0.5,
        beta: float = 0.8,
        gamma: float = 0.5,
        D: int = 3,
    ) -> None:
        if form not in FORMS:
            raise ValueError(f"form must be {' or '.join(FORMS)}, got {form!r}")
        self._sim = topic_profile.similarity
        self._form = form
        self._delta = delta
        self._beta = beta
        self._gamma = gamma
        self._D = self.seed_depth = D

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Score every link; follow nothing from a page at the end of its path."""
        child_depth = fish_depth if self._form == "survey" else fcmrps_depth
        depth = child_depth(lease.depth_left, judgement.relevant, self._D)
        if depth is None:
            return
        sim = partial(self._sim, language=page.language)
        sim_page = sim(page.text)
        inherited_score = self._delta * (sim_page if judgement.relevant else _inherited(lease))
        survey = self._form == "survey"
        strategy_data = {"inherited": inherited_score} if survey else {}
        for link in page.links:
            score, breakdown = (
                self._survey(link, sim, sim_page, inherited_score) if survey else _fcmrps(link, sim, sim_page)
            )
            yield Candidate(
                url=link.url, score=score, breakdown=breakdown, strategy_data=strategy_data, depth_left=depth
            )

    def _survey(
        self, link: Link, sim: Similarity, sim_page: float, inherited_score: float
    ) -> tuple[float, ScoreBreakdown]:
        beta, gamma = self._beta, self._gamma
        anchor_score = sim(link.anchor)
        anchor_context_score = 1.0 if anchor_score > 0 else context_relevance(sim, link, R_PC=sim_page)
        neighborhood_score = beta * anchor_score + (1 - beta) * anchor_context_score
        potential_score = gamma * inherited_score + (1 - gamma) * neighborhood_score
        breakdown = {"inherited": inherited_score, "anchor": anchor_score, "context": anchor_context_score}
        return potential_score, breakdown


def _fcmrps(link: Link, sim: Similarity, R_PC: float) -> tuple[float, ScoreBreakdown]:
    R_AT = anchor_relevance(sim, link, R_PC=R_PC)
    return W_PC * R_PC + W_AT * R_AT, {"page": R_PC, "anchor": R_AT}


def _inherited(lease: Lease) -> float:
    """Return the score that the page itself inherited; 0 for a seed."""
    value = lease.strategy_data.get("inherited", 0.0)
    return float(value) if isinstance(value, int | float) else 0.0

"""From a likeness to a probability: 0.7 means that of ten such pages seven are about the topic.

Without labels a probability can only be as good as what was found on other topics: a logistic curve over the page's
height between an ordinary page (0) and a seed that is left out (1). Where scores lie far apart, the crawl falls into
two kinds of pages, and the curve turns earlier. The constants were chosen on dev topics of three webs.
"""

from __future__ import annotations

from math import exp, log

from thresher.classify.topic_model import TopicModel

STEEPNESS = 7.0
HALFWAY, HALFWAY_SPREAD, PER_LOG = 0.85, 0.1, 0.3
"""The height with probability one half, at which spread, and how much earlier it comes where that is e times wider."""
EARLIEST, LATEST = 0.4, 0.95


def probability(model: TopicModel, s: float) -> float:
    """Give the probability that a page with likeness `s` is about the topic, as people have bent it."""
    turns = HALFWAY - PER_LOG * log(model.spread / HALFWAY_SPREAD) if model.spread else HALFWAY
    steps = STEEPNESS * (model.height(s) - min(max(turns, EARLIEST), LATEST))
    return 1.0 / (1.0 + exp(-min(max(steps, -50.0), 50.0)))

"""A trained model small enough to compute by hand: N = 2, words for layers 0 and 1, anchors for all."""

from math import log

import numpy as np

from thresher_papers.judges.estimators.sections import SECTIONS
from thresher_papers.judges.persistence.scorer import PlainScorer
from thresher_papers.strategies.layers.model import LayerModel

SCORER = PlainScorer(
    labels=[0, 1],
    vocabulary={"solar": 0, "index": 1},
    sections=dict.fromkeys(SECTIONS, 1.0),
    idf=np.ones(2),
    gain=np.ones(2),
    unit_length=False,
    sublinear=False,
    starts=np.array([0, 1, 2]),
    columns=np.array([0, 1]),
    values=np.array([log(3), log(3)]),
    per_weight=np.log([0.25, 0.25]),
    intercept=np.log([0.5, 0.5]),
    by_length=False,
    temperature=1.0,
    probabilistic=True,
)
"""P(0 | solar) = P(1 | index) = 3/4; a page without either word has one half for both."""

MODEL = LayerModel(
    2, SCORER, 0.6, {"solar": [0.8, 0.1, 0.0, 0.0], "index": [0.0, 0.5, 0.2, 0.1], "tea": [0.0, 0.0, 0.0, 0.9]}
)

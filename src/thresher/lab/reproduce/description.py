"""The judge of FCMRPS's experiments, equation 9: the cosine of a page with a description of the topic.

The description is the topic's labels and the texts of a few of its pages. It only measures; no crawl knows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from thresher.text.tokens import count
from thresher.text.vectors import cosine

EXAMPLES = 5
"""Pages that make up the description."""
OTHERS = 10
"""Further pages of the topic that say how like the description a page must be to be called relevant."""


class Description:
    """What a topic is about, in words.

    Args:
        labels: Its labels in all languages.
        examples: Texts of pages about it.
        others: Texts of other pages about it.
    """

    def __init__(self, labels: Sequence[str], examples: Sequence[str], others: Sequence[str]) -> None:
        self._v_t: Mapping[str, float] = sum((Counter(count(text)) for text in (*labels, *examples)), Counter())
        self.threshold = median(map(self.likeness, others)) if others else 0.0
        """What half of the other pages exceed: from here on a page counts as relevant by its text."""

    def likeness(self, text: str) -> float:
        """Give R'_PC, the cosine of a page and the description."""
        return cosine(count(text), self._v_t)

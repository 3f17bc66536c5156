"""The words of a page by where they stand: a title says more than a paragraph."""

from __future__ import annotations

import numpy as np

from thresher.classify.rows import Terms
from thresher.records import ParsedPage
from thresher.text.tokens import count

TITLE, HEADINGS, LEAD = 4.0, 1.0, 4.0
"""How often a word counts once more when it stands there; every word of the text counts once."""
MOST_CHARACTERS = 50_000
"""What a page says beyond this does not change what it is about."""
LEAD_CHARACTERS = 500
"""How much of the text is its lead, besides the title."""


def term_weights(page: ParsedPage) -> Terms:
    """Weigh the terms of a page: ``ln(1 + n)``, n counting each occurrence by its place."""
    n: dict[str, float] = dict(count(page.text[:MOST_CHARACTERS]))
    places = [
        (page.title, TITLE),
        (" ; ".join(page.headings), HEADINGS),
        (page.text[: len(page.title) + LEAD_CHARACTERS], LEAD),  # the text begins with the title
    ]
    for text, times in places:
        for term, found in count(text).items():
            n[term] = n.get(term, 0.0) + times * found
    return Terms(list(n), np.log1p(np.fromiter(n.values(), dtype=np.float64, count=len(n))))

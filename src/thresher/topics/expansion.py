"""Expand a topic: more keywords, names in a second language, and words of other topics. Nothing is applied here.

A phrase that is the name of a bundled node gets the names and keywords of this node. Accepted seeds show which words
are typical of the topic, rejected pages which words are not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import log

from thresher.locale.translation import _
from thresher.text.surface_forms import written
from thresher.text.tokens import count, tokenize
from thresher.topics.taxonomy.bundled import bundled_nodes
from thresher.topics.topic import TopicDefinition

MAX_KEYWORDS = 12
MIN_SHARE = 0.5
"""Share of the accepted pages that a typical word occurs in."""


@dataclass(frozen=True, kw_only=True)
class TopicExpansion:
    """Suggestions for a topic.

    Args:
        reason: Where they come from.
        titles: The topic in languages that it has no phrase in.
        keywords: Further words and phrases of the topic.
        exclusions: Words of similar pages that are not about the topic; for the user, not for scores.
    """

    reason: str
    titles: dict[str, str] = field(default_factory=dict)
    keywords: Sequence[str] = ()
    exclusions: Sequence[str] = ()

    def apply(self, topic: TopicDefinition) -> TopicDefinition:
        """Return the topic with the titles and keywords."""
        keywords = list(dict.fromkeys([*topic.keywords, *self.keywords]))
        return replace(topic, title={**self.titles, **topic.title}, keywords=keywords)


Expander = Callable[[TopicDefinition], TopicExpansion | None]
"""Suggests an expansion of a topic; None when it has none. A language model can be one."""


def expand_by_taxonomy(topic: TopicDefinition) -> TopicExpansion | None:
    """Suggest names and keywords of the bundled node that has the name of the topic; None without such a node."""
    wanted = [frozenset(tokenize(phrase)) for phrase in topic.title.values()]
    for node in bundled_nodes():
        if any(terms and frozenset(tokenize(label)) == terms for terms in wanted for label in node.labels.values()):
            keywords = [word for words in node.keywords.values() for word in words if word not in topic.keywords]
            return TopicExpansion(
                reason=_("node {path} of the bundled taxonomy", path=node.path),
                titles={
                    code: label
                    for code, label in node.labels.items()
                    if code not in topic.title and label not in topic.title.values()
                },
                keywords=keywords,
            )
    return None


def expand_by_pages(
    topic: TopicDefinition, accepted: Sequence[str], others: Sequence[str], *, most: int = MAX_KEYWORDS
) -> TopicExpansion | None:
    """Suggest words that set texts about the topic apart from other texts; None without both.

    A word is suggested when at least half of the texts of one side have it, by the logarithm of the ratio of the two
    smoothed document frequencies.
    """
    if not accepted or not others:
        return None
    inside, outside = _document_frequency(accepted), _document_frequency(others)
    known = frozenset(term for text in (*topic.title.values(), *topic.keywords) for term in tokenize(text))
    keywords = _typical(inside, outside, len(accepted), len(others), most)
    exclusions = [term for term in _typical(outside, inside, len(others), len(accepted), most) if term not in inside]
    return TopicExpansion(
        reason=_("words of accepted and of other pages"),
        keywords=_surface(accepted, [term for term in keywords if term not in known]),
        exclusions=_surface(others, [term for term in exclusions if term not in known]),
    )


def _document_frequency(texts: Sequence[str]) -> Counter[str]:
    return Counter(term for text in texts for term in count(text) if len(term) > 1 and not term.isdigit())


def _typical(inside: Counter[str], outside: Counter[str], n: int, m: int, most: int) -> list[str]:
    weights = {
        term: log((df + 0.5) / (n + 1)) - log((outside[term] + 0.5) / (m + 1))
        for term, df in inside.items()
        if df >= max(2, MIN_SHARE * n)
    }
    ranked = sorted((weight, term) for term, weight in weights.items() if weight > 0)
    return [term for _, term in reversed(ranked[-most:])]


def _surface(texts: Sequence[str], terms: Sequence[str]) -> list[str]:
    """Return terms as the texts write them."""
    return list(dict.fromkeys(form for form, _ in written("\n".join(texts), list(terms))))

"""Which pages to ask a person about, so that each answer teaches most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A page that a person could be asked about, as the archive knows it.

    Args:
        relevance: As the judge has it.
        probability: Of being about the topic, where the judge can tell.
    """

    url: str
    relevance: float
    probability: float | None = None
    language: str = ""
    host: str = ""
    title: str = ""


def most_telling(pages: Sequence[Asked], count: int) -> list[tuple[str, str]]:
    """Choose the pages whose answers teach most; return their URLs, and why: ``likely``, ``unsure`` or ``spread``.

    Args:
        pages: Crawled pages that nobody has spoken about, without seeds: all of them, or some hundred that hold the
            best, the undecided and a random part.
    """
    best = sorted(pages, key=lambda page: -page.relevance)[: count // 2]
    taken = {page.url for page in best}
    rest = [page for page in pages if page.url not in taken]
    unsure = sorted(rest, key=lambda page: abs(page.relevance - 0.5))[: count - len(best)]
    return [(page.url, "likely") for page in best] + [(page.url, "unsure") for page in unsure]

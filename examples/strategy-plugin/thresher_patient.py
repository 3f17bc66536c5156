"""Patient: an example of a strategy plug-in, not from a paper."""

from collections.abc import Iterator, Sequence

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage
from thresher.topics.profile import TopicProfile


class Patient:
    """Follow a path on over irrelevant pages, with less patience after each of them.

    Args:
        topic: The topic.
        patience: What remains of a link's score for each irrelevant page in a row before it.
    """

    merge = Merge.MAX

    def __init__(self, topic: TopicProfile, *, patience: float = 0.5) -> None:
        if not 0 < patience <= 1:
            raise ValueError(f"patience must lie above 0 and be at most 1, got {patience}")
        self._sim = topic.similarity
        self._patience = patience

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Count the irrelevant pages in a row; of links with equal patience, the better anchor goes first."""
        before = lease.strategy_data.get("misses", 0)
        misses = 0 if judgement.relevant or not isinstance(before, int) else before + 1
        left = self._patience**misses
        for link in page.links:
            anchor = self._sim(link.anchor)
            breakdown = {"patience": left, "anchor": anchor}
            yield Candidate(
                url=link.url, score=left * (1 + anchor) / 2, breakdown=breakdown, strategy_data={"misses": misses}
            )

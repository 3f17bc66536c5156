"""The first sentences of an explanation."""

from thresher.operations.explain import Explanation, FrontierInfo
from thresher.records import Outcome
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PathHop
from thresher.urls.canonical import fingerprint

SEED, HUB, LEAF = "http://a.example/", "http://a.example/hub", "http://a.example/leaf"


def record(url, *, parent="", depth=0):
    return PageRecord(
        url=url,
        fingerprint=fingerprint(url),
        status=200,
        fetched_at=0.0,
        parent=fingerprint(parent) if parent else 0,
        depth=depth,
        outcome=Outcome.DONE,
        page=True,
        relevance=0.9,
        relevant=True,
    )


def explained(*, depth):
    """Explain a leaf that was found by the best link of a hub, which the seed links to."""
    records = [record(SEED), record(HUB, parent=SEED, depth=1), record(LEAF, parent=HUB, depth=depth)]
    path = [PathHop(record=each, anchor="a leaf", score=0.5) for each in records]
    return Explanation(url=LEAF, frontier_info=FrontierInfo(), path=path, history=[records[-1]], outside="")


def test_the_summary_counts_the_links_of_the_printed_path():
    assert explained(depth=2).summary.endswith(f"Found on {HUB} by the link “a leaf”, 2 links from the seed {SEED}.")


def test_the_summary_says_when_a_shorter_path_is_known():
    assert explained(depth=1).summary.endswith(f"2 links from the seed {SEED}. A shorter path has 1 link.")

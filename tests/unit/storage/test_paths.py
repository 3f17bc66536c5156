"""The path to a page is the shortest that is known, though its stored parent is the page with the best link."""

import pytest

from thresher.records import Outcome
from thresher.storage.page_store import FoundLink, PageRecord, PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import fingerprint

HOST = "http://a.example"


def record(name, *, parent="", depth=0, links=(), relevance=0.5, duplicate=False):
    url = f"{HOST}/{name}"
    return PageRecord(
        url=url,
        fingerprint=fingerprint(url),
        status=200,
        fetched_at=float(depth),
        outcome=Outcome.DONE,
        page=True,
        parent=fingerprint(f"{HOST}/{parent}") if parent else 0,
        depth=depth,
        relevance=relevance,
        duplicate_of=1 if duplicate else 0,
        links=[FoundLink(url=f"{HOST}/{each}", anchor=f"to {each}", score=0.5, parts={}) for each in links],
    )


@pytest.fixture
async def collection(tmp_path):
    """A leaf that the third page of a chain links to with the best score, and a hub of the seed too."""
    writer = PageStoreWriter(tmp_path / "w.db")
    await writer.append(
        [
            record("seed", links=["1", "hub"], relevance=0.9),
            record("1", parent="seed", depth=1, links=["2"], relevance=0.9),
            record("2", parent="1", depth=2, links=["3"], duplicate=True, relevance=0.8),
            record("3", parent="2", depth=3, links=["leaf"], relevance=0.7),
            record("hub", parent="seed", depth=1, links=["leaf"], relevance=0.2),
            record("leaf", parent="3", depth=2, links=["leaf"], relevance=0.7),
        ]
    )
    writer.close()
    with PageStoreReader(tmp_path) as reader:
        yield reader


def path_to(collection, name):
    return [hop.record.url.removeprefix(f"{HOST}/") for hop in collection.path(fingerprint(f"{HOST}/{name}"))]


async def test_the_shortest_path_is_found_though_another_link_had_a_better_score(collection):
    assert path_to(collection, "leaf") == ["seed", "hub", "leaf"]
    assert path_to(collection, "3") == ["seed", "1", "2", "3"]
    assert path_to(collection, "seed") == ["seed"]


async def test_the_rank_counts_pages_that_are_more_relevant_without_duplicates(collection):
    ranks = {
        name: collection.rank(collection.find(fingerprint(f"{HOST}/{name}")).relevance)
        for name in ("seed", "leaf", "hub")
    }
    assert ranks == {"seed": (1, 5), "leaf": (3, 5), "hub": (5, 5)}

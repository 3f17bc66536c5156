"""What a URL's classifier sees: tokens, and the labels of parents and siblings."""

from thresher_lab.peers import anthelion as module
from thresher_lab.peers.anthelion import (
    BAD_PARENT,
    BAD_SIBLING,
    GOOD_PARENT,
    GOOD_SIBLING,
    HASHES,
    Families,
    tokens_of,
    url_features,
)


def test_tokens_are_words_and_numbers_of_three_characters_and_more():
    assert tokens_of("http://host.example/News/2014-10/a1b2/item-2015?id=77&page=item") == [
        "news",
        "[NUMBER]",
        "item",
        "page",
    ]


def test_features_are_hashes_and_labels():
    found = url_features("http://host.example/news/item", [GOOD_PARENT]).tolist()
    assert len(found) == 3
    assert found[-1] == GOOD_PARENT
    assert all(0 <= each < HASHES for each in found[:-1])


def test_labels_come_from_all_parents_and_their_children():
    families = Families()
    families.add("good", True)
    families.add("bad", False)
    families.child(["good"], False)
    families.child(["bad", "unknown"], True)
    assert families.labels(["good"]) == [GOOD_PARENT, BAD_SIBLING]
    assert families.labels(["good", "bad"]) == [GOOD_PARENT, BAD_PARENT, GOOD_SIBLING, BAD_SIBLING]
    assert families.labels(["unknown"]) == []


def test_the_oldest_pages_are_forgotten(monkeypatch):
    monkeypatch.setattr(module, "MAX_PAGES", 1)
    families = Families()
    families.add("old", True)
    families.add("new", True)
    assert families.labels(["old"]) == []

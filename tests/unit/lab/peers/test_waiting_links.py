"""What waits is remembered by its first or by its best find, and no longer than there is room."""

from thresher.strategies.base import ScoreChange
from thresher_lab.peers.waiting_links import WaitingLinks


def test_the_first_find_stays():
    waiting = WaitingLinks()
    assert waiting.add_first("a", 0.2, "one")
    assert not waiting.add_first("a", 0.9, "two")
    assert (waiting["a"], waiting.score_of("a")) == ("one", 0.2)


def test_the_best_find_stays():
    waiting = WaitingLinks()
    assert waiting.add_best("a", 0.2, "one")
    assert waiting.add_best("a", 0.9, "two")
    assert not waiting.add_best("a", 0.5, "three")
    assert (waiting["a"], waiting.score_of("a")) == ("two", 0.9)


def test_what_is_done_does_not_wait_again():
    waiting = WaitingLinks()
    waiting.add_first("a", 0.2, "one")
    assert waiting.leave("a") == "one"
    assert waiting.is_done("a")
    assert not waiting.add_first("a", 0.2, "one")
    assert not waiting.add_best("a", 0.2, "one")
    assert "a" not in waiting


def test_what_was_chosen_is_remembered_until_its_page_comes():
    waiting = WaitingLinks()
    waiting.add_first("a", 0.2, 0)
    assert waiting.choose("a") == 0.2
    assert "a" not in waiting
    assert waiting.leave("a") == 0
    assert waiting.leave("a") is None


def test_the_oldest_are_forgotten():
    waiting = WaitingLinks(most_links=2)
    for url in "abc":
        waiting.add_first(url, 0.5, url)
    assert [url for url, _ in waiting.items()] == ["b", "c"]


def test_small_changes_are_not_worth_a_write():
    waiting = WaitingLinks()
    waiting.add_first("a", 0.2, "one")
    waiting.add_first("b", 0.2, "two")
    assert waiting.rescore({"a": 0.2005, "b": 0.4}) == {"b": ScoreChange(0.2, 0.4)}
    assert (waiting.score_of("a"), waiting.score_of("b")) == (0.2, 0.4)

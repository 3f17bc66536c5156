"""What an answer did to the queue."""

from thresher_ui.dashboard.screens import rank_changes


def queue(*urls):
    return [{"url": url, "score": 1.0 - number / 10} for number, url in enumerate(urls)]


def test_who_rose_and_who_fell():
    first, second, third = rank_changes(queue("a", "b", "c"), queue("c", "b", "a"))
    assert (first.url, first.now, first.was, first.rose) == ("c", 1, 3, 2)
    assert (second.url, second.rose) == ("b", 0)
    assert (third.url, third.rose) == ("a", -2)


def test_who_came_and_who_left():
    kept, came, left = rank_changes(queue("a", "b"), queue("b", "c"))
    assert (kept.url, kept.rose) == ("b", 1)
    assert (came.url, came.now, came.was, came.rose) == ("c", 2, None, 0)
    assert (left.url, left.now, left.was, left.rose) == ("a", None, 1, 0)


def test_an_empty_queue_has_no_moves():
    assert rank_changes([], []) == []

"""A script is asked for once, as long as its server lets it be kept."""

import pytest

from thresher.engine.browser.shelf import KEPT_SECONDS, MAX_SCRIPT_BYTES, Shelf

URL = "http://a.example/app.js"


@pytest.fixture
def now():
    return [0.0]


@pytest.fixture
def shelf(now):
    return Shelf(max_bytes=100, clock=lambda: now[0])


def test_a_script_is_there_for_the_next_page(shelf):
    shelf.put(URL, {"content-type": "text/javascript", "content-encoding": "gzip", "set-cookie": "a=b"}, b"code")
    script = shelf.get(URL)
    assert (script.body, script.headers) == (b"code", {"content-type": "text/javascript"})
    assert shelf.get("http://a.example/other.js") is None


def test_a_script_grows_old(shelf, now):
    shelf.put(URL, {}, b"code")
    now[0] = KEPT_SECONDS
    assert shelf.get(URL) is None


@pytest.mark.parametrize("asked", ["no-store", "private, max-age=60", "No-Cache"])
def test_a_script_that_must_not_be_kept_is_not(shelf, asked):
    shelf.put(URL, {"cache-control": asked}, b"code")
    assert shelf.get(URL) is None


def test_the_one_that_was_not_wanted_for_longest_makes_room(shelf):
    for name in "abc":
        shelf.put(name, {}, b"x" * 40)
        shelf.get("a")
    assert [bool(shelf.get(name)) for name in "abc"] == [True, False, True]


def test_a_script_that_comes_again_takes_no_more_room(shelf):
    for _ in range(10):
        shelf.put(URL, {}, b"x" * 60)
    shelf.put("b", {}, b"x" * 40)
    assert shelf.get(URL)
    assert shelf.get("b")


def test_a_very_large_script_is_not_kept():
    shelf = Shelf()
    shelf.put(URL, {}, bytes(MAX_SCRIPT_BYTES + 1))
    assert shelf.get(URL) is None

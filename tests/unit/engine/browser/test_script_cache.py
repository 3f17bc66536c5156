"""A script is asked for once, as long as its server lets it be kept."""

import pytest

from thresher.engine.browser.script_cache import KEPT_SECONDS, MAX_SCRIPT_BYTES, ScriptCache

URL = "http://a.example/app.js"


@pytest.fixture
def now():
    return [0.0]


@pytest.fixture
def script_cache(now):
    return ScriptCache(max_bytes=100, clock=lambda: now[0])


def test_a_script_is_there_for_the_next_page(script_cache):
    script_cache.put(URL, {"content-type": "text/javascript", "content-encoding": "gzip", "set-cookie": "a=b"}, b"code")
    script = script_cache.get(URL)
    assert (script.body, script.headers) == (b"code", {"content-type": "text/javascript"})
    assert script_cache.get("http://a.example/other.js") is None


def test_a_script_grows_old(script_cache, now):
    script_cache.put(URL, {}, b"code")
    now[0] = KEPT_SECONDS
    assert script_cache.get(URL) is None


@pytest.mark.parametrize("asked", ["no-store", "private, max-age=60", "No-Cache"])
def test_a_script_that_must_not_be_kept_is_not(script_cache, asked):
    script_cache.put(URL, {"cache-control": asked}, b"code")
    assert script_cache.get(URL) is None


def test_the_one_that_was_not_wanted_for_longest_makes_room(script_cache):
    for name in "abc":
        script_cache.put(name, {}, b"x" * 40)
        script_cache.get("a")
    assert [bool(script_cache.get(name)) for name in "abc"] == [True, False, True]


def test_a_script_that_comes_again_takes_no_more_room(script_cache):
    for _ in range(10):
        script_cache.put(URL, {}, b"x" * 60)
    script_cache.put("b", {}, b"x" * 40)
    assert script_cache.get(URL)
    assert script_cache.get("b")


def test_a_very_large_script_is_not_kept():
    script_cache = ScriptCache()
    script_cache.put(URL, {}, bytes(MAX_SCRIPT_BYTES + 1))
    assert script_cache.get(URL) is None

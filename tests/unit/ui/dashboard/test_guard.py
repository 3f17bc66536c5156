"""Who is answered, and who is not."""

from dataclasses import replace

import pytest

from thresher_ui.dashboard.guard import Guard, Request, names_of

PLACE = "127.0.0.1:8765"


@pytest.fixture
def guard():
    return Guard(names_of("127.0.0.1", 8765), cookie="thresher-8765")


@pytest.fixture
def by_browser(guard):
    """What a browser sends that has logged in."""
    return Request(method="GET", path="/", host=PLACE, site="none", cookie=f"x=1; thresher-8765={guard.token}")


@pytest.fixture
def by_program(guard):
    return Request(method="GET", path="/api/crawls", host=PLACE, authorization=f"Bearer {guard.token}")


def status(guard, request):
    refusal = guard.refuses(request)
    return refusal.status if refusal else 200


def test_tokens_are_long_and_drawn_anew():
    one, other = Guard(frozenset()), Guard(frozenset())
    assert len({one.token, one.key, other.token, other.key}) == 4
    assert min(map(len, (one.token, one.key))) >= 43  # 256 bits


def test_a_browser_that_logged_in_is_answered(guard, by_browser):
    assert status(guard, by_browser) == 200


def test_cookies_of_others_may_be_anything(guard, by_browser):
    others = 'a={"x": [1, 2]}; b; =; c="; thresher-8765=old'
    assert status(guard, replace(by_browser, cookie=f"{others}; thresher-8765={guard.token}")) == 200


def test_a_program_with_the_token_is_answered(guard, by_program):
    assert status(guard, by_program) == 200
    assert status(guard, replace(by_program, method="POST")) == 200


@pytest.mark.parametrize(
    "cookie", ["", "thresher-8765=", "thresher-8765=wrong", "other=1", "thresher-8765=\ud800", "]]]="]
)
def test_without_the_token_nobody_is(guard, by_browser, cookie):
    assert status(guard, replace(by_browser, cookie=cookie)) == 401


@pytest.mark.parametrize("path", ["/", "/static/thresher.css", "/api/openapi.json", "/login/", "/loginx", "//login"])
def test_only_the_login_asks_for_no_token(guard, by_browser, path):
    assert status(guard, replace(by_browser, path=path, cookie="")) == 401
    assert status(guard, replace(by_browser, path="/login", cookie="")) == 200


@pytest.mark.parametrize("host", ["", "evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:80", "\0"])
def test_another_name_is_refused_also_with_the_token(guard, by_browser, by_program, host):
    assert status(guard, replace(by_browser, host=host)) == 403
    assert status(guard, replace(by_program, host=host)) == 403
    assert status(guard, replace(by_browser, host=host, path="/login")) == 403


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765", "[::1]:8765"])
def test_every_name_of_this_machine_will_do(guard, by_browser, host):
    assert status(guard, replace(by_browser, host=host)) == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://localhost:1", "null", "127.0.0.1:8765", "file://", "\0"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_origin_is_refused(guard, by_browser, by_program, origin, method):
    assert status(guard, replace(by_browser, origin=origin, method=method)) == 403
    assert status(guard, replace(by_program, origin=origin, method=method)) == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "else"])
def test_what_another_site_began_is_refused(guard, by_browser, site):
    assert status(guard, replace(by_browser, site=site)) == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_what_changes_something_must_come_from_our_own_page(guard, by_browser, method):
    asked = replace(by_browser, method=method)
    assert status(guard, asked) == 403
    assert status(guard, replace(asked, origin=f"http://{PLACE}", site="same-origin")) == 200


def test_a_form_of_our_own_page_tells_no_origin(guard, by_browser):
    asked = replace(by_browser, method="POST", origin="null", site="same-origin")
    assert status(guard, asked) == 200


def test_the_key_works_once(guard):
    key = guard.key
    assert not guard.take_key("")
    assert not guard.take_key("wrong")
    assert guard.take_key(key)
    assert not guard.take_key(key)
    assert not guard.take_key("")


def test_names_are_those_of_the_address_and_of_the_user():
    assert names_of("127.0.0.1", 80) >= {"127.0.0.1:80", "127.0.0.1", "localhost"}
    assert names_of("192.168.1.5", 8765) == {"192.168.1.5:8765"}
    assert names_of("0.0.0.0", 8765, ["crawl.example"]) == {"crawl.example", "crawl.example:8765"}
    assert names_of("0.0.0.0", 8765, ["crawl.example:443"]) == {"crawl.example:443"}
    assert names_of("0.0.0.0", 8765) == frozenset()

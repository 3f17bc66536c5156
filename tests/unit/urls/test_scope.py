"""A scope says what lies outside a crawl, and why."""

import pytest

from thresher.urls.scope import UrlScope


def test_without_rules_every_page_is_inside():
    assert UrlScope().allows("http://any.example/page.html", 99) == ""


@pytest.mark.parametrize("host", ["facebook.com", "www.facebook.com", "a.b.facebook.com:8080"])
def test_a_star_pattern_denies_a_name_and_all_below_it(host):
    assert UrlScope(deny_hosts=("*.Facebook.com",)).allows(f"https://{host}/", 0) == "host denied"


def test_a_pattern_does_not_reach_names_that_only_look_alike():
    assert UrlScope(deny_hosts=("*.facebook.com", "twitter.*")).allows("http://notfacebook.com/", 0) == ""
    assert UrlScope(deny_hosts=("*.facebook.com",)).allows("http://facebook.com.example/", 0) == ""


def test_only_allowed_hosts_are_inside():
    scope = UrlScope(allow_hosts=("*.edu.cn", "example.org"))
    assert scope.allows("http://www.nankai.edu.cn/", 0) == ""
    assert scope.allows("http://example.org/", 0) == ""
    assert scope.allows("http://www.example.org/", 0) == "host not allowed"


def test_denial_wins_over_permission():
    scope = UrlScope(allow_hosts=("*.example.org",), deny_hosts=("old.example.org",))
    assert scope.allows("http://old.example.org/", 0) == "host denied"


def test_pages_too_many_links_away_are_outside():
    scope = UrlScope(max_depth=2)
    assert [scope.allows("http://a.example/", hops) for hops in (2, 3)] == ["", "too deep"]


@pytest.mark.parametrize("name", ["a.jpg", "b/C.PDF", "d.zip?e=f", "g.tar.gz", "style.css"])
def test_files_that_are_not_html_are_outside(name):
    assert UrlScope().allows(f"http://a.example/{name}", 0) == "not a page"


@pytest.mark.parametrize("name", ["", "a", "a.html", "a.php?file=b.jpg", "v1.2/", "a.jpg/view", "who.am.i"])
def test_other_names_are_inside(name):
    assert UrlScope().allows(f"http://zip.example.zip/{name}", 0) == ""


def test_other_schemes_are_outside():
    assert UrlScope().allows("ftp://a.example/", 0) == "not http"


def test_a_verdict_on_a_host_is_the_same_the_second_time():
    scope = UrlScope(deny_hosts=("a.example",))
    assert [scope.allows("http://a.example/", 0) for _ in range(2)] == ["host denied"] * 2
    assert scope == UrlScope(deny_hosts=("a.example",))


OWN = ["http://127.0.0.1:8000/", "http://localhost/", "http://10.1.2.3/", "http://[::1]:8080/"]


@pytest.mark.parametrize("url", OWN)
def test_own_hosts_can_be_asked_without_a_contact(url):
    assert UrlScope(own_hosts_only=True).allows(url, 1) == ""


@pytest.mark.parametrize("url", ["http://a.example/", "https://8.8.8.8/", "http://127.0.0.1.example/"])
def test_others_must_know_whom_to_write_to(url):
    assert UrlScope(own_hosts_only=True).allows(url, 1) == "politeness.contact is empty"


def test_behind_a_stand_in_the_usual_ports_of_every_host_are_own_and_no_others():
    scope = UrlScope(own_hosts_only=True, stand_in=True)
    assert scope.allows("http://a.example/", 1) == ""
    assert scope.allows("https://a.example/", 1) == ""
    assert scope.allows("http://a.example:8080/", 1) == "politeness.contact is empty"

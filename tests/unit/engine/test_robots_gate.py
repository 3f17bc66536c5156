"""A robots entry is a URL that no page can name, and knows what it is for."""

from thresher.engine.robots_gate import robots_entry, robots_url_of
from thresher.records import Lease
from thresher.urls.canonical import canonicalize, host_key

PLACE = "http://b.example:8080/rules?x=1"


def lease(url):
    return Lease(url=url, host="b.example", score=0.0, fence=1, until=0.0)


def test_a_robots_entry_costs_the_host_that_it_asks():
    assert host_key(robots_entry(PLACE, score=0.5, at=0.0).url) == "b.example:8080"


def test_a_robots_entry_knows_its_address_and_a_page_has_none():
    assert robots_url_of(lease(robots_entry(PLACE, score=0.5, at=0.0).url)) == PLACE
    assert robots_url_of(lease(PLACE)) == ""


def test_no_link_can_name_a_robots_entry():
    assert canonicalize(robots_entry(PLACE, score=0.5, at=0.0).url) == PLACE


def test_many_who_need_the_same_add_one_robots_entry_an_hour():
    first, second, later = (robots_entry(PLACE, score=0.5, at=at).url for at in (0.0, 3599.0, 3600.0))
    assert first == second != later

"""An errand is a URL that no page can name, and knows what it is for."""

from thresher.engine.errands import errand, place_of
from thresher.records import Lease
from thresher.urls.canonical import canonicalize
from thresher.urls.host import host_key

PLACE = "http://b.example:8080/rules?x=1"


def lease(url):
    return Lease(url=url, host="b.example", score=0.0, fence=1, until=0.0)


def test_an_errand_costs_the_host_that_it_asks():
    assert host_key(errand(PLACE, score=0.5, at=0.0).url) == "b.example:8080"


def test_an_errand_knows_its_address_and_a_page_has_none():
    assert place_of(lease(errand(PLACE, score=0.5, at=0.0).url)) == PLACE
    assert place_of(lease(PLACE)) == ""


def test_no_link_can_name_an_errand():
    assert canonicalize(errand(PLACE, score=0.5, at=0.0).url) == PLACE


def test_many_who_need_the_same_send_one_errand_an_hour():
    first, second, later = (errand(PLACE, score=0.5, at=at).url for at in (0.0, 3599.0, 3600.0))
    assert first == second != later

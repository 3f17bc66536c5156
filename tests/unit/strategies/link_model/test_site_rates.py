import numpy as np
import pytest

from thresher.strategies.link_model import site_rates as module
from thresher.strategies.link_model.site_rates import EVERYWHERE, KAPPA, SiteRates

URL = "http://a.example.org/x/y/page-12.html"


def test_a_url_is_at_its_domain_its_host_its_directory_and_its_template():
    places = SiteRates()
    domain, host, directory, template = places.of(URL)
    assert len({domain, host, directory, template}) == 4
    assert places.of("http://a.example.org/x/y/page-13.html") == (domain, host, directory, template)
    assert places.of("http://a.example.org/z/page-13.html")[:2] == (domain, host)
    assert places.of("http://b.example.org/x/y/page-12.html")[0] == domain
    assert places.of("http://b.example.org/x/y/page-12.html")[1] != host


def test_a_place_is_believed_as_far_as_it_was_tried():
    places = SiteRates()
    number = places.of(URL)[1]
    assert places.rates(np.array([number]), 0.2).tolist() == [pytest.approx(0.2)]
    for _ in range(3):
        places.count([number], 1.0)
    assert places.rates(np.array([number]), 0.2).tolist() == [pytest.approx((3 + KAPPA * 0.2) / (3 + KAPPA))]


def test_a_second_thought_changes_successes_and_not_tries():
    places = SiteRates()
    places.count([1], 1.0)
    places.count([1], -1.0, tries=0)
    assert places.rates(np.array([1]), 0.0).tolist() == [0.0]
    assert places.rate() == pytest.approx(0.5 / 6)


def test_when_all_numbers_are_given_out_a_place_counts_as_the_one_above_it(monkeypatch):
    monkeypatch.setattr(module, "MAX_PLACES", 3)
    domain, host, directory, template = SiteRates().of(URL)
    assert (directory, template) == (host, host)
    assert domain != host


def test_there_is_room_for_many_places():
    places = SiteRates()
    numbers = {places.path("a.org", f"html/{number}") for number in range(5000)}
    places.count(sorted(numbers), 1.0)
    assert len(numbers) == 5000


def test_a_link_whose_element_is_not_known_stands_anywhere():
    places = SiteRates()
    assert places.path("a.org", "") == places.path("b.org", "") == EVERYWHERE

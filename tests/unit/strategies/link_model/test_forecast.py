import pytest

from thresher.strategies.link_model.strategy import MIN_PAGES, coefficients, forecast


def test_there_is_no_forecast_of_a_young_crawl_or_an_empty_queue():
    assert forecast(pages=MIN_PAGES - 1, harvest=50.0, waiting=1000) is None
    assert forecast(pages=MIN_PAGES, harvest=50.0, waiting=0) is None
    assert forecast(pages=MIN_PAGES, harvest=50.0, waiting=1000) is not None


def test_the_more_was_found_of_late_the_more_may_wait():
    ends = [forecast(pages=500, harvest=harvest, waiting=100_000).most for harvest in (0.0, 1.0, 10.0, 100.0)]
    assert ends == sorted(set(ends))


@pytest.mark.parametrize("harvest", [-1.0, 0.0, 0.4, 30.0, 100.0])
@pytest.mark.parametrize("waiting", [1, 3, 50, 10_000_000])
def test_the_ends_are_in_order_and_never_say_that_nothing_is_left_while_urls_wait(harvest, waiting):
    ahead = forecast(pages=500, harvest=harvest, waiting=waiting)
    assert 0 <= ahead.least <= ahead.most <= waiting
    assert ahead.most >= 1


def test_each_end_has_two_coefficients():
    assert {end: len(values) for end, values in coefficients().items()} == {"least": 2, "most": 2}

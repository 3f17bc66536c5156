"""Pages give agents no orders, and the key of a model goes to its endpoint only."""

from tests.faults.agents import agent_results, keys_kept


def test_no_order_of_a_page_stands_outside_of_its_markers():
    results = agent_results()
    assert results.orders > 100
    assert results.outside == []


def test_the_key_of_a_model_goes_to_no_proxy_no_other_host_and_no_file():
    kept = keys_kept(["good", "says the key"])
    assert kept.held, kept

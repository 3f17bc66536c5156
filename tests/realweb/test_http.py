"""One crawl over servers that do with HTTP what servers on the open web do."""

import pytest

from tests.realweb import http_scenarios


@pytest.fixture(scope="module")
def crawled():
    with http_scenarios.serving() as server:
        result = http_scenarios.crawl_scenarios(server)
        outcomes = {name: outcome for name, _, outcome in http_scenarios.rows(result)}
        yield server, result, outcomes


@pytest.mark.parametrize("name", http_scenarios.SCENARIOS)
def test_a_scenario_ends_as_expected(crawled, name):
    _, _, outcomes = crawled
    expected = http_scenarios.SCENARIOS[name].expected
    assert outcomes[name].startswith(expected) if expected.startswith("failed: not a page") else outcomes[name] == expected


if __name__ == "__main__":
    with http_scenarios.serving() as server:
        for name, expected, outcome in http_scenarios.rows(http_scenarios.crawl_scenarios(server)):
            print(f"{name}\t{expected}\t{outcome}")

"""The dashboard answers nobody but its user, and nothing that is asked brings it down."""

import pytest

from tests.faults import dashboard
from tests.faults.dashboard_api import fuzz
from tests.faults.dashboard_server import NAME, served, small_crawl


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    with served(small_crawl(tmp_path_factory.mktemp("crawls") / NAME)) as running:
        yield running


def test_no_route_answers_a_stranger(asked):
    tally = dashboard.refused(asked)
    assert tally.open == []
    assert len(tally.routes) > 30


def test_a_token_in_an_address_opens_nothing(asked):
    assert dashboard.token_in_query(asked).open == []


def test_reading_every_route_changes_nothing(asked):
    assert dashboard.unchanged(asked).open == []


def test_every_answer_keeps_browsers_from_mischief(asked):
    assert dashboard.headers(asked).open == []


def test_requests_made_up_from_the_description_bring_no_server_error(asked):
    fuzzed = fuzz(asked, examples=5)
    assert fuzzed.printed == ""
    assert fuzzed.server_errors == 0
    assert fuzzed.statuses[200] > 20

"""A visit knows what it looks at again, and asks for it only if it has changed."""

import json

import pytest

from thresher.records import FetchedPage, Lease, Outcome
from thresher.refresh.revisit import Validators, conditional_headers, unchanged, validator, validators_of
from thresher.storage.page_store import UNCHANGED

VALIDATORS = Validators(text_hash=-(2**63), relevant=True, etag='W/"a"', last_modified="Sun, 15 Nov 2026 12:00:00 GMT")


def lease(strategy_data):
    return Lease(
        url="http://a.example/",
        host="a.example",
        score=0.5,
        fence=1,
        until=9.0,
        strategy_data=strategy_data,
        hops=3,
        parent=7,
    )


def test_validators_survive_the_queue():
    strategy_data = json.loads(json.dumps(VALIDATORS.added_to({"own": 1})))
    assert validators_of(lease(strategy_data)) == VALIDATORS
    assert strategy_data["own"] == 1


@pytest.mark.parametrize("strategy_data", [{}, {"visited": 1}, {"visited": ["x", True, "", ""]}, {"visited": ["1"]}])
def test_a_first_fetch_has_no_validators(strategy_data):
    assert validators_of(lease(strategy_data)) is None
    assert conditional_headers(lease(strategy_data)) == {}


def test_the_server_is_asked_for_news_only():
    headers = conditional_headers(lease(VALIDATORS.added_to({})))
    assert headers == {"If-None-Match": 'W/"a"', "If-Modified-Since": "Sun, 15 Nov 2026 12:00:00 GMT"}


def test_without_the_servers_words_nothing_is_asked():
    assert conditional_headers(lease(Validators(text_hash=1).added_to({}))) == {}


@pytest.mark.parametrize("value", ["a" * 513, "a\r\nHost: evil", "ä", "a\x00"])
def test_words_that_cannot_be_sent_back_are_forgotten(value):
    assert validator({"etag": value}, "etag") == ""


def test_a_visit_without_news_is_settled_as_what_the_page_was():
    answer = FetchedPage(url="http://a.example/", status=304, headers={"etag": '"b"'}, body=b"", fetched_at=5.0)
    record, settlement = unchanged(lease({}), answer, VALIDATORS)
    assert (record.page, record.reason, record.status, record.outcome) == (False, UNCHANGED, 304, Outcome.DONE)
    assert record.etag == '"b"'
    assert (record.last_modified, record.text_hash) == (VALIDATORS.last_modified, VALIDATORS.text_hash)
    assert (record.depth, record.parent) == (3, 7)
    assert (settlement.page, settlement.relevant, settlement.links, settlement.content) == (True, True, (), 0)

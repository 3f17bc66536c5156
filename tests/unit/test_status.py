"""One status of a crawl, described field by field, and what limits the speed: a code with a number, and words."""

import json
from dataclasses import fields

import pytest

from thresher.monitoring.failures import Cause, FailureGroup
from thresher.status import CrawlState, CrawlStatus, SpeedLimit, descriptions


@pytest.mark.parametrize(
    ("counts", "code", "number", "printed"),
    [
        ({"ready": 3}, "starting", 0, "starting"),
        ({"ready": 3, "pages": 1}, "busy", 2, "2 workers busy"),
        ({"delayed": 36, "pages": 1}, "delay", 36, "36 hosts waiting for their delay"),
        ({"delayed": 1, "pages": 1}, "delay", 1, "1 host waiting for its delay"),
        (
            {"ready": 3, "pages": 1, "pause_seconds": 41},
            "store_restarted",
            41,
            "paused after the store's restart, 41 s left",
        ),
        ({"leased": 1, "pages": 1}, "answers", 1, "waiting for 1 response"),
        ({"parked": 2, "pages": 1}, "parked", 2, "2 hosts parked or unreachable"),
        ({"pages": 1}, "nothing", 0, "the queue is empty"),
    ],
)
def test_the_speed_of_a_run_has_one_limit(counts, code, number, printed):
    limit = CrawlStatus(**counts, state=CrawlState.RUNNING, busy=2).limit
    assert limit == (code, number)
    assert limit[0].words(number) == printed


def test_a_run_that_does_nothing_says_why():
    assert CrawlStatus(ready=3, state=CrawlState.PAUSED, busy=2).limit == ("paused", 0)
    assert CrawlStatus(ready=3).limit == ("stopped", 0)
    limit, number = CrawlStatus(ready=3, pages=1, state=CrawlState.RUNNING).limit
    assert limit.words(number) == "no worker has joined yet"
    assert SpeedLimit.NO_ANSWER.words() == "the store does not answer"


def test_every_field_has_a_description():
    found = descriptions(CrawlStatus)
    names = {each.name for each in fields(CrawlStatus)} | {"provisional", "harvest_rate", "blocked", "limit", "counts"}
    assert not [name for name in names if not found.get(name)]


def test_the_plain_values_have_the_fields_and_what_follows_from_them():
    numbers = {"urls": 2, "failed": 2, "waiting": 0, "hosts": 1, "examples": ["a.example"], "retry_seconds": None}
    failures = [FailureGroup(reason="HTTP 404", cause=Cause.PAGE, **numbers)]
    reported = CrawlStatus(pages=200, relevant=50, delayed=1, state=CrawlState.RUNNING, failures=failures)
    values = json.loads(json.dumps(reported.as_json()))
    assert values.keys() >= {each.name for each in fields(CrawlStatus)}
    assert (values["counts"]["relevant"], values["harvest_rate"], values["provisional"]) == (50, 0.25, False)
    assert (values["limit"], values["state"]) == ({"code": "delay", "number": 1}, "running")
    assert (values["blocked"], values["failures"][0]["words"]) == ({}, "2 URLs on 1 host: HTTP 404 (a.example)")

"""What a spider asks for in settings and requests holds; what its callbacks give back is taken, whatever its kind."""

import pytest
from scrapy import Request, Spider

from thresher_scrapy.policies import RequestPolicy, handles, output_of

URL = "http://a.example/"


class Curious(Spider):
    name = "curious"
    handle_httpstatus_list = (404,)


@pytest.mark.parametrize(
    ("request_policy", "meta", "may"),
    [
        (RequestPolicy(), {}, True),
        (RequestPolicy(), {"dont_redirect": True, "dont_retry": True}, False),
        (RequestPolicy(follows_redirects=False, retries=False), {}, False),
    ],
)
def test_settings_and_requests_can_each_say_no(request_policy, meta, may):
    request = Request(URL, meta=meta)
    assert (request_policy.may_redirect(request), request_policy.may_retry(request)) == (may, may)


@pytest.mark.parametrize(
    ("meta", "seen"),
    [({}, [404]), ({"handle_httpstatus_list": [503]}, [503]), ({"handle_httpstatus_all": True}, [404, 503])],
)
def test_a_spider_sees_the_answers_that_it_asked_for(meta, seen):
    request = Request(URL, meta=meta)
    assert [status for status in (404, 503) if handles(request, Curious(), status)] == seen


async def some(*things):
    for thing in things:
        yield thing


async def one(thing):
    return thing


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (None, []),
        ({"a": 1}, [{"a": 1}]),
        ([1, 2], [1, 2]),
        (lambda: some(1, 2), [1, 2]),
        (lambda: one([1, 2]), [1, 2]),
        (lambda: one(None), []),
    ],
)
async def test_what_a_callback_gives_back_is_taken_whatever_its_kind(given, taken):
    assert [thing async for thing in output_of(given() if callable(given) else given)] == taken

"""Requests go to disk as plain JSON and come back as they were; what cannot be written so waits in memory."""

import json

import pytest
import scrapy
from scrapy.http import FormRequest

from thresher.frontier.base import plain_url
from thresher.records import Lease, RequestKind
from thresher_scrapy.requests import (
    KEY,
    MAX_BYTES,
    InMemoryRequests,
    durable_form,
    moved_request,
    own_meta,
    request_from,
    why_not_durable,
)

URL = "http://a.example/x"


class Spider(scrapy.Spider):
    name = "one"
    secret = "no method"

    def parse_page(self, response, number):
        return response, number

    def failed(self, failure):
        return failure


@pytest.fixture
def spider():
    return Spider()


def leased(url, form):
    return Lease(url=url, host="a.example", score=1.0, fence=1, until=0.0, strategy_data={KEY: form})


def test_a_request_comes_back_as_it_was(spider):
    request = scrapy.Request(
        URL,
        callback=spider.parse_page,
        errback=spider.failed,
        headers={"X-Name": ["one", "two"]},
        cookies={"a": "b"},
        meta={"page": 3, "thresher_lease": 7},
        cb_kwargs={"number": 5},
        flags=["f"],
    )
    assert why_not_durable(request, spider) == ""
    back = request_from(leased(URL, json.loads(json.dumps(durable_form(request)))), spider)
    assert (back.callback, back.errback) == (spider.parse_page, spider.failed)
    assert back.headers.getlist("X-Name") == [b"one", b"two"]
    assert (back.cookies, back.meta, back.cb_kwargs, back.flags) == ({"a": "b"}, {"page": 3}, {"number": 5}, ["f"])
    assert back.dont_filter


def test_a_plain_request_costs_nothing_beside_its_url(spider):
    assert durable_form(scrapy.Request(URL)) == {}
    assert request_from(leased(URL, {}), spider).callback is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"method": "POST"}, "a POST request"),
        ({"body": b"x"}, "a body"),
        ({"dont_filter": True}, "dont_filter"),
        ({"callback": lambda response: None}, "no method of the spider"),
        ({"errback": print}, "no method of the spider"),
        ({"meta": {"object": object()}}, "no plain JSON"),
        ({"cb_kwargs": {"number": (1, 2)}}, "no plain JSON"),
        ({"meta": {"text": "x" * MAX_BYTES}}, "more than"),
    ],
)
def test_what_cannot_be_kept_on_disk_is_reported(spider, changes, why):
    assert why in why_not_durable(scrapy.Request(URL, **changes), spider)


def test_a_request_of_another_class_waits_in_memory(spider):
    assert why_not_durable(FormRequest(URL), spider) == "a FormRequest"


def test_a_method_of_another_spider_is_none_of_ours(spider):
    assert "no method" in why_not_durable(scrapy.Request(URL, callback=Spider().parse_page), spider)


def test_start_requests_are_kept_though_scrapy_does_not_filter_them(spider):
    assert why_not_durable(scrapy.Request(URL, dont_filter=True), spider, is_start=True) == ""


@pytest.mark.parametrize("name", ["gone", "secret", "__class__"])
def test_only_a_method_of_the_spider_is_called_back(spider, name):
    with pytest.raises(LookupError, match="has no method"):
        request_from(leased(URL, {"callback": name}), spider)


def test_meta_that_is_handed_on_loses_what_middlewares_wrote():
    assert own_meta(scrapy.Request(URL, meta={"retry_times": 2, "thresher": {}, "mine": 1})) == {"mine": 1}


def test_a_ticket_stands_for_a_request_until_it_is_done():
    in_memory_requests = InMemoryRequests()
    request = FormRequest(f"{URL}#part", formdata={"a": "b"})
    candidate = in_memory_requests.issue(request)
    assert candidate.kind is RequestKind.TICKET
    assert plain_url(candidate.url) == URL
    lease = leased(candidate.url, {})
    assert in_memory_requests.request(lease).body == b"a=b"
    in_memory_requests.done(lease)
    assert in_memory_requests.request(lease) is None
    assert len(in_memory_requests) == 0


def test_the_same_request_has_a_ticket_for_every_time():
    in_memory_requests = InMemoryRequests()
    assert in_memory_requests.issue(scrapy.Request(URL)).url != in_memory_requests.issue(scrapy.Request(URL)).url


def test_a_form_is_not_sent_where_a_redirect_leads():
    form = FormRequest(URL, formdata={"a": "b"})
    moved = moved_request(form, "http://b.example/", 302)
    assert (moved.url, moved.method, moved.body) == ("http://b.example/", "GET", b"")
    assert moved_request(form, "http://b.example/", 307).body == b"a=b"

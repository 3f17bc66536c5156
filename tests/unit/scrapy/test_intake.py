"""What a spider yields is kept on disk, in memory, or left out; what is not kept on disk is logged."""

import logging

import pytest
import scrapy
from scrapy.utils.test import get_crawler

from thresher.records import Lease, RequestKind
from thresher.urls.canonical import fingerprint
from thresher.urls.scope import UrlScope
from thresher_scrapy.intake import RequestIntake
from thresher_scrapy.requests import KEY, InMemoryRequests

LEASE = Lease(url="http://a.example/", host="a.example", score=0.7, fence=1, until=0.0, hops=2)


class Spider(scrapy.Spider):
    name = "one"
    allowed_domains = ("a.example",)


@pytest.fixture
def crawler():
    return get_crawler(Spider)


@pytest.fixture
def intake(crawler):
    return RequestIntake(
        Spider(),
        scope=UrlScope(deny_hosts=("no.a.example",)),
        in_memory_requests=InMemoryRequests(),
        stats=crawler.stats,
        fingerprint_of=lambda request: request.url.encode() + request.body,
    )


def request(url="http://a.example/x", **more):
    return scrapy.Request(url, **more)


def test_a_request_knows_its_page_and_its_depth(intake):
    [wanted] = intake.take([request(meta={"link_text": " tea "})], LEASE)
    candidate = wanted.candidate
    assert (candidate.url, candidate.hops, candidate.score) == ("http://a.example/x", 3, 0.7)
    assert candidate.parent == fingerprint(LEASE.url)
    assert candidate.strategy_data == {KEY: {"meta": {"link_text": " tea "}}}
    assert (wanted.anchor, wanted.first) == ("tea", False)


def test_of_one_url_the_first_request_counts(intake):
    [wanted] = intake.take([request(cb_kwargs={"number": 1}), request(cb_kwargs={"number": 2})], LEASE)
    assert wanted.candidate.strategy_data == {KEY: {"cb_kwargs": {"number": 1}}}


@pytest.mark.parametrize(
    ("url", "why"),
    [("ftp://a.example/", "no http"), ("http://b.example/", "offsite"), ("http://no.a.example/", "no.a.example")],
)
def test_what_lies_outside_is_left_out_and_counted(intake, crawler, url, why):
    assert intake.take([request(url)], LEASE) == []
    assert any(why in name or why == "no.a.example" for name in crawler.stats.get_stats() if "left_out/" in name)
    assert crawler.stats.get_value("thresher/left_out") == 1


def test_hosts_below_an_allowed_domain_are_allowed(intake):
    assert len(intake.take([request("http://www.a.example:81/")], LEASE)) == 1


def test_start_requests_may_lie_anywhere_and_are_kept_on_disk(intake):
    [wanted] = intake.take([request("http://b.example/", dont_filter=True)], None, is_start=True)
    assert wanted.candidate.kind is not RequestKind.TICKET
    assert (wanted.candidate.hops, wanted.candidate.parent) == (0, 0)


def test_a_form_waits_in_memory_comes_first_and_that_is_logged_once(intake, crawler, caplog):
    with caplog.at_level(logging.WARNING):
        first, second = intake.take([request(method="POST", body=b"1"), request(method="POST", body=b"2")], LEASE)
    assert first.candidate.kind is RequestKind.TICKET
    assert first.first
    assert second.first
    assert len(caplog.records) == 1
    assert crawler.stats.get_value("thresher/in_memory/a POST request") == 2


def test_the_same_request_waits_in_memory_once_unless_it_is_not_filtered(intake):
    forms = [request(method="POST", body=b"1")] * 2
    assert len(intake.take(forms, LEASE)) == 1
    assert len(intake.take([request(dont_filter=True)] * 2, LEASE)) == 2

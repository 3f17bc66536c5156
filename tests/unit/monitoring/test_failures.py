"""Every reason is of a known kind that strangers cannot make up, has plain words, and is counted with its hosts."""

import asyncio
import errno

import pytest

from thresher.engine import watchdog
from thresher.engine.download.errors import AddressRefused, HeadTooLong, NoBody, NotHttp, TooSlow, failure_for
from thresher.frontier.base import LOST_WITH_FILES, Counts, FailureCount
from thresher.locale.translation import translated
from thresher.monitoring.failures import (
    FailureKind,
    block_kind_of,
    cause_of,
    failure_report,
    group_of,
    grouped,
    kind_of,
    plain_reason,
)
from thresher.parsing.isolated import Unparsable
from thresher.parsing.response import classify_response
from thresher.pipeline.outcomes import MAX_REDIRECTS, SOFT_404
from thresher.reasons.legacy import legacy_reason
from thresher.reasons.reason import MESSAGES, NO_REASON, Message, Reason, ReasonKind, describe
from thresher.records import BlockKind, FetchedPage
from thresher.traps.detector import MAX_VARIANTS, PartHistory


def answer(status, **headers):
    page = FetchedPage(url="http://a.example/", status=status, headers=headers, body=b"", fetched_at=0.0)
    return classify_response(page).reason


FAILURES = [
    AddressRefused("a private address"),
    HeadTooLong(),
    NoBody(),
    NotHttp(),
    TooSlow(),
    *(failure_for(code, os_error, "") for code in range(1, 101) for os_error in (0, errno.ECONNREFUSED)),
]
REASONS = {failure.reason for failure in FAILURES} | {
    Reason(kind) for kind in (ReasonKind.DNS, ReasonKind.COMPRESSION, ReasonKind.UNSUPPORTED_URL)
}


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_every_way_in_which_a_fetch_fails_has_a_kind(reason):
    assert kind_of(reason) is not FailureKind.OTHER


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("timeout", "timeout"),
        ("slower than others", "slow"),
        ("ResponseNeverReceived", "connection"),
        ("no such host", "no_such_host"),
        ("too many headers", "protocol"),
        (answer(404), "http_4xx"),
        (answer(429), "http_4xx"),
        (answer(503), "http_5xx"),
        (answer(301), "redirect"),
        (answer(301, location="/"), "redirect"),
        (f"more than {MAX_REDIRECTS} redirects", "redirect"),
        (f"{answer(302, location='/b')}: too deep", "redirect"),
        ("refreshes to http://b.example/: too deep", "redirect"),
        (answer(200, **{"content-type": "image/png"}), "not_a_page"),
        (SOFT_404, "soft_404"),
        ("robots.txt", "robots"),
        ("robots.txt cannot be read: http 503, 2 times in a row", "robots"),
        ("refused: a private address", "address"),
        ("a maze: pages like /x/* link only to URLs never seen before", "trap"),
        (PartHistory(pages=MAX_VARIANTS).exhausted_reason("/p#"), "trap"),
        (watchdog.REASON, "unparsable"),
        (str(Unparsable("more than 2 s", final=False)), "unparsable"),
        ("broke the line", "unparsable"),
        ("", "other"),
    ],
)
def test_a_reason_is_of_a_kind(reason, kind):
    assert kind_of(reason if isinstance(reason, Reason) else legacy_reason(reason)) == kind


def test_what_a_stranger_writes_never_becomes_a_kind():
    printed = answer(200, **{"content-type": 'x"} 1\nthresher_pages_total{crawl="y'})
    assert kind_of(printed) is FailureKind.NOT_A_PAGE
    assert kind_of(legacy_reason(f"\x1b[31m{printed}")) is FailureKind.OTHER


@pytest.mark.parametrize(
    ("reason", "words", "cause"),
    [
        ("http 404", "HTTP 404", "page"),
        ("no such host", "DNS lookup failed", "unreachable"),
        ("robots.txt cannot be read: no such host, 3 times in a row", "DNS lookup failed", "unreachable"),
        ("no page in 5 tries: timeout", "timeout", "unreachable"),
        ("robots.txt cannot be read: http 503", "robots.txt cannot be read (HTTP 503)", "busy"),
        ("robots.txt cannot be read: the answer broke off", "robots.txt cannot be read (the answer broke off)", None),
        ("http 429, asks for 3 hours of rest", "HTTP 429", "busy"),
        ("http 503, 5 times in a row", "HTTP 503", "busy"),
        ("robots.txt", "disallowed by robots.txt", "page"),
        ("not a page: image/png", "not a web page (image/png)", "page"),
        ("redirected to http://b.example/: too deep", "redirected to a URL outside the crawl", "page"),
        ("ResponseNeverReceived", "connection failed (ResponseNeverReceived)", "unreachable"),
        ("blocked by hand: spam", "blocked by the user", "rules"),
        ("gave 20 pages, none of them relevant", "page budget of the host used up", "rules"),
        ("", "reason not listed", "page"),
    ],
)
def test_a_reason_has_plain_words_and_a_cause(reason, words, cause):
    assert plain_reason(legacy_reason(reason)) == words
    assert cause_of(legacy_reason(reason)) == (cause or "unreachable")


def parked(host, reason, urls, retry_seconds=None):
    return FailureCount(host=host, reason=legacy_reason(reason), urls=urls, waiting=True, retry_seconds=retry_seconds)


def test_failures_are_grouped_by_their_words_with_hosts_and_counts():
    hosts = "dcba"
    counts = [FailureCount(host=f"{host}.example", reason=legacy_reason("no such host"), urls=3) for host in hosts]
    counts += [
        FailureCount(host="a.example", reason=legacy_reason("http 404"), urls=1),
        parked("e.example", "gave 20 pages, its budget", 99),
    ]
    report = grouped(counts)
    assert report.lines() == [
        "12 URLs on 4 hosts: DNS lookup failed (a.example, b.example, c.example, …)",
        "1 URL on 1 host: HTTP 404 (a.example)",
    ]
    assert [group["urls"] for group in report.as_json()] == [12, 1, 99]


def test_what_remains_is_reported_in_one_sentence():
    assert grouped([]).remaining() == grouped([]).advice() == ""
    one = grouped([parked("a.example", "robots.txt cannot be read: no such host", 1, 599.5)])
    assert one.remaining() == "1 URL remains on 1 unreachable host (DNS lookup failed)"
    assert one.advice() == "Re-run in 10 min to retry."
    both = grouped(
        [parked("a.example", "http 429, asks for 2 hours of rest", 5, 0.2), parked("b.example", "blocked by hand", 2)]
    )
    assert both.remaining() == ("7 URLs remain: 5 on 1 busy host (HTTP 429), 2 on 1 parked host (blocked by the user)")
    assert both.advice() == "Re-run to retry."
    assert "until released" in grouped([parked("b.example", "blocked by hand", 2)]).advice()


def test_failures_are_reported_in_chinese_too():
    counts = [parked("a.example", "http 429, asks for 2 hours of rest", 5, 600.0), parked("b.example", "robots.txt", 2)]
    report = grouped(counts)
    assert [translated(line, "zh") for line in report.lines()] == [
        "5 个网址（1 个主机）：HTTP 429（a.example），10 分钟后重试",
        "2 个网址（1 个主机）：robots.txt 不允许（b.example）",
    ]
    remaining = report.remaining().in_language("zh")
    assert (
        remaining
        == "还剩 7 个网址：5 个在 1 个繁忙的主机上（HTTP 429），2 个在 1 个已搁置的主机上（robots.txt 不允许）"
    )
    assert translated(report.advice(), "zh") == "10 分钟后再次运行即可重试。"


def test_failures_without_a_listed_reason_are_counted_as_such():
    class Old:
        async def counts(self):
            return Counts(failed=5)

        async def failures(self):
            return [FailureCount(host="a.example", reason=legacy_reason("timeout"), urls=2)]

    report = asyncio.run(failure_report(Old()))
    assert report.lines() == ["3 URLs: reason not listed", "2 URLs on 1 host: timeout (a.example)"]


def test_urls_that_were_lost_come_first_and_are_not_taken_for_failed_ones():
    class Lossy:
        async def counts(self):
            return Counts(failed=9)

        async def failures(self):
            return [FailureCount("", LOST_WITH_FILES, 2), FailureCount("a.example", legacy_reason("timeout"), 5)]

    report = asyncio.run(failure_report(Lossy()))
    assert [group.urls for group in report.groups] == [2, 5, 4]
    assert report.lines(1) == [f"2 URLs: {LOST_WITH_FILES}"]


def test_block_pages_are_counted_by_kind_and_their_hosts_are_called_blocking():
    report = grouped(
        [
            FailureCount(host="a.example", reason=legacy_reason("blocked: login wall"), urls=2),
            FailureCount(host="b.example", reason=legacy_reason("blocked: login wall"), urls=1),
            FailureCount(host="b.example", reason=legacy_reason("blocked: challenge page"), urls=4),
            parked("c.example", "blocked: challenge page, 5 times in a row", 7, 60.0),
        ]
    )
    assert report.blocked == {"challenge": 4, "login": 3}
    assert report.remaining() == "7 URLs remain on 1 blocking host (blocked: challenge page, several in a row)"
    assert kind_of(legacy_reason("blocked: login wall")) is FailureKind.BLOCKED
    assert kind_of(legacy_reason("opted out: noai")) is FailureKind.OPTED_OUT


AROUND = (ReasonKind.NO_PAGE, ReasonKind.REPEATED, ReasonKind.ROBOTS_UNREADABLE, ReasonKind.RETRY_AFTER)
DETAILED = {*AROUND, ReasonKind.BLOCK_PAGE, ReasonKind.HTTP, ReasonKind.NONE}
SAMPLES = [
    NO_REASON,
    *(Reason.of(kind, 503, "a", "b") for kind in ReasonKind if kind not in DETAILED),
    *(Reason.of(ReasonKind.HTTP, status) for status in (204, 301, 404, 429, 500)),
    *(kind.reason for kind in BlockKind),
]
SAMPLES += [Reason.around(kind, 5, inner) for kind in AROUND for inner in SAMPLES]


def facts():
    """Return everything that is counted or decided by reasons."""
    counts = [FailureCount(f"h{n}.example", each, n + 1, n % 2 == 1, 5.0) for n, each in enumerate(SAMPLES)]
    report = grouped(counts)
    groups = {(group.cause, group.urls, group.failed, group.waiting, group.hosts) for group in report.groups}
    decided = [(kind_of(each), cause_of(each), block_kind_of(each), group_of(each)) for each in SAMPLES]
    return groups, decided, report.blocked, report.has_silent_hosts, report.advice()


def test_rewording_every_message_changes_nothing_that_is_counted_or_decided(monkeypatch):
    before = facts()
    words = {kind: Message(f"en {number}", f"zh {number}", "short", "short") for number, kind in enumerate(MESSAGES)}
    monkeypatch.setattr("thresher.reasons.reason.MESSAGES", words)
    assert describe(Reason(ReasonKind.TIMEOUT)).startswith("en ")
    assert facts() == before


def test_reasons_that_mean_the_same_have_the_same_message_and_others_do_not():
    own_words = {ReasonKind.SPIDER, ReasonKind.PRIVATE_ADDRESS}  # of another kind with the same details
    stand_ins = {group_of(each) for each in SAMPLES if each.inner.kind not in own_words}
    assert len({plain_reason(each) for each in stand_ins}) == len(stand_ins)

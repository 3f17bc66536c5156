"""A reason is a kind and details; its message is made in one place, in two languages."""

import pytest

from thresher.reasons.reason import MESSAGES, NO_REASON, Reason, ReasonKind, describe
from thresher.records import BlockKind

HTTP_503 = Reason.of(ReasonKind.HTTP, 503)
CHALLENGE = Reason.of(ReasonKind.BLOCK_PAGE, "challenge")


@pytest.mark.parametrize(
    ("reason", "message", "short"),
    [
        (NO_REASON, "", ""),
        (Reason(ReasonKind.TIMEOUT), "timeout", "timeout"),
        (HTTP_503, "http 503", "HTTP 503"),
        (Reason.around(ReasonKind.REPEATED, 5, HTTP_503), "http 503, 5 times in a row", "HTTP 503, several in a row"),
        (Reason.around(ReasonKind.RETRY_AFTER, 10_800, HTTP_503), "http 503, asks for 3 hours of rest", None),
        (Reason.around(ReasonKind.NO_PAGE, 5, Reason(ReasonKind.TIMEOUT)), "no page in 5 tries: timeout", None),
        (
            Reason.around(ReasonKind.ROBOTS_UNREADABLE, 1, HTTP_503),
            "robots.txt cannot be read: http 503",
            "robots.txt cannot be read (HTTP 503)",
        ),
        (
            Reason.around(ReasonKind.ROBOTS_UNREADABLE, 2, HTTP_503),
            "robots.txt cannot be read: http 503, 2 times in a row",
            "robots.txt cannot be read (HTTP 503)",
        ),
        (CHALLENGE, "blocked: challenge page", "blocked: challenge page"),
        (
            Reason.of(ReasonKind.BLOCK_PAGE, "login", "a password field"),
            "blocked: login wall (a password field)",
            "blocked: login wall",
        ),
        (Reason.of(ReasonKind.LOW_HARVEST, 20, 0), "gave 20 pages, none of them relevant", None),
        (
            Reason.of(ReasonKind.REDIRECT, "http://b.example/", "too deep"),
            "redirected to http://b.example/: too deep",
            None,
        ),
        (Reason.of(ReasonKind.TRUNCATED, "has expired"), "truncated, its certificate has expired", "truncated"),
        (Reason.of(ReasonKind.OTHER, "{0}\tand {more}"), "{0} and {more}", None),
        (Reason.of(ReasonKind.SITEMAP, 1, 2, 0, 0, "cut"), "sitemap: 1 of 2 pages, 0 of 0 sitemaps; cut", None),
    ],
)
def test_the_message_of_a_reason(reason, message, short):
    assert describe(reason) == str(reason) == message
    assert short is None or describe(reason, short=True) == short
    assert bool(reason) == bool(message)


@pytest.mark.parametrize("kind", ReasonKind)
def test_every_kind_has_messages_in_both_languages_with_the_same_fields(kind):
    message = MESSAGES[kind]
    assert bool(message.en) == bool(message.zh) == bool(kind)
    for field in ("{0}", "{1}", "{2}", "{3}"):
        assert (field in message.en) == (field in message.zh)
        assert (field in message.short_en) == (field in message.short_zh)


def test_a_message_in_chinese_leaves_the_details_as_they_are():
    assert describe(Reason.around(ReasonKind.REPEATED, 5, CHALLENGE), "zh") == "被拦截：人机验证页，连续 5 次"
    assert describe(Reason.around(ReasonKind.RETRY_AFTER, 10_800, HTTP_503), "zh") == "HTTP 503，要求暂停 3 小时"


def test_an_encoded_reason_is_decoded():
    inner = Reason.of(ReasonKind.BLOCK_PAGE, "login", "a password field")
    for reason in (NO_REASON, HTTP_503, inner, Reason.around(ReasonKind.REPEATED, 5, inner)):
        assert Reason.decoded(reason.encoded) == reason
    assert Reason.decoded("http 503") is None


def test_a_reason_around_another_one_has_its_number():
    reason = Reason.around(ReasonKind.NO_PAGE, 5, HTTP_503)
    assert (reason.inner, reason.number) == (HTTP_503, "5")
    assert HTTP_503.inner is HTTP_503


@pytest.mark.parametrize("kind", BlockKind)
def test_every_kind_of_block_page_has_a_name(kind):
    assert kind.value not in describe(Reason.of(ReasonKind.BLOCK_PAGE, kind), "zh")

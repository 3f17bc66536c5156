"""What versions up to 0.2.0 stored as English text becomes a reason with the same message."""

import sqlite3
from contextlib import closing

import pytest

from thresher.reasons.legacy import add_functions, legacy_reason, stored_in, stored_reason
from thresher.reasons.reason import MESSAGES, NO_REASON, Reason, ReasonKind, describe

TEXTS = {
    "timeout": ReasonKind.TIMEOUT,
    "http 404": ReasonKind.HTTP,
    "http 302 without a usable address": ReasonKind.BAD_REDIRECT,
    "ResponseNeverReceived": ReasonKind.EXCEPTION,
    "its certificate has expired; network.tls: record accepts it": ReasonKind.CERTIFICATE,
    "truncated, its certificate has expired": ReasonKind.TRUNCATED,
    "through a browser": ReasonKind.RENDERED,
    "redirected to http://b.example/": ReasonKind.REDIRECT,
    "redirected to http://b.example/: host not allowed": ReasonKind.REDIRECT,
    "refreshes to http://b.example/: too deep": ReasonKind.REFRESH,
    "more than 10 redirects": ReasonKind.TOO_MANY_REDIRECTS,
    "not a page: image/png": ReasonKind.NOT_A_PAGE,
    "blocked: challenge page": ReasonKind.BLOCK_PAGE,
    "blocked: login wall (a field (password))": ReasonKind.BLOCK_PAGE,
    "blocked: consent wall, 5 times in a row": ReasonKind.REPEATED,
    "http 503, 6 times in a row": ReasonKind.REPEATED,
    "http 429, asks for 3 hours of rest": ReasonKind.RETRY_AFTER,
    "http 429, asks for 3 days of rest": ReasonKind.RETRY_AFTER,
    "no page in 5 tries: no such host": ReasonKind.NO_PAGE,
    "opted out: ai-train, noai": ReasonKind.OPTED_OUT,
    "robots.txt": ReasonKind.ROBOTS,
    "robots.txt cannot be read: http 503, 2 times in a row": ReasonKind.ROBOTS_UNREADABLE,
    "robots.txt cannot be read: the answer broke off": ReasonKind.ROBOTS_UNREADABLE,
    "robots.txt is on b.example, which is asked in its turn": ReasonKind.ROBOTS_ELSEWHERE,
    "asks for a delay of 90.5 s": ReasonKind.CRAWL_DELAY,
    "refused: a private address": ReasonKind.PRIVATE_ADDRESS,
    "refused: port 25": ReasonKind.REFUSED_ADDRESS,
    "a maze: pages like /x/* link only to URLs never seen before": ReasonKind.MAZE,
    "16 of 20 pages like /p# brought nothing new": ReasonKind.NOTHING_NEW,
    "200 pages like /p#, 0 of them relevant": ReasonKind.VARIANTS,
    "facets: 20 pages like /shop that combine the filters a&b": ReasonKind.FACETS,
    "out of scope: too deep": ReasonKind.SCOPE,
    "cannot be parsed: it stopped a worker": ReasonKind.UNPARSABLE,
    "lost with its worker 5 times": ReasonKind.WORKER_LOST,
    "its lease expired 20 times before a request was reported": ReasonKind.LEASE_EXPIRED,
    "blocked by hand: spam": ReasonKind.BLOCKED_BY_USER,
    "gave 20 pages, its budget": ReasonKind.BUDGET,
    "gave 20 pages, none of them relevant": ReasonKind.LOW_HARVEST,
    "gave 20 pages, 3 of them relevant": ReasonKind.LOW_HARVEST,
    "sitemap: 1 of 2 pages, 0 of 0 sitemaps; cut": ReasonKind.SITEMAP,
    "feed: 3 of 4 entries": ReasonKind.FEED,
    "unchanged": ReasonKind.UNCHANGED,
    "the callback raised ValueError: no\nprice": ReasonKind.SPIDER,
    "something else: 7": ReasonKind.OTHER,
    "": ReasonKind.NONE,
}


@pytest.mark.parametrize(("text", "kind"), TEXTS.items())
def test_a_text_becomes_a_reason_with_the_same_message(text, kind):
    reason = legacy_reason(text)
    assert (reason.kind, describe(reason)) == (kind, text)


@pytest.mark.parametrize("kind", ReasonKind)
def test_the_message_of_a_kind_without_details_is_read_back(kind):
    if "{" not in MESSAGES[kind].en and kind is not ReasonKind.PROCESSING:
        assert legacy_reason(MESSAGES[kind].en) == Reason(kind)


def test_a_text_of_either_version_is_read():
    assert stored_reason("http 404") == stored_reason("http\t404") == Reason.of(ReasonKind.HTTP, 404)
    assert stored_reason("broke the line") == Reason(ReasonKind.PROCESSING)
    assert stored_in("http", "404") == Reason.of(ReasonKind.HTTP, 404)
    assert stored_in("", "") == NO_REASON
    assert stored_in("of a damaged file", "x") == Reason.of(ReasonKind.OTHER, "x")


def test_a_database_converts_texts():
    with closing(sqlite3.connect(":memory:")) as db:
        add_functions(db)
        found = db.execute("SELECT legacy_kind(?1), legacy_detail(?1), legacy_kind(NULL)", ["http 404"]).fetchone()
    assert found == ("http", "404", "")

"""What strangers write as text: charsets, strings that make patterns slow, addresses."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.faults import charsets, patterns, url_cases
from tests.faults.table import Outcome
from thresher.parsing.html import parse
from thresher.urls.canonical import canonicalize, fingerprint, host_key, registered_domain
from thresher.urls.tokens import url_tokens


@dataclass
class Titles:
    """How many titles were read right, and which kinds of lie were believed."""

    pages: int = 0
    wrong: Counter[str] = field(default_factory=Counter)

    @property
    def right(self) -> int:
        """How many were read as they were written."""
        return self.pages - self.wrong.total()


def titles(number: int) -> Titles:
    """Read pages that lie about their charset."""
    found = Titles()
    for case in charsets.pages(number):
        found.pages += 1
        if parse("http://a.example/", case.body, case.content_type).title != case.title:
            found.wrong[case.kind] += 1
    return found


@dataclass
class Patterns:
    """How long the slowest pattern took, and which were more than linear."""

    number: int = 0
    longest_seconds: float = 0.0
    slowest: str = ""
    slow: list[str] = field(default_factory=list)


LAB = ("thresher_lab", "thresher_lab.cli.lab")
"""Reads the user's own files, once, and no page of a running crawl."""


def regular_expressions(*, tries: int, large: int, most_seconds: float) -> Patterns:
    """Time every pattern of a crawl on hostile text."""
    found = Patterns()
    for use in [*patterns.uses(), *patterns.of_the_user()]:
        if use.place.startswith(LAB):
            continue
        taken, text = patterns.slow_ones(use, tries=tries, small=8_000, large=large, most_seconds=most_seconds)
        found.number += 1
        if taken > found.longest_seconds:
            found.longest_seconds, found.slowest = taken, use.place
        if text:
            found.slow.append(f"{use.place}.{use.method}: {text}")
    return found


_PIECES = [
    "http://", "https://", "HTTP:", "//", "/", "\\", ".", "..", "%2e", "?", "#", "&", "=", ";", ":", "@", "%", "%25",
    "%00", "%0d%0a", "a", "B", "example", ".com", "例", "ß", "。", "\u00ad", "\u200d", "\u202e", "xn--", "xn--fsqu00a",
    "[", "]", "[::1]", "::ffff:", "0x7f", "0177", "127.0.0.1", "2130706433", ":80", ":443", ":0", ":65536", " ", "\t",
    "\n", "\r", "\0", "\x7f", "\ud800", "\U0010ffff", "sid=a1b2c3d4", "jsessionid=1", "utm_x=1",
    "(S(abcdefghijklmnop))", "user:pw@", "javascript:", "data:", "~", "'", '"', "<", ">", "|", "^", "`", "{", "}", "+",
    "a" * 300,
]  # fmt: skip
_ADDRESSES = st.one_of(
    st.lists(st.sampled_from(_PIECES), max_size=14).map("".join),
    st.lists(st.sampled_from(_PIECES), max_size=10).map(lambda pieces: "http://a.example" + "".join(pieces)),
    st.text(max_size=60),
    st.text(max_size=40).map("https://".__add__),
)
_BASES = st.one_of(st.none(), st.sampled_from([url_cases.BASE, "https://[::1]:8443/a;b/?c"]), _ADDRESSES)


@dataclass
class Addresses:
    """How many addresses were tried, and what went wrong with which."""

    examples: int = 0
    cases: int = 0
    failures: list[str] = field(default_factory=list)


def addresses(examples: int, drawn: int = 0) -> Addresses:
    """Canonicalise address-like text, and the cases of the standard.

    Args:
        examples: How many hypothesis makes, which looks for the smallest that fails.
        drawn: How many more are drawn at random from the same pieces, which takes less time for each.
    """
    found = Addresses()

    @settings(
        max_examples=examples, database=None, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(_ADDRESSES, _BASES)
    def torture(text: str, base: str | None) -> None:
        found.examples += 1
        check_address(text, base)

    try:
        torture()
    except Exception as error:
        notes = " ".join(getattr(error, "__notes__", []))
        found.failures.append(f"{type(error).__name__}: {error} {notes}")
    draw = Random(drawn)
    for _ in range(drawn):
        found.examples += 1
        text = draw.choice(["", "http://", "http://a.example"]) + "".join(draw.choices(_PIECES, k=draw.randint(0, 12)))
        try:
            check_address(text, draw.choice([None, url_cases.BASE]))
        except Exception as error:
            found.failures.append(f"{text!r}: {type(error).__name__}: {error}")
    for text, base, expected in url_cases.CASES:
        found.cases += 1
        if (url := canonicalize(text, base)) != expected:
            found.failures.append(f"{text!r} on {base}: {url}, expected {expected}")
    return found


def check_address(text: str, base: str | None) -> None:
    """Raise unless the canonical form of a text is a fixed point that everything behind it can use."""
    url = canonicalize(text, base)
    if url is None:
        return
    assert canonicalize(url) == url, f"{url!r} becomes {canonicalize(url)!r}"
    assert canonicalize(url, url_cases.BASE) == url
    assert url.isascii()
    assert url.isprintable()
    assert not set(url) & set(" <>#")
    assert "\\" not in url.partition("?")[0]
    assert url.startswith(("http://", "https://"))
    host = host_key(url)
    assert host
    assert "@" not in host
    registered_domain(host)
    url_tokens(url)
    fingerprint(url)


# The rows


def h5() -> Outcome:
    """Fill row H5."""
    found = titles(200)
    kinds = len(charsets.LIES)
    figure = f"{found.right / found.pages:.1%} of the titles of {found.pages} pages right, {kinds} kinds of lie"
    return Outcome(held=found.right >= 0.98 * found.pages, figure=figure)


def h11() -> Outcome:
    """Fill row H11."""
    found = regular_expressions(tries=60, large=10_000_000, most_seconds=20.0)
    most = f"{found.longest_seconds * 1000:,.0f} ms for 10 MB"
    figure = f"{found.number} patterns; not linear {len(found.slow)}; at most {most}"
    return Outcome(held=not found.slow, figure=figure)


def h12() -> Outcome:
    """Fill row H12."""
    found = addresses(5_000, drawn=100_000)
    figure = f"{found.examples:,} fuzzed and {found.cases} cases of the standard; failures {len(found.failures)}"
    return Outcome(held=not found.failures and found.examples >= 100_000, figure=figure)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.frontier.redis.codec import Name, Record, link_bytes, reason_bytes, url_of
from thresher.reasons.legacy import legacy_reason
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import Candidate, RequestKind


@pytest.mark.parametrize(
    ("url", "host", "rest"),
    [
        ("https://a.example/x?y=1", "a.example", b"/x?y=1"),
        ("http://a.example/x", "a.example", b"-/x"),
        ("https://a.example:8443/", "a.example:8443", b"/"),
        ("http://a.example:443/", "a.example:443", b"-/"),
        ("https://A.example/", "a.example", b"https://A.example/"),
    ],
)
def test_a_url_is_named_by_what_follows_its_host(url, host, rest):
    name = Name.of(url, host)
    assert name.rest == rest
    assert url_of(host, name.rest) == url


@given(st.text(max_size=40), st.sampled_from(["http", "https"]))
def test_every_url_comes_back_as_it_was(path, scheme):
    url = f"{scheme}://a.example/{path}"
    assert url_of("a.example", Name.of(url, "a.example").rest) == url


def test_http_and_https_are_two_urls_of_one_host():
    one, other = Name.of("http://a.example/", "a.example"), Name.of("https://a.example/", "a.example")
    assert one.host == other.host
    assert (one.rest, one.member) != (other.rest, other.member)


links = st.builds(
    Candidate,
    url=st.just("https://a.example/"),
    score=st.floats(allow_nan=False, allow_infinity=False),
    strategy_data=st.dictionaries(st.text(max_size=5), st.integers(-5, 5) | st.text(max_size=5), max_size=2),
    depth_left=st.integers(-(2**31), 2**31 - 1),
    hops=st.integers(-(2**31), 2**31 - 1) | st.integers(0, 20),
    redirects=st.integers(0, 5),
    parent=st.integers(-(2**63), 2**63 - 1),
    kind=st.sampled_from(RequestKind),
    for_host=st.just(""),
)


@given(links)
def test_a_link_comes_back_as_it_was(link):
    record = Record.read(b"\0\0\0\7" + link_bytes(link, 0, 0)[6:])
    assert record.age == 7
    assert (record.score, record.strategy_data, record.parent) == (link.score, link.strategy_data, link.parent)
    assert (record.hops, record.depth_left, record.redirects) == (link.hops, link.depth_left, link.redirects)
    assert record.kind is link.kind
    assert Record.read(record.to_bytes()) == record


def without_kind(link):
    content = link_bytes(link._replace(kind=RequestKind.PAGE), 0, 0)[6:]
    return b"\0\0\0\1" + content.replace(b"\0{", b"{") if link.strategy_data else b"\0\0\0\1" + content[:-1]


@pytest.mark.parametrize(
    ("link", "kind"),
    [
        (Candidate("https://a.example/", 0.5, hops=0), RequestKind.SEED),
        (Candidate("https://a.example/", 0.5, hops=2), RequestKind.PAGE),
        (Candidate("https://a.example/robots.txt#robots-7", 0.5), RequestKind.ROBOTS),
        (Candidate("https://a.example/f", 0.5, strategy_data={"feed": 1}), RequestKind.FEED),
        (Candidate("https://a.example/s", 0.5, strategy_data={"sitemap": 0, "for": "b.example"}), RequestKind.SITEMAP),
    ],
)
def test_the_kind_of_an_old_record_is_derived_when_it_is_read(link, kind):
    assert Record.read(without_kind(link)).candidate(link.url).kind is kind


def test_what_is_common_takes_few_bytes():
    link = Candidate(url="https://a.example/", score=0.5, hops=3, parent=12345, strategy_data={"layer": 3})
    head, age, flags, score, parent, kind = 6, 4, 1, 4, 8, 1
    assert len(link_bytes(link, 0, 0)) - head + age == age + flags + score + parent + kind + len('{"layer":3}')


def test_a_reason_is_cut_and_made_text():
    assert reason_bytes(legacy_reason("大" * 100_000)).decode() == "other\t" + "大" * 19_998
    assert reason_bytes(legacy_reason("broken \udcff")) == b"other\tbroken ?"


def test_a_record_of_an_earlier_version_has_its_reason():
    record = Record(1, 0.5, 0, 0, 1, 0, Reason.of(ReasonKind.HTTP, 404), 0, RequestKind.PAGE, {})
    assert Record.read(record.to_bytes()).reason == record.reason
    earlier = record.to_bytes().replace(b"http\t404", b"http 404")
    assert Record.read(earlier).reason == record.reason

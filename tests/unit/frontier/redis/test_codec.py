import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.frontier.redis.codec import Name, Record, link_bytes, reason_bytes, url_of
from thresher.records import Candidate


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
    carry=st.dictionaries(st.text(max_size=5), st.integers(-5, 5) | st.text(max_size=5), max_size=2),
    depth_left=st.integers(-(2**31), 2**31 - 1),
    hops=st.integers(-(2**31), 2**31 - 1) | st.integers(0, 20),
    redirects=st.integers(0, 5),
    parent=st.integers(-(2**63), 2**63 - 1),
)


@given(links)
def test_a_link_comes_back_as_it_was(link):
    record = Record.read(b"\0\0\0\7" + link_bytes(link, 0, 0)[6:])
    assert record.age == 7
    assert (record.score, record.carry, record.parent) == (link.score, link.carry, link.parent)
    assert (record.hops, record.depth_left, record.redirects) == (link.hops, link.depth_left, link.redirects)


def test_what_is_common_takes_few_bytes():
    link = Candidate(url="https://a.example/", score=0.5, hops=3, parent=12345, carry={"layer": 3})
    head, age, flags, score, parent = 6, 4, 1, 4, 8
    assert len(link_bytes(link, 0, 0)) - head + age == age + flags + score + parent + len('{"layer":3}')


def test_a_reason_is_cut_and_made_text():
    assert reason_bytes("大" * 100_000).decode() == "大" * 20_000
    assert reason_bytes("broken \udcff") == b"broken ?"

"""Every URL has one spelling, whatever text it is written as."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.urls import canonical
from thresher.urls.canonical import MAX_URL_CHARACTERS, canonicalize, encode_query, fingerprint

PAGE = "https://www.example.com/dir/page.html?x=1"

MARKS = (
    "http://",
    "HTTPS://",
    "//",
    "/",
    "..",
    ".",
    "../",
    "?",
    "&",
    "=",
    "#",
    "@",
    ":",
    ";",
    "%",
    "\\",
    "|",
    "'",
    "+",
)
NAMES = ("a", "B", "example.com", "1.2.3.4", "0x7f", "[::1]", "xn--", "例", ":80", ":443", "~", "%2e", "%41", "%e4")
TRAPS = ("sid=", "abc123", "utm_a=1", "jsessionid=1", "(S(abcdefghijklmnop))", " ", "\t", "\0", "\ud800", "\u200d")
URL_LIKE = st.lists(st.sampled_from(MARKS + NAMES + TRAPS), max_size=12).map("".join)


@pytest.mark.parametrize(
    ("spelling", "url"),
    [
        ("HTTP://WWW.Example.COM", "http://www.example.com/"),
        ("http://example.com:80/a", "http://example.com/a"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("https://example.com:80/a", "https://example.com:80/a"),
        ("http://user:secret@example.com/a", "http://example.com/a"),
        ("http://example.com./a", "http://example.com/a"),
        ("http://example.com/a#part", "http://example.com/a"),
        ("http://example.com/a ?b #part", "http://example.com/a%20?b%20"),
        ("http://example.com/a?", "http://example.com/a"),
        ("http://example.com/a/../b/./c", "http://example.com/b/c"),
        ("http://example.com/%7ejoe/%e4%b8%ad", "http://example.com/~joe/%E4%B8%AD"),
        ("http://example.com/100%/%zz", "http://example.com/100%25/%25zz"),
        ("http://例子.中国/路径", "http://xn--fsqu00a.xn--fiqs8s/%E8%B7%AF%E5%BE%84"),
        ("  http://example.com/a b\n", "http://example.com/a%20b"),
        ("http:\\\\example.com\\a", "http://example.com/a"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[2001:DB8::1]:80/", "http://[2001:db8::1]/"),
        ("http://example.com/\ud800", "http://example.com/%EF%BF%BD"),
    ],
)
def test_spellings_of_one_address_become_one(spelling, url):
    assert canonicalize(spelling) == url


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("a?utm_source=x&b=2&utm_medium=y&a=1", "a?b=2&a=1"),
        ("a?gclid=1", "a"),
        ("a;jsessionid=0A1B2C?b=1", "a?b=1"),
        ("a?PHPSESSID=0a1b2c3d&b=1", "a?b=1"),
        ("a?sid=9f8e7d6c5b4a&b=1", "a?b=1"),
        ("a?%73id=9f8e7d6c5b4a", "a"),
        ("(S(lit3py55t21z5v55vlm25s55))/a.aspx", "a.aspx"),
        ("a?session_id=1&ASPSESSIONIDCQ=Z", "a"),
    ],
)
def test_sessions_and_tracking_are_dropped_and_the_rest_keeps_its_order(written, kept):
    assert canonicalize(f"http://example.com/{written}") == f"http://example.com/{kept}"


@pytest.mark.parametrize("query", ["sid=1234", "sid=sports", "id=utm_x", "b=2&a=1&b=1", "sidebar=9f8e7d6c5b4a"])
def test_what_may_choose_the_page_stays(query):
    assert canonicalize(f"http://example.com/a?{query}") == f"http://example.com/a?{query}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "mailto:a@b.c",
        "javascript:void(0)",
        "data:text/html,x",
        "ftp://a.b/",
        "http://",
        "http://..../",
        "a/b",
        "http://a b/",
    ],
)
def test_what_is_no_crawlable_address_is_none(text):
    assert canonicalize(text) is None


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("other.html", "https://www.example.com/dir/other.html"),
        ("../up.html", "https://www.example.com/up.html"),
        ("../../../up.html", "https://www.example.com/up.html"),
        ("/root.html#x", "https://www.example.com/root.html"),
        ("//cdn.example.net/y", "https://cdn.example.net/y"),
        ("?page=2", "https://www.example.com/dir/page.html?page=2"),
        ("", "https://www.example.com/dir/page.html?x=1"),
        ("http://other.example/", "http://other.example/"),
        ("mailto:a@b.c", None),
    ],
)
def test_relative_addresses_start_from_their_page(href, url):
    assert canonicalize(href, PAGE) == url


def test_an_absolute_address_needs_no_usable_base():
    assert canonicalize("http://example.com/~a b", "nonsense") == "http://example.com/~a%20b"
    assert canonicalize("a.html", "nonsense") is None


def test_addresses_beyond_the_length_of_browsers_are_none():
    room = MAX_URL_CHARACTERS - len("http://example.com/")
    assert canonicalize("http://example.com/" + "a" * room) is not None
    assert canonicalize("http://example.com/" + "a" * (room + 1)) is None
    assert canonicalize("../" * 1_000_000, PAGE) is None


@given(st.one_of(st.text(), URL_LIKE, URL_LIKE.map("http://a.example/".__add__)))
def test_no_text_raises_and_canonical_urls_stay_as_they_are(text):
    url = canonicalize(text)
    assert url is None or canonicalize(url) == url
    assert url is None or canonicalize(url, PAGE) == url


@given(URL_LIKE, st.one_of(URL_LIKE, st.just(PAGE)))
def test_no_base_raises_and_the_result_stays_as_it_is(text, base):
    url = canonicalize(text, base)
    assert url is None or canonicalize(url) == url


@given(URL_LIKE, st.sampled_from([PAGE, "http://a.example/", "http://a.example/b//c/;x?y"]))
def test_shortcuts_agree_with_the_parser(text, base):
    text = text.partition("#")[0]
    assert canonicalize(text) == canonical._settle(text, None)
    assert canonicalize(text, base) == canonical._settle(text, canonicalize(base))


@pytest.mark.parametrize("code", range(0x21, 0x7F))
def test_each_escape_of_ascii_has_one_form(code):
    upper, lower = (
        canonicalize(f"http://example.com/x%{code:02X}y"),
        canonicalize(f"http://example.com/x%{code:02x}y"),
    )
    plain = chr(code).isalnum() or chr(code) in "-._~"
    assert upper == lower == f"http://example.com/x{chr(code) if plain else f'%{code:02X}'}y"


@given(st.text())
def test_a_fingerprint_is_a_signed_64_bit_number(text):
    assert -(1 << 63) <= fingerprint(text) < 1 << 63


def test_a_fingerprint_never_changes_between_versions():
    assert fingerprint("http://example.com/") == -5081748069831205333


@pytest.mark.parametrize(
    ("address", "charset", "written"),
    [
        ("/ö?q=ö#ö", "cp1252", "/ö?q=%F6"),
        (" /x?q=ö\n ", "cp1252", "/x?q=%F6"),
        ("/x?q=\u20ac&r=1'2", "iso8859-1", "/x?q=%26%238364%3B&r=1%272"),
        ("/ö?q=o", "cp1252", "/ö?q=o"),
        ("/ö", "cp1252", "/ö"),
        ("/x?q=ö", "utf-16-le", "/x?q=ö"),
        ("?q=日", "iso2022_jp", "?q=%1B$BF|%1B(B"),
    ],
)
def test_a_query_is_encoded_in_a_charset(address, charset, written):
    assert encode_query(address, charset) == written

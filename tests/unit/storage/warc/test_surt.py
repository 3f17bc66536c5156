"""The sort key of a URL. The expected keys are those of the library surt 0.3.1, unless a test says otherwise."""

import pytest

from thresher.storage.warc.cdxj import surt_key

SESSION = "0123456789abcdef0123456789abcdef"
ASP_SESSION = "4hqa0555fwsecu455xqckv45"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.org", "org,example)/"),
        ("https://www.example.org/", "org,example)/"),
        ("http://www12.example.org/", "org,example)/"),
        ("http://www.www.example.org/", "org,example,www)/"),
        ("http://fas-www.example.org/", "org,example,fas-www)/"),
        ("http://wwww.example.org/", "org,example,wwww)/"),
        ("http://www/", "www)/"),
        ("http://User:secret@Example.ORG./", "org,example)/"),
        ("http://例子.中国/", "xn--fiqs8s,xn--fsqu00a)/"),
        ("http://127.0.0.1/", "1,0,0,127)/"),
        ("http://[2001:db8::1]:8080/", "2001:db8::1:8080)/"),
    ],
)
def test_the_host_comes_first_in_reverse_order_without_a_first_label_www(url, key):
    assert surt_key(url) == key


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.org:80/", "org,example)/"),
        ("https://example.org:443/", "org,example)/"),
        ("http://example.org:443/", "org,example:443)/"),
        ("http://example.org:8080/", "org,example:8080)/"),
        ("http://example.org:/", "org,example)/"),
    ],
)
def test_only_the_default_port_of_the_scheme_is_dropped(url, key):
    assert surt_key(url) == key


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.org/A/B/", "org,example)/a/b"),
        ("http://example.org//a//b/../c/./d", "org,example)/a/c/d"),
        ("http://example.org/a#part?x", "org,example)/a"),
        ("http://example.org/%41%2fb%20c", "org,example)/a/b%20c"),
        ("http://example.org/a%25252fb", "org,example)/a/b"),
        ("http://example.org/a%zz", "org,example)/a%25zz"),
        ("http://example.org/a%23b", "org,example)/a%23b"),
        ("http://example.org/中", "org,example)/%e4%b8%ad"),
        ("http://example.org/%E4%B8%AD", "org,example)/%e4%b8%ad"),
        ("http://example.org/%E9", "org,example)/%e9"),
    ],
)
def test_a_path_is_in_lower_case_with_as_few_escapes_as_possible(url, key):
    assert surt_key(url) == key


@pytest.mark.parametrize(
    ("query", "sorted_query"),
    [
        ("?b=2&a=1", "?a=1&b=2"),
        ("?a-b=1&a=2", "?a=2&a-b=1"),
        ("?a=2&a=1&a", "?a&a=1&a=2"),
        ("?b=2&&a=1", "?&a=1&b=2"),
        ("?q=http://www.example.org/", "?q=http://www.example.org/"),
        ("?", ""),
    ],
)
def test_the_arguments_of_a_query_are_sorted_by_name_and_value(query, sorted_query):
    assert surt_key(f"http://example.org/a{query}") == f"org,example)/a{sorted_query}"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        (f"http://example.org/a?PHPSESSID={SESSION}&y=2", "org,example)/a?y=2"),
        (f"http://example.org/a?y=2&sid={SESSION}", "org,example)/a?&y=2"),
        (f"http://example.org/a?jsessionid={SESSION}", "org,example)/a"),
        (f"http://example.org/a?sid={SESSION}00", f"org,example)/a?sid={SESSION}00"),
        ("http://example.org/a?ASPSESSIONIDAQBSDSRT=EOHBLBDDPFCLHKPGGKLILNAM", "org,example)/a"),
        ("http://example.org/a?CFID=1&CFTOKEN=2&y=2", "org,example)/a?y=2"),
        ("http://example.org/a?CFID=1&y=2", "org,example)/a?cfid=1&y=2"),
        (f"http://example.org/(S({ASP_SESSION}))/b.aspx", "org,example)/b.aspx"),
        (f"http://example.org/({ASP_SESSION})/b/c.aspx?d=1", "org,example)/b/c.aspx?d=1"),
        (f"http://example.org/(S({ASP_SESSION}))/b", f"org,example)/(s({ASP_SESSION}))/b"),
    ],
)
def test_session_ids_are_dropped(url, key):
    assert surt_key(url) == key


@pytest.mark.parametrize("text", ["dns:example.org", "", "a b\nc", "http://", "http://[", "http://\ud800.example/"])
def test_any_text_has_a_key_without_white_space(text):
    assert not any(character.isspace() for character in surt_key(text))


@pytest.mark.parametrize(
    ("url", "key"), [("http://1.2.3/", "3,2,1)/"), ("http://example.org/a/../../..", "org,example)/")]
)
def test_urls_that_are_not_canonical_may_have_another_key_than_by_the_library(url, key):
    assert surt_key(url) == key

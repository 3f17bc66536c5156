"""A host key names a server, a registered domain its owner."""

import pytest

from thresher.urls.canonical import host_key, registered_domain, suffix_and_domain


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.com/a/b", "example.com"),
        ("https://example.com/a?b=http://c/", "example.com"),
        ("http://EXAMPLE.com:80", "example.com"),
        ("https://example.com:443/", "example.com"),
        ("http://example.com:8080/", "example.com:8080"),
        ("http://example.com?a=b", "example.com"),
        ("http://[2001:db8::1]/", "[2001:db8::1]"),
        ("http://[2001:db8::1]:8080/", "[2001:db8::1]:8080"),
    ],
)
def test_a_host_key_is_a_name_with_its_unusual_port(url, key):
    assert host_key(url) == key


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.example.co.uk", "example.co.uk"),
        ("news.example.com:8080", "example.com"),
        ("nankai.edu.cn", "nankai.edu.cn"),
        ("user.github.io", "github.io"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]:8080", "[::1]"),
        ("localhost", "localhost"),
        ("com", "com"),
        ("", ""),
    ],
)
def test_a_registered_domain_lies_below_the_public_suffix(host, domain):
    assert registered_domain(host) == domain


@pytest.mark.parametrize(
    ("host", "private", "expected"),
    [
        ("user.github.io:8080", False, ("io", "github.io")),
        ("user.github.io", True, ("github.io", "user.github.io")),
        ("github.io", True, ("github.io", "")),
        ("www.example.co.uk", True, ("co.uk", "example.co.uk")),
        ("[::1]:8080", False, ("", "")),
        ("localhost", False, ("", "")),
    ],
)
def test_a_public_suffix_is_one_of_a_registry_or_also_of_a_company(host, private, expected):
    assert suffix_and_domain(host, private=private) == expected

"""What strangers wrote is shown as it is, and leads nowhere but to the web."""

import pytest

from thresher_ui.dashboard.untrusted_text import escaped, visible, web_address


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 钙钛矿", "plain 钙钛矿"),
        ("a\x00b\x1b[31m", "a␀b␛[31m"),
        ("\u202eexe.cod", "‹U+202E›exe.cod"),
        ("zero\u200bwidth", "zero‹U+200B›width"),
        ("two\nlines", "two\nlines"),
        ("half \ud800 a pair", "half ‹U+D800› a pair"),
        ("\x7f\x85\u2028", "␡‹U+0085›‹U+2028›"),
        ("👩‍🔬", "👩‍🔬"),
    ],
)
def test_what_hides_is_shown(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize("url", ["http://a.example/", "https://例子.example/路径?q=1"])
def test_web_addresses_may_be_opened(url):
    assert web_address(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        " javascript:alert(1)",
        "java\nscript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "file:///etc/passwd",
        "//a.example/",
        "/login",
        "http:///nobody",
        "http://[broken/",
        "http://a.example/\u202etxt",
        "",
    ],
)
def test_nothing_else_may(url):
    assert web_address(url) is None


def test_any_text_fits_into_an_address():
    assert escaped("a/b?c=d&e=\ud800 钙") == "a%2Fb%3Fc%3Dd%26e%3D%3F%20%E9%92%99"

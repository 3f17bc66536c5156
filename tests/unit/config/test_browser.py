"""Whether pages can be rendered is known before a crawl begins, and reported in a sentence."""

import os

import pytest

from thresher.config import browser
from thresher.config.browser import check_browser, find_chromium, uses_browser
from thresher.config.schema import BrowserConfig, CrawlConfig
from thresher.errors import ConfigError


@pytest.fixture
def program(tmp_path):
    """A program that could be a browser."""
    path = tmp_path / "some-chromium"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_a_crawl_without_a_browser_needs_none(monkeypatch):
    monkeypatch.setattr(browser, "find_spec", lambda _: pytest.fail("nobody asked for a browser"))
    check_browser(BrowserConfig())


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(browser, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r'pip install "thresher-crawler\[browser\]"'):
        check_browser(BrowserConfig(detect=True))


def test_the_program_that_is_named_is_run(program):
    assert find_chromium(BrowserConfig(executable=program)) == program


def test_a_program_is_looked_for_on_the_path(monkeypatch, tmp_path, program):
    os.rename(program, tmp_path / "chromium-browser")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_chromium(BrowserConfig()) == str(tmp_path / "chromium-browser")


def test_a_program_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match="looked for /nowhere/chromium"):
        check_browser(BrowserConfig(detect=True, executable="/nowhere/chromium"))


def test_root_must_give_the_sandbox_up_explicitly(monkeypatch, program):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(ConfigError, match=r"browser: \{sandbox: false\}"):
        check_browser(BrowserConfig(detect=True, executable=program))
    check_browser(BrowserConfig(detect=True, executable=program, sandbox=False))


def test_others_have_the_sandbox(monkeypatch, program):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    check_browser(BrowserConfig(hosts=["a.example"], executable=program))


def config(**browser):
    return CrawlConfig(browser=BrowserConfig(**browser))


def test_a_browser_is_used_by_default_where_there_is_one(monkeypatch, program):
    monkeypatch.setattr(browser, "find_spec", lambda _: "there")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert uses_browser(config(executable=program))
    assert not uses_browser(config(executable=program, detect=False))
    assert not uses_browser(config(executable="/nowhere/chromium"))
    short = {"engine": {"timeout_seconds": 30.0, "lease_seconds": 36.0}, "browser": {"executable": program}}
    assert not uses_browser(CrawlConfig.model_validate(short))


def test_without_the_package_nothing_is_rendered_and_nothing_fails(monkeypatch, program):
    monkeypatch.setattr(browser, "find_spec", lambda _: None)
    check_browser(BrowserConfig(executable=program))
    assert not uses_browser(config(executable=program))
    assert uses_browser(config(hosts=["a.example"]))


def test_a_lease_that_ends_before_its_page_is_rendered_is_refused():
    engine = {"timeout_seconds": 30.0, "lease_seconds": 45.0}
    with pytest.raises(ValueError, match=r"browser.seconds \+ 5 \(50\)"):
        CrawlConfig.model_validate({"engine": engine, "browser": {"detect": True}})
    CrawlConfig.model_validate({"engine": engine})

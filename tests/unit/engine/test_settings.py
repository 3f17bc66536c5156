"""Scrapy runs with nothing that follows, retries, remembers or listens behind the frontier's back."""

import pytest
from scrapy.settings import Settings
from scrapy.utils.conf import build_component_list

from thresher.config.schema import CrawlConfig
from thresher.engine.settings import hardened, user_agent


@pytest.fixture
def settings():
    return Settings(hardened(CrawlConfig()))


def test_only_http_is_spoken(settings):
    handlers = {**settings.getdict("DOWNLOAD_HANDLERS_BASE"), **settings.getdict("DOWNLOAD_HANDLERS")}
    assert {scheme for scheme, handler in handlers.items() if handler} == {"http", "https"}


def test_no_port_is_opened_and_no_extension_runs(settings):
    assert not settings.getbool("TELNETCONSOLE_ENABLED")
    assert not settings.getbool("REMOTE_CONTROL_ENABLED")
    assert build_component_list(settings.getwithbase("EXTENSIONS")) == []


def test_only_headers_are_left_of_the_middlewares(settings):
    names = [path.rpartition(".")[2] for path in build_component_list(settings.getwithbase("DOWNLOADER_MIDDLEWARES"))]
    assert names == ["DefaultHeadersMiddleware", "UserAgentMiddleware"]


def test_names_are_resolved_by_the_guard(settings):
    assert settings["TWISTED_DNS_RESOLVER"] == "thresher.engine.dns.resolver.GuardedResolver"


def test_sizes_and_times_are_bounded(settings):
    assert settings.getint("DOWNLOAD_MAXSIZE") == 10 << 20
    assert settings.getfloat("DOWNLOAD_TIMEOUT") == 30.0


def test_the_user_agent_names_a_contact():
    assert user_agent("me@example.org").endswith(" (+me@example.org)")
    assert "+" not in user_agent("")

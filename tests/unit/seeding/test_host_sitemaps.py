"""The sitemaps of a named host, by the rules of its robots.txt."""

import pytest

from tests.e2e.conftest import serving
from thresher.config.schema import CrawlConfig
from thresher.errors import ConfigError
from thresher.seeding.base import SeedQuery, SourceFailed
from thresher.seeding.host_sitemaps import HostSitemaps

CONFIG = CrawlConfig.model_validate({"politeness": {"delay_seconds": 0.0}})


def urlset(*urls):
    return "<urlset>" + "".join(f"<url><loc>{url}</loc></url>" for url in urls) + "</urlset>"


@pytest.fixture
def site():
    with serving() as site:
        yield site


def find(site):
    query = SeedQuery(phrases={"en": "solar cells"}, hosts=[site.url("").rstrip("/")])
    return [candidate.url for candidate in HostSitemaps("", CONFIG).find(query)]


def test_urls_with_words_of_the_topic_are_candidates(site):
    site.pages["/sitemap.xml"] = urlset(
        site.url("/tea"), site.url("/solar"), site.url("/solar-cell"), "http://b.test/solar"
    )
    assert find(site) == [site.url("/solar-cell"), site.url("/solar")]


def test_robots_txt_lists_sitemaps_and_forbids_some(site):
    robots = f"User-agent: *\nDisallow: /no/\nSitemap: {site.url('/index.xml')}\n"
    site.pages["/robots.txt"] = (200, {}, robots)
    inner = "".join(f"<sitemap><loc>{site.url(path)}</loc></sitemap>" for path in ("/no/a.xml", "/yes/b.xml"))
    site.pages["/index.xml"] = f"<sitemapindex>{inner}</sitemapindex>"
    site.pages["/no/a.xml"] = site.pages["/yes/b.xml"] = urlset(site.url("/solar"))
    assert find(site) == [site.url("/solar")]
    assert site.paths == ["/robots.txt", "/index.xml", "/yes/b.xml"]


def test_nothing_is_read_when_the_rules_are_unknown(site):
    site.pages["/robots.txt"] = (503, {}, "")
    with pytest.raises(SourceFailed, match=r"robots\.txt answers HTTP 503"):
        find(site)
    assert site.paths == ["/robots.txt"]


def test_hosts_are_named_by_an_option_of_their_own():
    with pytest.raises(ConfigError, match=r"--source sitemaps --host example\.org"):
        HostSitemaps("example.org", CONFIG)
    with pytest.raises(SourceFailed, match="--host"):
        HostSitemaps("", CONFIG).find(SeedQuery(phrases={"en": "solar"}))

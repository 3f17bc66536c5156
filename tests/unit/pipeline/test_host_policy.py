"""The pipeline and its host policy: side requests and soft 404s are no pages, hosts without harvest are parked."""

import pytest

from tests.unit.pipeline.test_pipeline import SEED, World
from thresher.frontier.base import UrlState
from thresher.pipeline.host_policy import HANDLERS, HostPolicyConfig
from thresher.politeness.host_budget import HostBudget
from thresher.records import RequestKind
from thresher.sitemaps.source import SitemapHosts
from thresher.traps.detector import PROBE_AT
from thresher.urls.scope import UrlScope

SITEMAP = "<urlset><url><loc>/1</loc></url><url><loc>/2.pdf</loc></url><url><loc>/a/a/a/</loc></url></urlset>"


async def world_with(*urls, scope=None, **watch):
    world = World(host_limits=HostPolicyConfig(**watch), scope=scope or UrlScope())
    await world.pipeline.seed(urls or [SEED])
    return world


async def test_a_host_without_harvest_is_parked_and_says_why():
    world = await world_with(SEED, SEED + "1", SEED + "2", budget=HostBudget(first=2, per_relevant=5))
    await world.fetch("<p>nothing</p>")
    await world.fetch("<p>nothing else</p>")
    [host] = await world.frontier.hosts()
    assert (str(host.parked), host.waiting) == ("gave 2 pages, none of them relevant", 1)


async def test_a_sitemap_is_asked_for_and_its_pages_wait_within_scope():
    world = await world_with(sitemaps=SitemapHosts())
    record = await world.fetch("<p>solar</p>")
    assert record.links == []
    record = await world.fetch(SITEMAP, content_type="application/xml")
    assert (record.url, record.page) == (SEED + "sitemap.xml", False)
    assert str(record.reason) == "sitemap: 3 of 3 pages, 0 of 0 sitemaps"
    assert [link.url for link in record.links] == [SEED + "1"]
    assert await world.state(SEED + "1") is UrlState.WAITING
    assert (await world.frontier.counts()).pages == 1


@pytest.mark.parametrize("status", [404, 500])
async def test_a_missing_sitemap_does_no_harm(status):
    world = await world_with(sitemaps=SitemapHosts())
    await world.fetch("<p>solar</p>")
    record = await world.fetch("<p>not here</p>", status=status)
    assert (record.page, record.links) == (False, [])
    assert str(record.reason) == f"http {status}"


async def test_sitemaps_of_denied_hosts_are_not_asked_for():
    world = await world_with(sitemaps=SitemapHosts(), scope=UrlScope(deny_hosts=("cdn.example",)))
    await world.pipeline.host_policy.sitemaps.listed("a.example", "Sitemap: http://cdn.example/s.xml")
    await world.fetch("<p>solar</p>")
    assert await world.state("http://cdn.example/s.xml") is None


async def test_soft_404s_are_no_pages():
    missing = "<p>Sorry, there is no page called {} here, so please look elsewhere for what you want to find.</p>"
    world = await world_with(*(f"{SEED}{'x' * n}" for n in range(PROBE_AT + 1)), traps=True)
    for n in range(PROBE_AT):
        await world.fetch(f"<p>solar page {'x' * n} of its own kind</p>")
    await world.fetch(missing.format("one"))  # before the answer to the probe is known
    probe = await world.fetch(missing.format("two"))
    assert (probe.page, str(probe.reason)) == (False, "pages that are not there have a page")
    await world.pipeline.seed([SEED + "later"])
    record = await world.fetch(missing.format("three"))
    assert (record.page, str(record.reason)) == (False, "soft 404: the page says that there is none")
    assert await world.state(SEED + "later") is UrlState.FAILED


async def test_nothing_is_asked_beside_pages_unless_it_is_wanted():
    world = await world_with(*(f"{SEED}{'x' * n}" for n in range(PROBE_AT + 1)))
    for n in range(PROBE_AT + 1):
        await world.fetch(f"<p>solar page {'x' * n}</p>")
    assert await world.frontier.lease(1, seconds=60) == []


def test_every_side_request_has_a_handler_except_robots_txt_which_the_engine_reads():
    assert {*HANDLERS, RequestKind.ROBOTS} == {kind for kind in RequestKind if not kind.is_page}

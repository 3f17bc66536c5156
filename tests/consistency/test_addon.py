"""Private addresses: what is refused is logged as an error, and fetched once it is allowed."""

import shutil

from tests.e2e.conftest import quick
from tests.e2e.test_scrapy_addon import EXAMPLE, Project

POLITENESS = {"delay_seconds": 0, "robots": "ignore"}
ENGINE = {"timeout_seconds": 2, "lease_seconds": 8}


def project_at(folder):
    shutil.copytree(EXAMPLE, folder)
    project = Project(folder)
    project.set(politeness=POLITENESS, engine=ENGINE, network={"allow": []})
    return project


def test_u11_a_refused_address_is_logged_as_an_error_with_the_setting_that_allows_it(site, tmp_path):
    site.pages["/"] = "<title>Music</title><p>Songs of an orchestra</p>"
    project = project_at(tmp_path / "project")
    log = project.crawl(site.url("/"))
    [line] = [line for line in log.splitlines() if " ERROR: refused" in line]
    assert site.url("/") in line
    assert 'network: {allow: ["127.0.0.0/8"]}' in line
    assert site.requests == []
    project.set(network={"allow": ["127.0.0.0/8"]})
    project.crawl(site.url("/"))
    assert site.paths == ["/"]  # the same folder goes on; nothing had to be deleted
    assert [item["url"] for item in project.items] == [site.url("/")]


def test_u11_a_run_fetches_what_was_refused_once_it_is_allowed(site, thresher, tmp_path):
    other = site.url("/other", host="127.0.0.2")
    site.pages["/"] = f'<title>Orchard</title><p>apple orchard</p><a href="{other}">apple orchard</a>'
    thresher("new", "crawl", "--topic", "apple orchard", "--seed", site.url("/"))
    quick(tmp_path / "crawl", network="{allow: [127.0.0.1/32]}")
    thresher("run", "crawl")
    assert "refused: a private address" in thresher("why", "crawl", other).stdout
    elsewhere = f"{{allow: [127.0.0.0/8], connect_to: {{'127.0.0.2:{site.port}': '127.0.0.1:{site.port}'}}}}"
    quick(tmp_path / "crawl", network=elsewhere)
    thresher("run", "crawl")
    assert "/other" in site.paths

"""Scope and deny lists hold when a URL is leased: what is out of scope now is never asked, however it was queued."""

import json
import shutil

import pytest
import yaml

from testing.commands import called
from tests.consistency.stores import Shell, write_crawl
from tests.e2e.conftest import serving
from tests.unit.engine.test_prefetch import Queue, Resolver
from thresher.engine import lease_loop
from thresher.urls.scope import UrlScope


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path)


@pytest.fixture(scope="module")
def site():
    with serving() as site:
        yield site


@pytest.fixture(scope="module")
def template(site, tmp_path_factory):
    """A crawl that was stopped after its first page, with links to two hosts waiting; tests copy it."""
    shell = Shell(tmp_path_factory.mktemp("stopped"))
    answering = {"*:80": f"127.0.0.1:{site.port}", "*:443": f"127.0.0.1:{site.port}"}
    network = {"allow": ["127.0.0.0/8"], "connect_to": answering}
    write_crawl(site, shell.folder / "solar", network=network)
    (shell.folder / "solar" / "seeds.txt").write_text("http://first.test/0\n")
    links = "".join(
        f'<a href="http://{host}/{number}">solar cell</a> ' for host in ("good.test", "bad.test") for number in range(5)
    )
    site.pages = {f"/{number}": f"<title>Solar {number}</title>Solar cells {number}" for number in range(5)}
    site.pages["/0"] = f"<title>Solar cells</title>Solar cells. {links}"
    shell("run", "solar", "--pages", "1")
    assert asked(site) == {"first.test"}
    return shell.folder / "solar"


@pytest.fixture
def stopped(template, shell):
    return shutil.copytree(template, shell.folder / "solar")


def asked(site):
    return {headers["Host"] for _, _, headers in site.requests}


def change(folder, **scope):
    """Change the scope of a crawl between two runs."""
    topic = yaml.safe_load((folder / "topic.yaml").read_text())
    topic["scope"].update(scope)
    (folder / "topic.yaml").write_text(yaml.safe_dump(topic))


def test_a3_a_host_that_is_denied_between_two_runs_is_never_asked_again(stopped, site, shell):
    change(stopped, deny_hosts=["bad.test"])
    site.requests.clear()
    shell("run", "solar")
    assert asked(site) == {"good.test"}, "not even robots.txt is asked for"
    status = json.loads(called("status", "solar", "--json", folder=shell.folder).stdout)
    assert (status["waiting"], status["failed"], status["pages"]) == (0, 5, 6)
    assert "out of scope: host denied" in called("why", "solar", "http://bad.test/1", folder=shell.folder).stdout


def test_a3_a_depth_that_is_lowered_between_two_runs_holds_for_what_waits(stopped, site, shell):
    change(stopped, max_depth=0)
    site.requests.clear()
    shell("run", "solar")
    assert site.requests == []
    assert "out of scope: too deep" in called("why", "solar", "http://good.test/1", folder=shell.folder).stdout


async def test_a3_names_of_denied_hosts_are_not_looked_up_ahead():
    resolver = Resolver()
    await lease_loop.DnsPrefetcher(Queue(None), resolver, 4, scope=UrlScope(deny_hosts=("a.example",))).prefetch()
    assert resolver.endpoints == [[("b.example", 8080)]]

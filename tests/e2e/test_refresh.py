"""A collection is kept fresh: pages are visited again, servers are asked for news only, and changes are reported."""

import json
import shutil

import pytest

from tests.e2e.conftest import CommandLine, quick, serving
from tests.e2e.test_first_crawl import SOLAR, page

HTML = {"Content-Type": "text/html"}
MODIFIED = "Sun, 01 Nov 2026 12:00:00 GMT"


PAGES = {
    "/": page("Seed", SOLAR, ("/steady", "perovskite"), ("/lively", "solar cells"), ("/leaving", "cells")),
    "/steady": (200, {**HTML, "ETag": '"v1"', "Last-Modified": MODIFIED}, page("Steady", SOLAR + "<p>One.</p>")),
    "/lively": (200, {**HTML, "ETag": '"v1"'}, page("Lively", SOLAR + "<p>Two.</p>")),
    "/leaving": page("Leaving", SOLAR + "<p>Three.</p>"),
}
LATER = {
    "/": PAGES["/"],
    "/steady": (304, {"ETag": '"v1"'}, ""),
    "/lively": page("Lively", SOLAR + "<p>New.</p>", ("/new", "tandem cells"), ("/steady", "s")),
    "/new": page("New", SOLAR + "<p>Four.</p>"),
}
"""Some time has gone by in the world."""


@pytest.fixture(scope="module")
def world():
    with serving() as site:
        yield site


@pytest.fixture
def solar_site(world):
    world.pages = dict(PAGES)
    world.requests.clear()
    return world


@pytest.fixture(scope="module")
def crawled(world, tmp_path_factory):
    """A crawl that is over, made once; tests go on with copies of it."""
    folder = tmp_path_factory.mktemp("crawled")
    thresher = CommandLine(folder)
    world.pages = dict(PAGES)
    made = thresher("new", "solar", "--topic", "perovskite solar cells", "--seed", world.url("/"))
    assert made.returncode == 0, made.stderr
    quick(folder / "solar")
    assert thresher("run", "solar").returncode == 0
    return folder / "solar"


@pytest.fixture(scope="module")
def refreshed(world, crawled, tmp_path_factory):
    """The same after its first refresh, with what was asked for in it."""
    folder = tmp_path_factory.mktemp("refreshed")
    shutil.copytree(crawled, folder / "solar")
    world.pages = dict(LATER)
    world.requests.clear()
    ran = CommandLine(folder)("run", "solar", "--refresh")
    assert ran.returncode == 0, ran.stderr
    return folder / "solar", {path: headers for _, path, headers in world.requests}


@pytest.fixture
def crawl(crawled, solar_site, tmp_path):
    return shutil.copytree(crawled, tmp_path / "solar")


@pytest.fixture
def later(refreshed, solar_site, tmp_path):
    """Go on after the first refresh; gives what was asked for in it."""
    folder, asked = refreshed
    shutil.copytree(folder, tmp_path / "solar")
    solar_site.pages = dict(LATER)
    return asked


def changes(thresher, *options):
    listed = thresher("changes", "solar", "--json", *options)
    assert listed.returncode == 0, listed.stderr
    return {change["title"]: change["change"] for change in json.loads(listed.stdout)}


def test_pages_are_visited_again_and_changes_are_reported(later, thresher):
    asked = later
    assert set(asked) - {"/robots.txt"} == {"/", "/leaving", "/lively", "/steady"}  # and not what the links led to
    assert (asked["/steady"]["If-None-Match"], asked["/steady"]["If-Modified-Since"]) == ('"v1"', MODIFIED)
    assert asked["/lively"]["If-None-Match"] == '"v1"'
    assert "If-Modified-Since" not in asked["/lively"]
    assert "If-None-Match" not in asked["/"]
    assert changes(thresher) == {"Lively": "changed", "Leaving": "gone"}

    rows = [json.loads(line) for line in thresher("export", "solar", "--text").stdout.splitlines()]
    by_title = {row["title"]: row for row in rows}
    assert len(rows) == len(by_title) == 4  # every page once, as it is now
    assert ("New." in by_title["Lively"]["text"], "One." in by_title["Steady"]["text"]) == (True, True)
    assert (by_title["Leaving"]["gone"], by_title["Lively"]["depth"]) == (True, 1)
    assert by_title["Steady"]["checked_at"] > by_title["Steady"]["fetched_at"]


def test_new_links_wait_for_the_next_usual_run(later, solar_site, thresher):
    thresher("run", "solar")
    assert [path for path in solar_site.paths if path != "/robots.txt"] == ["/new"]
    assert changes(thresher) == {"Lively": "changed", "Leaving": "gone", "New": "new"}
    why = json.loads(thresher("why", "solar", solar_site.url("/new"), "--json").stdout)
    assert [page["title"] for page in why["path"]] == ["Seed", "Lively", "New"]


def test_each_refresh_looks_anew_at_the_given_number_of_pages(later, solar_site, thresher):
    thresher("run", "solar", "--refresh", "--pages", 2)
    visited = [path for path in solar_site.paths if path != "/robots.txt"]
    assert len(visited) == 2
    assert "/leaving" not in visited
    assert changes(thresher) == {}


def test_what_cannot_be_refreshed_is_refused_with_words(solar_site, thresher, tmp_path):
    thresher("new", "solar", "--topic", "perovskite solar cells", "--seed", solar_site.url("/"))
    refused = thresher("run", "solar", "--refresh")
    assert refused.returncode == 4
    assert "no pages to visit again yet: thresher run" in refused.stderr
    assert "was never refreshed" in thresher("changes", "solar").stderr


def test_a_new_crawl_starts_from_the_hubs_of_an_earlier_one(crawl, solar_site, thresher, tmp_path):
    made = thresher("new", "again", "--from", "solar")
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "again" / "seeds.txt").read_text().split() == [solar_site.url("/")]
    quick(tmp_path / "again")
    assert thresher("run", "again").returncode == 0
    rows = [json.loads(line) for line in thresher("export", "again").stdout.splitlines()]
    assert {row["title"] for row in rows} == {"Seed", "Steady", "Lively", "Leaving"}

"""One web, two crawls and one dashboard for all tests of this folder; a browser for each file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from testing.screens import world
from testing.screens.browser import CHROMIUM, NO_CHROMIUM, chromium, visitor

FIRST_PAGES = {"music": 100, "stars": 30}


@dataclass(frozen=True)
class Watched:
    """A dashboard, and the folders that it shows."""

    dashboard: world.Dashboard
    folders: dict[str, Path]


@pytest.fixture(scope="package")
def watched(tmp_path_factory):
    """Two crawls that have begun, and the dashboard over both."""
    if CHROMIUM is None:
        pytest.skip(NO_CHROMIUM)
    web = world.made_up_web()
    with world.served(web, latency_seconds=0.02) as places:
        folders = world.write_crawls(tmp_path_factory.mktemp("crawls"), web, places)
        for name, pages in FIRST_PAGES.items():
            world.crawl(folders[name], pages)
        with world.dashboard(list(folders.values())) as dashboard:
            yield Watched(dashboard, folders)
        for folder in folders.values():
            world.stop(folder)


@pytest.fixture(scope="module")
def browser(watched):
    """A browser; it ends with the file, for its event loop would be in the way of others."""
    with chromium() as running:
        yield running


@pytest.fixture
def look(browser, watched):
    """Opens windows; at the end none of them may have met an error."""
    opened = []

    def open_window(**options):
        opened.append(visitor(browser, watched.dashboard, **options))
        return opened[-1]

    yield open_window
    for each in opened:
        each.context.close()
        assert each.complaints.messages == []

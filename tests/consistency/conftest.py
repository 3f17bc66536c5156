"""The command line, a small site on loopback and a real Redis server, as the end-to-end tests have them.

Crawls that have ended are made once: a test gets a copy, and may do with it what it likes.
"""

import pytest

from tests.consistency.stores import Begun, Ended
from tests.e2e.conftest import serving, site, thresher

__all__ = ["site", "thresher"]


@pytest.fixture(scope="session")
def ended_here(tmp_path_factory):
    """A crawl of a small site that has ended on this machine."""
    with serving() as site:
        yield Ended.make(site, tmp_path_factory.mktemp("ended"))


@pytest.fixture(scope="session")
def ended_in_store(tmp_path_factory):
    """A crawl of a small site that has ended in a shared store."""
    with serving() as site:
        yield Begun.make(site, tmp_path_factory.mktemp("begun"))

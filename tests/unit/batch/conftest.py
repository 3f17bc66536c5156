"""A small crawl, made once."""

import shutil

import pytest

from tests.unit.batch.batch_crawl import make_crawl
from thresher.crawl import CrawlSetup


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    return make_crawl(tmp_path_factory.mktemp("batch") / "small").folder.root


@pytest.fixture
def crawl(made, tmp_path):
    """A copy of the crawl, to be changed."""
    return CrawlSetup.open(shutil.copytree(made, tmp_path / "crawl"))

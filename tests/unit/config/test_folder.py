"""A folder knows who runs it and which crawl it works for."""

import os

import pytest

from thresher.config.folder import CrawlFolder
from thresher.config.run_options import RunOptions
from thresher.errors import ConfigError, CrawlBusy


def test_who_runs_a_crawl_is_known_while_it_runs(tmp_path):
    folder = CrawlFolder(tmp_path)
    assert folder.runner() == 0
    with folder.only_one_run():
        assert folder.runner() == os.getpid()
        with pytest.raises(CrawlBusy), folder.only_one_run():
            pass
        assert folder.runner() == os.getpid()
    assert folder.runner() == 0


def test_one_process_at_a_time_watches_a_crawl_also_while_it_runs(tmp_path):
    folder = CrawlFolder(tmp_path)
    busy = pytest.raises(ConfigError, match="watched by another process")
    with folder.only_one_run(), folder.only_one_watch(), busy, folder.only_one_watch():
        pass
    with folder.only_one_watch():
        assert folder.runner() == 0


def test_a_folder_that_joined_a_crawl_says_which(tmp_path):
    folder = CrawlFolder(tmp_path)
    assert folder.joined_options() == RunOptions()
    folder.join(RunOptions(store="redis://h/0", name="solar", refresh=True))
    assert folder.joined_options() == RunOptions(store="redis://h/0", name="solar")


@pytest.mark.parametrize("content", ["", "x", "7", "[1]"])
def test_a_note_that_cannot_be_read_is_named(tmp_path, content):
    (tmp_path / "joined.json").write_text(content)
    with pytest.raises(ConfigError, match=r"joined\.json cannot be read"):
        CrawlFolder(tmp_path).joined_options()

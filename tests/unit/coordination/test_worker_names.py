"""Names of machines are plain, stay the same, and are nobody else's."""

import re

import pytest

from thresher.config.folder import CrawlFolder
from thresher.coordination.worker_names import machine_id, machine_name, plain, worker_names

ODD = ["../../etc", "a b", "a_b", "A-b", "机器", "x" * 300, "x" * 301, "", "a\n", "-", "a/b", ".."]


@pytest.mark.parametrize("name", ODD)
def test_a_name_that_must_be_changed_fits_files_and_keys(name):
    assert re.fullmatch(r"[a-z0-9-]{1,48}", plain(name))


def test_names_that_must_be_changed_stay_apart():
    assert len({plain(name) for name in [*ODD, "a-b", "x" * 40]}) == len(ODD) + 2


def test_a_plain_name_stays_as_it_is():
    assert plain("crawler-7") == "crawler-7"


def test_a_machine_keeps_its_name_and_two_folders_of_one_host_differ(tmp_path):
    one, two = CrawlFolder(tmp_path / "one"), CrawlFolder(tmp_path / "two")
    one.root.mkdir()
    two.root.mkdir()
    assert machine_name(one) == machine_name(one) != machine_name(two)
    assert machine_name(one).endswith(machine_id(one))


def test_a_name_that_is_given_is_used_and_workers_are_numbered(tmp_path):
    assert worker_names(machine_name(CrawlFolder(tmp_path), "blue"), 2) == ["blue-w1", "blue-w2"]


def test_a_mark_that_was_changed_by_hand_is_made_plain(tmp_path):
    (tmp_path / ".machine").write_text("../x")
    assert re.fullmatch(r"[a-z0-9-]+", machine_id(CrawlFolder(tmp_path)))

"""Rows R8, R9, R12, R15 and R16 in their short form; `make faults` runs the long one."""

import shutil
import subprocess
from contextlib import nullcontext

import pytest

from testing.servers import store_server
from tests.faults.collection import killed_parquet, killed_while_writing
from tests.faults.collection_cuts import full_disk, power_cuts
from tests.faults.collection_parts import (
    OLD_SCHEMAS,
    disagree,
    disagree_by_default,
    refused_words,
    take_waiting,
    upgraded,
)


def can_mount():
    """Whether this user may have a file system of its own."""
    command = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return shutil.which("unshare") and subprocess.run(command, capture_output=True).returncode == 0


def test_a_killed_writer_tears_at_most_one_record_and_repair_leaves_none():
    killed = killed_while_writing(300, 6)
    assert killed.kills == 6
    assert killed.held, killed


def test_a_killed_export_never_shows_half_a_parquet_file():
    assert killed_parquet(2) == (2, 0)


def test_after_a_power_cut_databases_open_and_repair_leaves_nothing_wrong():
    cuts = power_cuts(5000, 5)
    assert len(cuts) == 5
    assert all(cut.damaged == cut.wrong == 0 for cut in cuts), cuts


@pytest.mark.skipif(not can_mount(), reason="needs user namespaces, to have a small disk")
def test_a_full_disk_ends_a_worker_with_3_leaves_no_half_record_and_it_goes_on_when_there_is_room():
    printed = full_disk(1, 300)
    assert printed["code"] == 3, printed
    assert printed["torn"] == 0
    assert printed["code_again"] == 0
    assert printed["clean"]
    assert printed["missing"] == 0


@pytest.mark.parametrize("version", OLD_SCHEMAS)
def test_a_crawl_of_an_earlier_format_goes_on(version):
    assert upgraded(version, 20) == 20


@pytest.mark.parametrize("name", ["frontier.db", "pages/w1.db"])
def test_a_crawl_of_a_later_format_is_refused_with_words(name):
    assert "newer Thresher" in refused_words(name, 99)


def test_parts_that_disagree_are_brought_to_agree():
    seen = disagree(200, 0.1)
    assert seen.found > 0
    assert seen.left == seen.unknown == 0, seen
    assert seen.archived.missing == seen.archived.unreadable == 0, seen


@pytest.mark.parametrize("kind", ["", "redis"], ids=["file", "store"])
def test_waiting_urls_that_are_deleted_are_named_and_fetched_after_a_repair(kind, tmp_path):
    with store_server(kind, tmp_path) if kind else nullcontext() as server:
        seen = take_waiting(200, server.url if server else "")
    assert seen.found == seen.taken > 0, seen
    assert seen.left == seen.missing == 0, seen


def test_parts_that_disagree_are_brought_to_agree_with_default_output():
    seen = disagree_by_default(200, 0.1)
    assert seen.found > 0
    assert seen.left == seen.missing == 0, seen
    assert seen.pages == 200, "no page counts twice"

"""thresher batch runs a job, says what it found, and writes back only when no run is under way."""

import json

import pyarrow.parquet as pq
import pytest

from tests.unit.batch.batch_crawl import PAGES, make_crawl


@pytest.fixture(scope="module")
def crawl(tmp_path_factory):
    return make_crawl(tmp_path_factory.mktemp("batch") / "small")


def test_a_job_writes_its_file_and_prints_its_numbers(crawl, shell, tmp_path):
    code, out, _ = shell("batch", "duplicates", crawl.folder.root, "-o", tmp_path / "groups.parquet", "--json")
    assert code == 0
    assert json.loads(out)["counts"] == {"pages": PAGES, "groups": 6, "near_duplicates": 6}
    assert pq.read_table(tmp_path / "groups.parquet").num_rows == PAGES


def test_judgements_are_not_written_back_while_a_run_is_under_way(crawl, shell, tmp_path):
    with crawl.folder.only_one_run():
        code, _, err = shell("batch", "rejudge", crawl.folder.root, "-o", tmp_path / "new.parquet", "--apply")
    assert code != 0
    assert "is under way" in err
    assert not (tmp_path / "new.parquet").exists()


def test_judgements_that_are_written_back_are_counted(crawl, shell, tmp_path):
    code, out, err = shell("batch", "rejudge", crawl.folder.root, "-o", tmp_path / "new.parquet", "--apply")
    assert code == 0
    assert f"{PAGES} pages" in out
    assert "judgements written to the pages of this machine" in err
    assert "of pages of other machines" in err


def test_only_rejudge_has_something_to_apply(crawl, shell, tmp_path):
    code, _, err = shell("batch", "links", crawl.folder.root, "-o", tmp_path / "links.parquet", "--apply")
    assert code == 2
    assert "only rejudge" in err

"""thresher batch runs a job, says what it found, and writes back only when no run is under way."""

import json
import sqlite3
import sys
from contextlib import closing

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


@pytest.mark.parametrize(
    ("job", "column"), [("rejudge", "terms"), ("duplicates", "text"), ("duplicates", "markup"), ("links", "links")]
)
def test_damaged_pages_are_counted_and_the_code_is_not_0(shell, tmp_path, job, column):
    root, result = make_crawl(tmp_path / "small").folder.root, tmp_path / "result.parquet"
    with closing(sqlite3.connect(root / "pages" / "w1.db")) as db, db:
        damaged = bytes.fromhex("28b52ffd00") + bytes(20)
        spoiled = db.execute(f"UPDATE page SET {column} = ? WHERE id % 3 = 0", [damaged]).rowcount
    code, out, err = shell("batch", job, root, "-o", result)
    assert code == 1, err
    assert f"{PAGES} pages" in out, err
    assert f"{spoiled} pages could not be read and are left out: what is stored of them is damaged." in err
    assert f"Repair them: thresher verify {root} --repair" in err
    assert pq.read_table(result)["unreadable"].to_pylist().count(True) == spoiled
    code, out, _ = shell("batch", job, root, "-o", result, "--json")
    assert (code, json.loads(out)["unreadable"]) == (1, spoiled)
    if job == "rejudge":
        assert json.loads(out)["counts"]["judged"] == PAGES - spoiled


def test_pages_of_which_too_little_is_stored_are_counted(shell, tmp_path):
    root = make_crawl(tmp_path / "small").folder.root
    with closing(sqlite3.connect(root / "pages" / "w1.db")) as db, db:
        db.execute(
            "UPDATE page SET terms = NULL, text = NULL WHERE id BETWEEN 2 AND 5"
        )  # the first page was fetched again
    code, _, err = shell("batch", "rejudge", root, "-o", tmp_path / "result.parquet")
    assert (code, "4 pages could not be judged: too little of them is stored" in err) == (0, True), err


@pytest.mark.parametrize(
    ("package", "extra", "words"), [("pyarrow", "parquet", []), ("ray", "ray", ["--ray", "local"])]
)
def test_a_missing_package_is_named_with_its_extra(crawl, shell, monkeypatch, tmp_path, package, extra, words):
    monkeypatch.setitem(sys.modules, package, None)
    code, _, err = shell("batch", "links", crawl.folder.root, "-o", tmp_path / "links.parquet", *words)
    assert code == 4
    assert f'needs {package}: pip install "thresher-crawler[{extra}]"' in err
    assert not (tmp_path / "links.parquet").exists()

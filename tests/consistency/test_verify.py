"""verify compares what is done with what is stored, with default output, and queues again what is missing."""

import json
import sqlite3
from contextlib import closing

import pytest

from testing.commands import called
from tests.consistency.stores import PAGES, Shell


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path)


@pytest.fixture
def site(ended_here):
    """The site of the crawl that has ended."""
    return ended_here.site


@pytest.fixture
def ended(ended_here, shell):
    """A crawl with default output that has fetched all pages of its site."""
    return ended_here.copied(shell.folder)


def segment(folder):
    [path] = (folder / "pages").glob("*.db")
    return path


def verified(shell, *options):
    done = called("verify", "solar", "--json", *options, folder=shell.folder)
    return done.returncode, json.loads(done.stdout)


def fetched(site):
    return sorted(path for path in site.paths if path != "/robots.txt")


def exported(shell):
    return len(called("export", "solar", "-f", "jsonl", folder=shell.folder).stdout.splitlines())


def check_repaired(site, shell, missing):
    """Check that the missing pages are found, queued again, fetched by the next run, and that the parts agree then."""
    code, report = verified(shell)
    assert code == 1
    assert not report["clean"]
    code, report = verified(shell, "--repair")
    assert (code, report["clean"]) == (0, True)
    assert shell("run", "solar").returncode == 0
    assert len(fetched(site)) == missing
    agreed = called("verify", "solar", folder=shell.folder)
    assert (agreed.returncode, agreed.stdout.splitlines()[-1]) == (0, "all parts agree")
    assert exported(shell) == PAGES
    assert json.loads(called("status", "solar", "--json", folder=shell.folder).stdout)["pages"] == PAGES


def test_a4_rows_that_were_deleted_are_found_and_fetched_again(ended, site, shell):
    with closing(sqlite3.connect(segment(ended))) as db:
        db.execute("DELETE FROM page WHERE id <= 3")
        db.commit()
    check_repaired(site, shell, 3)


def test_a4_a_page_store_that_was_deleted_is_fetched_again(ended, site, shell):
    for path in (ended / "pages").glob("*"):
        path.unlink()
    check_repaired(site, shell, PAGES)


def test_a4_overwritten_blocks_of_a_segment_are_found_and_their_pages_fetched_again(ended, site, shell):
    path = segment(ended)
    content = bytearray(path.read_bytes())
    blocks = len(content) // 4096
    for block in range(blocks // 2, blocks):
        content[block * 4096 : (block + 1) * 4096] = b"\xa5" * 4096
    path.write_bytes(content)
    saved = len(saved_rows(shell, ended))
    assert shell("run", "solar").returncode == 0
    assert len(fetched(site)) == PAGES - saved
    assert exported(shell) == PAGES


def saved_rows(shell, folder):
    code, report = verified(shell)
    assert code == 1
    assert report["unchecked"], "what could not be compared is named"
    assert verified(shell, "--repair")[0] == 0
    assert (folder / "pages" / f"{segment(folder).name}.damaged").exists()
    with closing(sqlite3.connect(segment(folder))) as db:
        return db.execute("SELECT DISTINCT fingerprint FROM page WHERE page = 1").fetchall()


def test_a4_a_row_whose_contents_are_spoiled_is_fetched_again(ended, site, shell):
    with closing(sqlite3.connect(segment(ended))) as db:
        db.execute("UPDATE page SET links = ? WHERE id = 1", [b"\x00spoiled"])
        db.commit()
    check_repaired(site, shell, 1)


def test_a4_a_crawl_in_a_shared_store_is_repaired_as_far_as_something_names_its_pages(ended_in_store, shell):
    with ended_in_store.copied(shell.folder):
        with closing(sqlite3.connect(segment(shell.folder / "solar"))) as db:
            db.execute("DELETE FROM page WHERE url LIKE '%/0' OR url LIKE '%/2' OR url LIKE '%/6'")
            db.commit()
        code, report = verified(shell)
        assert (code, report["unchecked"]) == (1, [])
        assert verified(shell, "--repair")[0] == 1, "/2 and /6 are linked from lost pages only"
        for _ in range(2):
            shell("run", "solar")
            code, report = verified(shell, "--repair")
        shell("run", "solar")
        assert fetched(ended_in_store.site) == ["/0", "/2", "/6"]
        assert called("verify", "solar", folder=shell.folder).stdout.splitlines()[-1] == "all parts agree"

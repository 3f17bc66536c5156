"""The index follows the page store, whatever happens to either."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing

import pytest

from tests.unit.search.conftest import page
from thresher.errors import DiskFull, StoreError
from thresher.records import Judgement, Revision
from thresher.search.index import SearchIndex
from thresher.search.query import SearchQuery
from thresher.urls.canonical import fingerprint


def test_segments_of_all_workers_are_searched_as_one(world):
    world.keep(page("1", "tidal power plants"), worker="w1")
    world.keep(page("2", "tidal basins and tidal flats"), worker="w2")
    assert sorted(world.find("tidal")) == ["1", "2"]


def test_pages_that_came_since_the_last_search_are_found(world):
    world.keep(page("1", "tidal power"))
    assert world.find("tidal") == ["1"]
    world.keep(page("2", "tidal mills"))
    assert sorted(world.find("tidal")) == ["1", "2"]


def test_only_what_is_new_is_read(world):
    world.keep(page("1", "tidal power"), page("2", "wind"))
    assert world.index.catch_up() == 2
    assert world.index.catch_up() == 0
    world.keep(page("3", "waves"))
    assert world.index.catch_up() == 1


def test_revisions_of_the_judge_change_the_order(world):
    world.keep(page("1", "tidal power", relevance=0.9), page("2", "tidal power mills", relevance=0.05))
    assert world.find("tidal power")[0] == "1"
    thought = {"1": 0.01, "2": 0.8}
    for name, relevance in thought.items():
        judgement = Judgement(relevance=relevance, relevant=relevance > 0.5)
        world.writers["w1"].apply_revisions([Revision(url=f"http://a.example/{name}", judgement=judgement)])
    assert world.find("tidal power")[0] == "2"


def test_a_page_fetched_again_is_found_by_its_new_text_only(world):
    world.keep(page("1", "tidal power", at=1.0))
    assert world.find("tidal") == ["1"]
    world.keep(page("1", "wind power", at=2.0), worker="w2")
    assert world.find("tidal") == []
    assert world.find("wind") == ["1"]
    assert world.index.pages() == 1


def test_an_older_row_of_another_worker_does_not_come_back(world):
    world.keep(page("1", "wind power", at=2.0), worker="w1")
    world.keep(page("1", "tidal power", at=1.0), worker="w2")
    assert world.find("tidal") == []


def test_a_page_whose_text_was_not_kept_is_not_found(world):
    world.keep(page("1", "", title="tidal"), page("2", "tidal", page=False))
    assert world.find("tidal") == []


def test_an_index_that_went_missing_is_made_anew(world):
    world.keep(page("1", "tidal power"))
    assert world.find("tidal") == ["1"]
    world.index.close()
    world.index.path.unlink()
    world.reopen()
    assert world.find("tidal") == ["1"]


@pytest.mark.parametrize("damage", [b"not a database at all", b"SQLite format 3\0" + b"\xff" * 5000, b""])
def test_a_damaged_index_is_made_anew(world, damage):
    world.keep(page("1", "tidal power"))
    assert world.find("tidal") == ["1"]
    world.index.close()
    world.index.path.write_bytes(damage)
    world.reopen()
    assert world.find("tidal") == ["1"]


def test_an_index_with_a_page_of_garbage_inside_is_made_anew(world):
    world.keep(*(page(str(number), f"tidal power {number} " + "waves " * 50) for number in range(300)))
    assert world.find("299")[0] == "299"
    world.index.close()
    data = bytearray(world.index.path.read_bytes())
    data[4096 * 3 :] = b"\xee" * (len(data) - 4096 * 3)
    world.index.path.write_bytes(data)
    world.reopen()
    assert world.find("299")[0] == "299"


def test_an_index_of_another_version_is_made_anew(world):
    world.keep(page("1", "tidal power"))
    assert world.find("tidal") == ["1"]
    world.index.close()
    db = sqlite3.connect(world.index.path)
    db.execute("DROP TABLE anchor")
    db.execute("PRAGMA user_version = 99")
    db.close()
    world.reopen()
    assert world.find("tidal") == ["1"]


def test_an_index_that_knows_more_than_the_page_store_is_made_anew(world):
    world.keep(page("1", "tidal power"), page("2", "tidal mills"))
    assert len(world.find("tidal")) == 2
    world.writers.pop("w1").close()
    for file in (world.root / "pages").iterdir():
        file.unlink()
    world.keep(page("3", "tidal flats"))
    assert world.find("tidal") == ["3"]


def test_an_index_mostly_of_old_versions_is_made_anew(world):
    for time in range(1, 7):
        world.keep(page("1", f"tidal power {time}", at=float(time)), worker=f"w{time % 2}")
        assert world.find("tidal") == ["1"]
    with closing(sqlite3.connect(world.index.path)) as db:
        assert db.execute("SELECT count(*) FROM doc").fetchone()[0] <= 2


def test_a_folder_without_pages_has_no_answers(world):
    assert world.find("tidal") == []


def test_while_another_process_writes_what_is_there_is_searched(world):
    world.keep(page("1", "tidal power"))
    assert world.find("tidal") == ["1"]
    with SearchIndex(world.root, world.root / "pages") as other, other._write_lock():
        world.keep(page("2", "tidal mills"))
        assert world.index.catch_up() is None
        assert len(world.index.search(SearchQuery.read("tidal"))) == 1


def test_a_folder_that_cannot_be_written_is_searched_by_a_temporary_index(world, monkeypatch):
    world.keep(page("1", "tidal power"))
    monkeypatch.setattr("thresher.search.index.os.access", lambda *_: False)
    world.reopen()
    assert world.find("tidal") == ["1"]
    assert not (world.root / "search.db").exists()
    place = world.index.path.parent
    world.index.close()
    assert not place.exists()


def test_a_page_store_of_a_newer_thresher_is_refused_with_words(world):
    world.keep(page("1", "tidal power"))
    db = sqlite3.connect(world.root / "pages" / "w1.db")
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(StoreError, match="has format 99"):
        world.index.catch_up()


def test_the_group_of_a_page_begins_with_its_representative(world):
    text = " ".join(f"word{number}" for number in range(100))
    world.keep(page("1", text, relevance=0.05, at=1.0), page("2", text, at=3.0), page("3", text, at=2.0))
    world.index.catch_up()
    representative = [fingerprint(f"http://a.example/{number}") for number in (3, 2, 1)]
    assert list(world.index.group(representative[2])) == representative


def test_a_killed_intake_goes_on_where_it_was(world):
    world.keep(*(page(str(number), f"tidal power number{number}") for number in range(1_200)))
    script = textwrap.dedent(f"""
        import pathlib
        from thresher.search.index import SearchIndex
        root = pathlib.Path({str(world.root)!r})
        SearchIndex(root, root / "pages").catch_up(lambda rows: print(rows, flush=True))
    """)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        reached = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
    left = world.index.catch_up()
    assert left <= 1_200 - reached
    assert world.index.pages() == 1_200
    assert world.find("number1199")[0] == "1199"


def test_a_damaged_segment_is_named_and_the_index_stays(world):
    world.keep(page("1", "tidal power"))
    assert world.find("tidal") == ["1"]
    (world.root / "pages" / "w2.db").write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreError, match=r"w2\.db cannot be read: .*thresher verify --repair"):
        world.index.catch_up()
    assert len(world.index.search(SearchQuery.read("tidal"))) == 1


def test_a_full_disk_is_called_by_its_name_and_nothing_is_half_in_the_index(world):
    world.keep(*(page(str(number), f"tidal power {number} " + f"waves{number} " * 200) for number in range(400)))
    db = world.index._opened()
    db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0] + 20}")
    with pytest.raises(DiskFull):
        world.index.catch_up()
    db.execute("PRAGMA max_page_count = 1000000")
    assert world.find("waves399") == ["399"]
    assert world.index.pages() == 400

import sqlite3
import time

import pytest

from thresher.frontier.sqlite import database as clock_module
from thresher.frontier.sqlite.database import boot_clock
from thresher.frontier.sqlite.frontier import SqliteFrontier
from thresher.records import Candidate, Outcome, Settlement


@pytest.fixture
def db():
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute("CREATE TABLE clock (start TEXT, began REAL)")
    yield db
    db.close()


def test_it_shows_the_time(db):
    assert abs(boot_clock(db)() - time.time()) < 1


def test_a_wall_clock_that_is_set_changes_nothing(db, monkeypatch):
    clock = boot_clock(db)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3600)
    assert abs(clock() - now) < 1
    assert abs(boot_clock(db)() - now) < 1  # nor for a process that starts later


def test_after_a_restart_of_the_machine_it_begins_anew(db, monkeypatch, tmp_path):
    boot_clock(db)
    (tmp_path / "boot_id").write_text("another start\n")
    monkeypatch.setattr(clock_module, "_BOOT_ID", tmp_path / "boot_id")
    monkeypatch.setattr(time, "time", lambda: 5_000_000_000.0)
    assert abs(boot_clock(db)() - 5_000_000_000.0) < 1
    assert db.execute("SELECT count(*) FROM clock").fetchone() == (1,)


def test_where_starts_are_not_distinguished_the_wall_clock_must_do(db, monkeypatch, tmp_path):
    monkeypatch.setattr(clock_module, "_BOOT_ID", tmp_path / "none")
    assert boot_clock(db) is time.time


async def test_no_wait_grows_shorter_when_the_clock_is_set_ahead(tmp_path, monkeypatch):
    frontier = SqliteFrontier(tmp_path / "frontier.db")
    await frontier.add([Candidate(url=f"https://a.example/{n}", score=0.5) for n in range(2)])
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE, delay_seconds=30.0)])
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3600)
    late = SqliteFrontier(tmp_path / "frontier.db")
    assert await late.lease(1, seconds=60) == []
    assert 25 < await late.seconds_to_next() <= 30
    await late.close()
    await frontier.close()

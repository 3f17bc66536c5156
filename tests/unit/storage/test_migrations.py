"""Segments that earlier versions wrote are read as they are, and brought up to date when they are written on."""

import sqlite3
from contextlib import closing

import pytest
import zstandard

from tests.unit.storage.test_collection import page
from thresher.errors import StoreError
from thresher.reasons.legacy import legacy_reason
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import UsageSignal
from thresher.storage.migrations import ONE_RELEVANCE, SCHEMA_VERSION, check_all
from thresher.storage.page_store import PageStoreWriter
from thresher.storage.reader import PageStoreReader

FIRST = """
CREATE TABLE page (
    id INTEGER PRIMARY KEY, fingerprint INTEGER NOT NULL, url TEXT NOT NULL, status INTEGER NOT NULL,
    outcome TEXT NOT NULL, reason TEXT NOT NULL, page INTEGER NOT NULL, score REAL NOT NULL, parent INTEGER NOT NULL,
    depth INTEGER NOT NULL, title TEXT NOT NULL, language TEXT NOT NULL, relevance REAL NOT NULL,
    relevant INTEGER NOT NULL, parts TEXT, text_hash INTEGER NOT NULL, duplicate_of INTEGER NOT NULL,
    fetched_at REAL NOT NULL, elapsed_seconds REAL NOT NULL, bytes INTEGER NOT NULL, text BLOB, links BLOB
);
CREATE INDEX page_fingerprint ON page (fingerprint);
INSERT INTO page (fingerprint, url, status, outcome, reason, page, score, parent, depth, title, language, relevance,
    relevant, text_hash, duplicate_of, fetched_at, elapsed_seconds, bytes)
VALUES (1, 'http://a.example/1', 200, 'done', '', 1, 0, 0, 0, 'old', '', 0.5, 1, 0, 0, 1, 0, 0);
"""
SEGMENTS = {
    1: FIRST,
    2: FIRST.replace("parts TEXT", "probability REAL, parts TEXT"),
    4: FIRST.replace(
        "parts TEXT",
        "reward REAL NOT NULL DEFAULT 0.25, parts TEXT, etag TEXT NOT NULL DEFAULT '', "
        "last_modified TEXT NOT NULL DEFAULT '', main BLOB, terms BLOB",
    ),
}


@pytest.fixture(params=SEGMENTS)
def segment(request, tmp_path):
    path = tmp_path / "w1.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"{SEGMENTS[request.param]} PRAGMA user_version = {request.param};")
    return path


def version(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("PRAGMA user_version").fetchone()[0]


def test_an_old_segment_is_read_and_left_as_it_is(segment):
    was = version(segment)
    with PageStoreReader(segment.parent) as collection:
        [record] = collection.ranked()
    assert (record.title, record.terms, record.etag, record.last_modified) == ("old", b"", "", "")
    assert version(segment) == was


def test_an_old_segment_has_its_own_reward_since_there_is_one(segment):
    was = version(segment)
    with PageStoreReader(segment.parent) as collection:
        before = [(record.relevance, record.reward) for record in collection.ranked()]
    PageStoreWriter(segment).close()
    with PageStoreReader(segment.parent) as collection:
        after = [(record.relevance, record.reward) for record in collection.ranked()]
    assert before == after == [(0.5, 0.25 if was >= ONE_RELEVANCE else 0.5)]


def test_the_main_text_of_an_old_segment_is_read_before_and_after_it_is_brought_up_to_date(tmp_path):
    path = tmp_path / "w1.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"{SEGMENTS[4]} PRAGMA user_version = 4;")
        db.execute("UPDATE page SET main = ?", [zstandard.compress("钙钛矿".encode())])
        db.commit()
    with PageStoreReader(tmp_path) as collection:
        assert collection.content(1).text == "钙钛矿"
    PageStoreWriter(path).close()
    with PageStoreReader(tmp_path) as collection:
        assert collection.content(1).text == "钙钛矿"


def test_an_old_segment_is_written_on(segment):
    with closing(PageStoreWriter(segment)) as writer:
        writer.write([page(2, relevance=0.99, reward=0.4, etag='"e"')])
    with PageStoreReader(segment.parent) as collection:
        assert [(record.title, record.etag) for record in collection.ranked()] == [("", '"e"'), ("old", "")]
    assert version(segment) == SCHEMA_VERSION


def test_a_segment_that_is_up_to_date_is_opened_again(tmp_path):
    for number in (1, 2):
        with closing(PageStoreWriter(tmp_path / "w1.db")) as writer:
            writer.write([page(number)])
    with PageStoreReader(tmp_path) as collection:
        assert len(list(collection.ranked())) == 2


def test_a_segment_that_cannot_be_brought_up_to_date_stays_whole(segment):
    with closing(sqlite3.connect(segment)) as db:
        db.execute("ALTER TABLE page ADD COLUMN markup BLOB")
        columns = list(db.execute("PRAGMA table_info(page)"))
    was = version(segment)
    with pytest.raises(sqlite3.OperationalError, match="duplicate column"):
        PageStoreWriter(segment)
    with closing(sqlite3.connect(segment)) as db:
        assert list(db.execute("PRAGMA table_info(page)")) == columns
    assert version(segment) == was


def test_segments_are_checked_before_anything_is_written(tmp_path, segment):
    check_all(segment.parent)
    (tmp_path / "w2.db").write_bytes(b"no database, which is another matter" * 30)
    check_all(segment.parent)
    with closing(sqlite3.connect(segment)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer Thresher"):
        check_all(segment.parent)


def test_a_segment_of_any_earlier_format_has_neither_block_pages_nor_opt_outs_and_can_be_given_them(segment):
    with PageStoreReader(segment.parent) as collection:
        [record] = collection.ranked()
    assert (record.blocked, record.opt_outs, record.signals) == ("", (), ())
    writer = PageStoreWriter(segment)
    signals = (UsageSignal("header", "tdm-reservation", "1"), UsageSignal("markup", "robots", "noai ✓"))
    writer.write([page(2, blocked="login", page=False), page(3, opt_outs=("noai", "tdm"), signals=signals)])
    writer.close()
    with PageStoreReader(segment.parent) as collection:
        assert collection.find(2).blocked == "login"
        assert collection.find(3).opt_outs == ("noai", "tdm")
        assert collection.find(3).signals == signals


def test_a_segment_with_typed_reasons_and_without_signals_keeps_its_reasons(tmp_path):
    path = tmp_path / "w1.db"
    gone = Reason.of(ReasonKind.HTTP, 404)
    with closing(PageStoreWriter(path)) as writer:
        writer.write([page(1, page=False, reason=gone, opt_outs=("tdm",))])
    with closing(sqlite3.connect(path)) as db:
        db.executescript("ALTER TABLE page DROP COLUMN signals; PRAGMA user_version = 8;")
    for _ in range(2):
        with PageStoreReader(tmp_path) as collection:
            [record] = collection.history(1)
        assert (record.reason, record.opt_outs, record.signals) == (gone, ("tdm",), ())
        PageStoreWriter(path).close()
    assert version(path) == SCHEMA_VERSION


TEXTS = ["", "http 404", "redirected to http://b.example/", "through a browser", "something else"]


def test_reasons_that_were_texts_are_read_and_converted_once(tmp_path):
    path = tmp_path / "w1.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"{SEGMENTS[4]} CREATE TABLE change (id INTEGER); PRAGMA user_version = 4;")
        db.execute("CREATE TRIGGER change_update AFTER UPDATE ON page BEGIN INSERT INTO change VALUES (new.id); END")
        columns = "url, status, outcome, score, parent, depth, title, language, relevance, relevant, text_hash, " + (
            "duplicate_of, elapsed_seconds, bytes"
        )
        for number, text in enumerate(TEXTS, 2):
            db.execute(
                f"INSERT INTO page (fingerprint, fetched_at, page, reason, {columns}) "
                f"SELECT ?, ?, 0, ?, {columns} FROM page WHERE fingerprint = 1",
                [number, number, text],
            )
        db.commit()
    expected = [legacy_reason(text) for text in TEXTS]
    for _ in range(3):
        with PageStoreReader(tmp_path) as collection:
            assert [collection.find(number).reason for number, _ in enumerate(TEXTS, 2)] == expected
            assert list(collection.gone_or_moved()) == [4]
        PageStoreWriter(path).close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT reason_kind, reason FROM page WHERE fingerprint = 3").fetchone() == ("http", "404")
        db.execute("UPDATE page SET title = 'new' WHERE fingerprint = 3")
        assert db.execute("SELECT count(*) FROM change").fetchone() == (1,)

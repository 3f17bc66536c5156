"""The segments of all workers read as one collection, also while they grow."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap

import pytest

from thresher.archive.collection import Collection
from thresher.archive.pages import FoundLink, PageRecord, PageWriter
from thresher.errors import StoreError
from thresher.records import Outcome


def page(number, *, relevance=0.5, parent=0, at=None, **more):
    return PageRecord(
        **{
            "fingerprint": number,
            "url": f"http://a.example/{number}",
            "status": 200,
            "outcome": Outcome.DONE,
            "fetched_at": float(number if at is None else at),
            "page": True,
            "parent": parent,
            "relevance": relevance,
            "relevant": relevance > 0.1,
            "parts": {"cosine en": relevance},
            **more,
        }
    )


def link(number, anchor="", score=0.5):
    return FoundLink(url=f"http://a.example/{number}", anchor=anchor, score=score, parts={"page": score})


@pytest.fixture
def writer(tmp_path):
    writer = PageWriter(tmp_path / "w1.db")
    yield writer
    writer.close()


def test_pages_of_two_workers_come_ranked_as_one(tmp_path, writer):
    other = PageWriter(tmp_path / "w2.db")
    writer.write([page(1, relevance=0.2), page(2, relevance=0.9)])
    other.write([page(3, relevance=0.5)])
    other.close()
    with Collection(tmp_path) as collection:
        assert [record.fingerprint for record in collection.ranked()] == [2, 3, 1]


def test_a_page_fetched_again_after_a_crash_appears_once(tmp_path, writer):
    writer.write([page(1, relevance=0.2)])
    writer.write([page(1, relevance=0.2, at=5)])
    with Collection(tmp_path) as collection:
        assert len(list(collection.ranked())) == 1
        assert collection.find(1).fetched_at == 5
        assert len(collection.history(1)) == 2


def test_failures_are_remembered_and_are_no_pages(tmp_path, writer):
    writer.write([page(1, page=False, outcome=Outcome.FAILED, reason="http 404", status=404)])
    with Collection(tmp_path) as collection:
        assert list(collection.ranked()) == []
        assert collection.find(1).reason == "http 404"


def test_duplicates_are_left_out_unless_asked_for(tmp_path, writer):
    writer.write([page(1), page(2, duplicate_of=1)])
    with Collection(tmp_path) as collection:
        assert [record.fingerprint for record in collection.ranked()] == [1]
        assert [record.fingerprint for record in collection.ranked(duplicates=True)] == [1, 2]


def test_the_path_leads_from_the_seed_with_anchors_and_parts(tmp_path, writer):
    writer.write([page(1, links=[link(2, "second", 0.7)]), page(2, parent=1, links=[link(3, "第三", 0.9)])])
    writer.write([page(3, parent=2)])
    with Collection(tmp_path) as collection:
        path = collection.path(3)
    assert [(hop.record.fingerprint, hop.anchor, hop.score) for hop in path] == [
        (1, "", 0.0),
        (2, "second", 0.7),
        (3, "第三", 0.9),
    ]
    assert path[2].parts == {"page": 0.9}


def test_a_circle_of_parents_ends(tmp_path, writer):
    writer.write([page(1, parent=2), page(2, parent=1)])
    with Collection(tmp_path) as collection:
        assert len(collection.path(1)) == 2


def test_text_and_links_come_back_as_they_were_kept(tmp_path, writer):
    writer.write([page(1, text="钙钛矿 cells \ud800", links=[link(2, "a")])])
    with Collection(tmp_path) as collection:
        assert collection.text(1) == "钙钛矿 cells ?"
        assert collection.links(1) == [link(2, "a")]
        assert collection.text(99) == ""


def test_a_reader_sees_pages_while_the_writer_goes_on(tmp_path, writer):
    with Collection(tmp_path) as collection:
        writer.write([page(1)])
        assert len(list(collection.ranked())) == 1


def test_a_segment_of_a_newer_format_is_refused_with_words(tmp_path, writer):
    writer.close()
    db = sqlite3.connect(tmp_path / "w1.db")
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(StoreError, match="has format 99, this Thresher reads up to 2"):
        Collection(tmp_path)
    with pytest.raises(StoreError, match="format 99"):
        PageWriter(tmp_path / "w1.db")


def test_what_was_kept_survives_kill_9(tmp_path):
    script = textwrap.dedent(f"""
        import pathlib, sys, time
        from thresher.archive.pages import PageRecord, PageWriter
        from thresher.records import Outcome
        writer = PageWriter(pathlib.Path({str(tmp_path)!r}) / "w1.db")
        for number in range(1, 100_000):
            writer.write([PageRecord(fingerprint=number, url=f"http://a/{{number}}", status=200, outcome=Outcome.DONE,
                                    fetched_at=1.0, page=True, text="x" * 2000)])
            print(number, flush=True)
    """)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        kept = [int(process.stdout.readline()) for _ in range(50)]
        os.kill(process.pid, signal.SIGKILL)
        kept += [int(line) for line in process.stdout]
    with Collection(tmp_path) as collection:
        assert all(collection.find(number) for number in kept)

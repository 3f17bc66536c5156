"""The segments of all workers read as one collection, also while they grow."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing

import pytest

from thresher.errors import StoreError
from thresher.reasons.legacy import legacy_reason
from thresher.records import Judgement, Outcome, Revision
from thresher.storage.page_store import UNCHANGED, FoundLink, PageRecord, PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import fingerprint


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
    writer = PageStoreWriter(tmp_path / "w1.db")
    yield writer
    writer.close()


def test_pages_of_two_workers_come_ranked_as_one(tmp_path, writer):
    other = PageStoreWriter(tmp_path / "w2.db")
    writer.write([page(1, relevance=0.2), page(2, relevance=0.9)])
    other.write([page(3, relevance=0.5)])
    other.close()
    with PageStoreReader(tmp_path) as collection:
        assert [record.fingerprint for record in collection.ranked()] == [2, 3, 1]


def test_a_page_fetched_again_after_a_crash_appears_once(tmp_path, writer):
    writer.write([page(1, relevance=0.2)])
    writer.write([page(1, relevance=0.2, at=5)])
    with PageStoreReader(tmp_path) as collection:
        assert len(list(collection.ranked())) == 1
        assert collection.find(1).fetched_at == 5
        assert len(collection.history(1)) == 2


def test_record_and_text_are_of_one_row_when_the_clock_was_set_back_between_two_fetches(tmp_path, writer):
    writer.write([page(1, at=500, text="before")])
    writer.write([page(1, at=5, text="after")])
    with PageStoreReader(tmp_path) as collection:
        [ranked] = collection.ranked()
        assert (ranked.fetched_at, collection.find(1).fetched_at, collection.text(1)) == (5, 5, "after")


def test_record_and_text_are_of_one_row_when_a_fetch_is_in_two_segments(tmp_path, writer):
    with closing(PageStoreWriter(tmp_path / "w2.db")) as other:
        writer.write([page(1, relevance=0.2, text="text")])
        other.write([page(1, relevance=0.9, text="text")])
    with PageStoreReader(tmp_path) as collection:
        [ranked] = collection.ranked()
        assert ranked.relevance == collection.find(1).relevance == 0.9


def test_failures_are_remembered_and_are_no_pages(tmp_path, writer):
    writer.write([page(1, page=False, outcome=Outcome.FAILED, reason=legacy_reason("http 404"), status=404)])
    with PageStoreReader(tmp_path) as collection:
        assert list(collection.ranked()) == []
        assert str(collection.find(1).reason) == "http 404"


def test_duplicates_are_left_out_unless_asked_for(tmp_path, writer):
    writer.write([page(1), page(2, duplicate_of=1)])
    with PageStoreReader(tmp_path) as collection:
        assert [record.fingerprint for record in collection.ranked()] == [1]
        assert [record.fingerprint for record in collection.ranked(duplicates=True)] == [1, 2]


def test_the_path_leads_from_the_seed_with_anchors_and_parts(tmp_path, writer):
    writer.write([page(1, links=[link(2, "second", 0.7)]), page(2, parent=1, links=[link(3, "第三", 0.9)])])
    writer.write([page(3, parent=2)])
    with PageStoreReader(tmp_path) as collection:
        path = collection.path(3)
    assert [(hop.record.fingerprint, hop.anchor, hop.score) for hop in path] == [
        (1, "", 0.0),
        (2, "second", 0.7),
        (3, "第三", 0.9),
    ]
    assert path[2].parts == {"page": 0.9}


def test_a_circle_of_parents_ends(tmp_path, writer):
    writer.write([page(1, parent=2), page(2, parent=1)])
    with PageStoreReader(tmp_path) as collection:
        assert len(collection.path(1)) == 2


def test_text_and_links_come_back_as_they_were_kept(tmp_path, writer):
    writer.write([page(1, text="钙钛矿 cells \ud800", links=[link(2, "a")])])
    with PageStoreReader(tmp_path) as collection:
        assert collection.text(1) == "钙钛矿 cells ?"
        assert collection.links(1) == [link(2, "a")]
        assert collection.text(99) == ""


def test_the_main_text_comes_back_and_is_all_text_when_it_was_not_separated(tmp_path, writer):
    writer.write(
        [page(1, text="menu 钙钛矿", main="钙钛矿"), page(2, text="all of it", main="all of it"), page(3, text="all")]
    )
    with PageStoreReader(tmp_path) as collection:
        assert [collection.content(number).text for number in (1, 2, 3)] == ["钙钛矿", "all of it", "all"]
        assert collection.text(1) == "menu 钙钛矿"


def test_a_reader_sees_pages_while_the_writer_goes_on(tmp_path, writer):
    with PageStoreReader(tmp_path) as collection:
        writer.write([page(1)])
        assert len(list(collection.ranked())) == 1


def test_a_segment_of_a_newer_format_is_refused_with_words(tmp_path, writer):
    writer.close()
    db = sqlite3.connect(tmp_path / "w1.db")
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(StoreError, match="has format 99, this Thresher reads up to 9"):
        PageStoreReader(tmp_path)
    with pytest.raises(StoreError, match="format 99"):
        PageStoreWriter(tmp_path / "w1.db")


def test_what_was_kept_survives_kill_9(tmp_path):
    script = textwrap.dedent(f"""
        import pathlib, sys, time
        from thresher.storage.page_store import PageRecord, PageStoreWriter
        from thresher.records import Outcome
        writer = PageStoreWriter(pathlib.Path({str(tmp_path)!r}) / "w1.db")
        for number in range(1, 100_000):
            writer.write([PageRecord(fingerprint=number, url=f"http://a/{{number}}", status=200, outcome=Outcome.DONE,
                                    fetched_at=1.0, page=True, text="x" * 2000)])
            print(number, flush=True)
    """)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        kept = [int(process.stdout.readline()) for _ in range(50)]
        os.kill(process.pid, signal.SIGKILL)
        kept += [int(line) for line in process.stdout]
    with PageStoreReader(tmp_path) as collection:
        assert all(collection.find(number) for number in kept)


def revised(url, relevance, reward):
    judgement = Judgement(relevance=relevance, relevant=relevance > 0.5, reward=reward, breakdown={"new": 1.0})
    return Revision(url=url, judgement=judgement)


def own(number, **more):
    url = f"http://a.example/{number}"
    return page(fingerprint(url), url=url, at=number, **more)


def test_what_is_thought_now_replaces_what_was_thought(tmp_path, writer):
    writer.write([own(1, relevance=0.9), own(2, relevance=0.2)])
    writer.apply_revisions([revised("http://a.example/1", 0.1, 0.05), revised("http://a.example/2", 0.8, 0.75)])
    with PageStoreReader(tmp_path) as collection:
        first, second = collection.ranked()
    assert (first.url, first.relevance, first.relevant, first.reward) == ("http://a.example/2", 0.8, True, 0.75)
    assert (second.relevant, second.parts) == (False, {"new": 1.0})


def test_a_revision_of_an_unknown_page_changes_nothing(tmp_path, writer):
    writer.write([own(1)])
    writer.apply_revisions([revised("http://b.example/", 0.9, 0.9)])
    with PageStoreReader(tmp_path) as collection:
        assert [record.relevance for record in collection.ranked()] == [0.5]


def test_relevant_pages_are_counted_as_they_are_judged_now(tmp_path, writer):
    writer.write([own(1, relevance=0.9), own(2, relevance=0.9), own(3, relevance=0.9, duplicate_of=1), own(1)])
    writer.apply_revisions([revised("http://a.example/2", 0.1, 0.05)])
    with PageStoreReader(tmp_path) as collection:
        assert collection.tally().relevant == 1


def test_of_two_visits_the_last_one_counts_whichever_worker_made_it(tmp_path, writer):
    other = PageStoreWriter(tmp_path / "w2.db")
    other.write([page(1, relevance=0.2, at=9, title="now", text="new", links=[link(3)])])
    other.close()
    writer.write([page(1, relevance=0.9, at=5, title="then", text="old", links=[link(2)]), page(2)])
    with PageStoreReader(tmp_path) as collection:
        assert [(record.title, record.relevance) for record in collection.ranked()] == [("", 0.5), ("now", 0.2)]
        assert (collection.find(1).title, collection.text(1)) == ("now", "new")
        assert collection.links(1) == [link(3)]


def test_a_page_that_lost_its_relevance_is_no_longer_counted(tmp_path, writer):
    writer.write([page(1, relevance=0.9, at=5), page(2, relevance=0.9), page(1, relevance=0.0, at=9)])
    with PageStoreReader(tmp_path) as collection:
        assert collection.tally().relevant == 1


def test_a_page_stays_when_a_later_visit_brought_none(tmp_path, writer):
    writer.write([page(1, text="text", etag='"a"')])
    writer.write([page(1, at=5, page=False, status=304, reason=UNCHANGED)])
    writer.write([page(1, at=9, page=False, status=404, reason=legacy_reason("http 404"), outcome=Outcome.FAILED)])
    with PageStoreReader(tmp_path) as collection:
        [record] = collection.ranked()
        assert (record.etag, collection.find(1), collection.text(1)) == ('"a"', record, "text")
        assert [visit.status for visit in collection.history(1)] == [200, 304, 404]


def test_no_page_comes_twice_when_it_is_visited_again_meanwhile(tmp_path, writer):
    writer.write([page(number, relevance=0.5) for number in range(1, 4)])
    with PageStoreReader(tmp_path) as collection:
        ranked = collection.ranked()
        first = next(ranked)
        writer.write([page(number, at=9, relevance=0.4) for number in range(1, 4)])
        assert [record.fingerprint for record in [first, *ranked]] == [1, 2, 3]


def test_pages_with_an_opt_out_are_left_out_also_when_a_later_visit_found_it(tmp_path, writer):
    writer.write([page(1), page(2, opt_outs=("ai-train",)), page(3, opt_outs=("search",)), page(4)])
    writer.write([page(4, at=9, page=False, reason=legacy_reason("unchanged"), opt_outs=("tdm",))])
    writer.write([page(2, at=8, opt_outs=()), page(3, at=8, page=False, blocked="consent")])
    with PageStoreReader(tmp_path, without_opt_outs=True) as collection:
        assert {record.fingerprint for record in collection.ranked()} == {1, 2, 3}
        assert collection.is_opted_out(4)
        assert not collection.is_opted_out(2)
    with PageStoreReader(tmp_path) as collection:
        assert {record.fingerprint for record in collection.ranked()} == {1, 2, 3, 4}

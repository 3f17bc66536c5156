"""A digest has every change once, and hostile text stays text."""

import xml.etree.ElementTree as ElementTree
from contextlib import closing

import pytest

from tests.unit.storage.test_collection import page
from thresher.records import Outcome
from thresher.refresh.changes import ChangeKind
from thresher.storage.page_store import PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.watch import watcher
from thresher.watch.database import Digest, DigestEntry, WatchDatabase
from thresher.watch.watcher import feed, make_digest, markdown, record_baseline, summary

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def digest_after(tmp_path):
    """Add records to a crawl and return the digest that follows; None when nothing changed."""
    (tmp_path / "pages").mkdir()

    def digest_of(*records, baseline=False):
        with closing(PageStoreWriter(tmp_path / "pages" / "w1.db")) as writer:
            writer.write(records)
        with PageStoreReader(tmp_path / "pages") as collection, closing(WatchDatabase(tmp_path)) as database:
            if baseline:
                record_baseline(collection, database)
            return make_digest(collection, database, crawl="solar", title="solar cells", webhooks=["hook"])

    return digest_of


@pytest.fixture
def watched(digest_after):
    """Return the change of each URL instead of the digest."""

    def changes_of(*records, baseline=False):
        made = digest_after(*records, baseline=baseline)
        return {entry.url: entry.change for entry in made.entries} if made else {}

    return changes_of


def relevant(number, at, text_hash=1, **fields):
    return page(number, at=at, relevant=True, relevance=0.9, text_hash=text_hash, **fields)


def url(number):
    return page(number, at=0).url


def test_the_baseline_is_not_reported_and_each_change_is_reported_once(watched):
    assert watched(relevant(1, 10), relevant(2, 10), baseline=True) == {}
    changed = [relevant(1, 20, text_hash=2), page(2, at=20, page=False, status=410, outcome=Outcome.FAILED)]
    expected = {url(1): ChangeKind.CHANGED, url(2): ChangeKind.GONE, url(3): ChangeKind.NEW}
    assert watched(*changed, relevant(3, 20)) == expected
    assert watched() == {}


def test_a_page_is_reported_when_a_later_verdict_makes_it_relevant(watched):
    assert watched(page(1, at=10, relevant=False), baseline=True) == {}
    assert watched(relevant(1, 20)) == {url(1): ChangeKind.NEW}


def test_a_page_that_changes_away_from_the_topic_is_reported_as_changed(watched):
    watched(relevant(1, 10), baseline=True)
    assert watched(page(1, at=20, relevant=False, text_hash=5)) == {url(1): ChangeKind.CHANGED}
    assert watched() == {}


def test_a_page_that_is_back_is_new_again(watched):
    watched(relevant(1, 10), baseline=True)
    assert watched(page(1, at=20, page=False, status=404, outcome=Outcome.FAILED)) == {url(1): ChangeKind.GONE}
    assert watched() == {}
    assert watched(relevant(1, 30)) == {url(1): ChangeKind.NEW}


def test_before_is_the_relevance_of_the_version_that_was_reported(digest_after):
    digest_after(page(1, at=5, relevance=0.2), relevant(1, 10, text_hash=2), baseline=True)
    gone = digest_after(page(1, at=20, page=False, status=410, outcome=Outcome.FAILED))
    assert [entry.before for entry in gone.entries] == [0.9]


def test_changes_beyond_the_entries_of_a_digest_are_in_the_next_one(digest_after, monkeypatch):
    monkeypatch.setattr(watcher, "MAX_ENTRIES", 2)
    digest_after(baseline=True)
    first = digest_after(*(relevant(number, 10) for number in range(5)))
    assert (len(first.entries), first.total) == (2, 5)
    assert summary(first) == "2 new, and 3 more in the next digest"
    rest = [digest_after(), digest_after()]
    listed = [entry.url for digest in [first, *rest] for entry in digest.entries]
    assert sorted(listed) == sorted(url(number) for number in range(5))
    assert digest_after() is None


def test_titles_and_sentences_cannot_become_markup():
    hostile = "</title><script>alert(1)</script> ](javascript:x) \x00\x1b[31m\u202e"
    entry = DigestEntry(
        change=ChangeKind.NEW,
        url="http://a.example/?a=<b>&c",
        title=hostile,
        at=0,
        relevance=0.9,
        relevant=True,
        added=[hostile],
    )
    digest = Digest(number=1, crawl="c", title=hostile, created_at=0, total=1, entries=[entry])
    written = markdown(digest)
    assert written.count("<") == written.count("\\<") + 1  # only the brackets around the address are markup
    assert not set(written) & {"\x00", "\x1b", "\u202e"}
    tree = ElementTree.fromstring(feed([digest]))
    assert tree.find(f"{ATOM}entry/{ATOM}link").get("href") == entry.url
    assert "<script>" in tree.find(f"{ATOM}entry/{ATOM}title").text

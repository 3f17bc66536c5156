"""Segments are whole; of one that is not, every row that can be read is saved."""

import sqlite3
from contextlib import closing

import pytest

from tests.unit.verify.conftest import page, url
from thresher.errors import StoreError
from thresher.judges.adaptive.judge import AdaptiveJudge
from thresher.judges.adaptive.terms import TermVector
from thresher.judges.topics import MultiTopicLearner
from thresher.pipeline.outcomes import content_hash
from thresher.records import ParsedPage
from thresher.storage.page_store import PageStoreWriter, unpacked_text
from thresher.storage.reader import PageStoreReader
from thresher.topics.profile import TopicProfile
from thresher.urls.canonical import fingerprint
from thresher.verify.crawl import verify
from thresher.verify.findings import FindingState
from thresher.verify.page_store_check import check_segments, flaw_of


def damage(path, *, at=0.5, size=4096):
    """Overwrite a block of a file."""
    content = bytearray(path.read_bytes())
    start = int(len(content) * at) // 4096 * 4096
    content[start : start + size] = b"\xa5" * size
    path.write_bytes(content)


@pytest.fixture
def many(small):
    small.keep(*(page(number, [number + 1], text=f"{number} words " * 400) for number in range(400)))
    return small


def test_a_whole_segment_has_no_flaw(many):
    assert flaw_of(many.root / "pages" / "w1.db") == ""
    assert check_segments(many.root / "pages", repair=False) == []


async def test_a_damaged_segment_is_reported_and_nothing_is_compared_with_it(many):
    damage(many.root / "pages" / "w1.db")
    [finding] = (await verify(many.crawl)).findings
    assert (finding.state, finding.number) == (FindingState.WRONG, 1)
    assert finding.examples[0].startswith("w1.db: ")


def test_what_can_be_read_of_a_damaged_segment_is_saved(many):
    path = many.root / "pages" / "w1.db"
    damage(path)
    [finding] = check_segments(path.parent, repair=True)
    assert finding.state is FindingState.REPAIRED
    assert flaw_of(path) == ""
    assert (path.parent / "w1.db.damaged").exists()
    with PageStoreReader(path.parent) as collection:
        saved = [number for number in range(400) if collection.find(fingerprint(url(number)))]
        assert 350 < len(saved) < 400  # a block holds some two dozen rows
        assert collection.text(fingerprint(url(saved[0]))).startswith(f"{saved[0]} words")


@pytest.mark.parametrize("column", ["text", "main", "markup"])
def test_a_row_whose_contents_cannot_be_unpacked_is_found_and_removed(small, column):
    small.keep(page(1, text="1 words", markup="<p>1 words</p>"), page(2, text="2 words", markup="<p>2 words</p>"))
    folder = small.root / "pages"
    with closing(sqlite3.connect(folder / "w1.db")) as db, db:
        db.execute(f"UPDATE page SET {column} = x'00' WHERE id = 1")
    [found] = check_segments(folder, repair=False)
    assert (found.state, found.number) == (FindingState.WRONG, 1)
    check_segments(folder, repair=True)
    with PageStoreReader(folder) as collection:
        assert [record.url for record in collection.ranked()] == [url(2)]


def test_a_text_that_decodes_to_another_one_is_found(small):
    small.keep(*(page(n, text=f"{n} words", text_hash=content_hash(f"{n} words")) for n in (1, 2)))
    folder = small.root / "pages"
    with closing(sqlite3.connect(folder / "w1.db")) as db, db:
        db.execute("UPDATE page SET text = (SELECT text FROM page WHERE id = 2) WHERE id = 1")
    [found] = check_segments(folder, repair=False)
    assert (found.state, found.number, found.examples) == (FindingState.WRONG, 1, (url(1),))


@pytest.mark.parametrize("column", ["text", "markup"])
def test_one_flipped_bit_of_a_packed_column_is_found(small, column):
    words = "words of a page, some of them long and some short"
    small.keep(page(1, text=words, markup=f"<p>{words}</p>"))
    folder = small.root / "pages"
    with closing(sqlite3.connect(folder / "w1.db")) as db, db:
        [packed] = db.execute(f"SELECT {column} FROM page").fetchone()
        flipped = bytes([*packed[:20], packed[20] ^ 1, *packed[21:]])
        db.execute(f"UPDATE page SET {column} = ?", [flipped])
    [found] = check_segments(folder, repair=False)
    assert (found.state, found.number) == (FindingState.WRONG, 1)


def test_a_file_that_is_no_segment_at_all_is_set_aside(small):
    small.keep(page(1))
    path = small.root / "pages" / "w1.db"
    path.write_bytes(b"not a database" * 1000)
    check_segments(path.parent, repair=True)
    assert flaw_of(path) == ""
    assert (path.parent / "w1.db.damaged").read_bytes().startswith(b"not a database")


async def test_a_damaged_frontier_is_refused_with_words(many):
    await many.settle(page(1))
    (many.root / "frontier.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(StoreError, match=r"frontier.db is damaged: .*move it away"):
        await verify(many.crawl)


def spoil(folder, column, packed, *, where="id = 1"):
    with closing(sqlite3.connect(folder / "w1.db")) as db, db:
        db.execute(f"UPDATE page SET {column} = ? WHERE {where}", [packed])


HUGE = bytes.fromhex("28b52ffde0") + (1 << 45).to_bytes(8, "little") + b"\1\0\0"
"""A frame whose head claims more bytes than there is memory."""
VECTOR = TermVector.of({"solar": 1.5, "cells": 2.0}).pack()
TOPICS = MultiTopicLearner({"one": AdaptiveJudge(TopicProfile()), "two": AdaptiveJudge(TopicProfile())}).vector(
    ParsedPage(url=url(1), title="", text="solar cells", language="en")
)


@pytest.mark.parametrize("column", ["text", "main", "markup", "links", "terms"])
@pytest.mark.parametrize("packed", [b"\0", HUGE, VECTOR[:-3]])
def test_a_spoiled_frame_of_any_column_is_found(small, column, packed):
    small.keep(page(1, [2], text="1 words", markup="<p>1 words</p>", terms=VECTOR))
    folder = small.root / "pages"
    assert check_segments(folder, repair=False) == []
    spoil(folder, column, packed)
    [found] = check_segments(folder, repair=False)
    assert (found.state, found.number, found.examples) == (FindingState.WRONG, 1, (url(1),))


@pytest.mark.parametrize(("vector", "first"), [(VECTOR, 0), (TOPICS, -len(TOPICS) // 2)], ids=["one", "several topics"])
def test_one_flipped_bit_of_a_term_vector_is_found_wherever_it_is(small, vector, first):
    small.keep(page(1, text="1 words", terms=vector))
    folder = small.root / "pages"
    for place in range(len(vector))[first:]:
        spoil(folder, "terms", bytes([*vector[:place], vector[place] ^ 1, *vector[place + 1 :]]))
        assert len(check_segments(folder, repair=False)) == 1, place
    spoil(folder, "terms", vector)
    assert check_segments(folder, repair=False) == []


def test_spoiled_terms_are_removed_and_the_page_is_judged_by_its_text(small):
    small.keep(page(1, text="1 words", terms=VECTOR), page(2, text="2 words", terms=VECTOR), page(3, terms=VECTOR))
    folder = small.root / "pages"
    spoil(folder, "terms", b"\0", where="id <> 2")
    [removed, repaired] = check_segments(folder, repair=True)
    assert (removed.state, removed.examples) == (FindingState.REPAIRED, (url(3),))  # it has no text
    assert (repaired.state, repaired.examples) == (FindingState.REPAIRED, (url(1),))
    assert check_segments(folder, repair=False) == []
    with closing(PageStoreWriter(folder / "w1.db")) as segment:
        first, second = segment.read(0, 10)
    assert (first.terms, unpacked_text(first.text)) == (None, "1 words")
    assert (second.terms, second.text) == (VECTOR, None)


async def test_terms_of_another_package_are_not_called_damaged(small, monkeypatch):
    small.keep(page(1, text="1 words", terms=b"known to its judge only"))
    await small.settle(page(1, text="1 words"))
    monkeypatch.setattr("thresher.verify.crawl.is_bundled", lambda kind, name: False)
    assert not [each for each in (await verify(small.crawl)).findings if each.part == "pages"]

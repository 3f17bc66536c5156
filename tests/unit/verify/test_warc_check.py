"""After a crash, torn records and false indexes are repaired, and lost rows are made from their captures."""

import sqlite3

import pytest

from tests.unit.storage.warc.captures import answered, url, writer
from thresher.records import Candidate, Outcome, Settlement
from thresher.storage.reader import PageStoreReader
from thresher.storage.warc.cdxj import index_path
from thresher.storage.warc.reader import Damage, walk
from thresher.urls.canonical import fingerprint
from thresher.verify.crawl import verify
from thresher.verify.findings import FindingState


@pytest.fixture
async def archived(small):
    """Ten pages that were captured, kept and settled."""
    answers = [answered(number) for number in range(10)]
    warc = writer(small.root)
    warc.write(answers)
    warc.close()
    small.keep(*(record for record, _ in answers))
    await small.seed()
    frontier = small.crawl.backend.frontier()
    for record, _ in answers:
        await frontier.add([Candidate(url=record.url, score=1.0)])
        [lease] = await frontier.lease(1, seconds=60)
        await frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE, page=True)])
    await frontier.close()
    return small


def warc_of(crawl):
    [path] = (crawl.root / "warc").glob("*.warc.gz")
    return path


def found(report):
    return {(finding.part, finding.state, finding.number) for finding in report.findings}


async def test_whole_files_with_true_indexes_are_clean(archived):
    report = await verify(archived.crawl)
    assert report.findings == []
    assert report.looked_at["captures"] == 10


async def test_a_torn_record_is_cut_off_and_its_page_called_lost_when_it_was_kept(archived):
    path = warc_of(archived)
    path.write_bytes(path.read_bytes()[:-3000])
    report = await verify(archived.crawl)
    assert ("warc", FindingState.WRONG, 1) in found(report)
    await verify(archived.crawl, repair=True)
    assert not any(isinstance(place, Damage) for place in walk(path))
    again = await verify(archived.crawl)
    assert {finding.state for finding in again.findings} == {FindingState.LOST}, "the store promised these captures"


async def test_what_a_killed_writer_leaves_is_clean_after_repair(archived):
    path = warc_of(archived)
    warc = writer(archived.root, "w2")
    warc.write([answered(50)])  # killed before the row was kept
    [torn] = set((archived.root / "warc").glob("*.warc.gz")) - {path}
    torn.write_bytes(torn.read_bytes()[:-20])
    report = await verify(archived.crawl, repair=True)
    assert report.is_clean
    assert {state for _, state, _ in found(report)} == {FindingState.REPAIRED, FindingState.NOTE}
    assert index_path(torn).exists()
    assert {state for _, state, _ in found(await verify(archived.crawl))} == {FindingState.NOTE}


async def test_a_record_damaged_in_the_middle_is_cut_out_and_the_others_stay(archived):
    path = warc_of(archived)
    content = bytearray(path.read_bytes())
    places = [place for place in walk(path) if place.kind == "request"]
    middle = places[4].offset + places[4].length // 2
    content[middle : middle + 8] = bytes(8)
    path.write_bytes(content)
    report = await verify(archived.crawl, repair=True)
    assert report.is_clean, "only the words of a question are gone"
    assert (await verify(archived.crawl)).findings == []
    assert len(list(walk(path))) == 30


async def test_an_index_that_is_missing_or_false_is_made_anew(archived):
    index = index_path(warc_of(archived))
    right = index.read_text(encoding="utf-8")
    for spoil in (index.unlink, lambda: index.write_text(right[:200])):
        spoil()
        assert ("warc", FindingState.WRONG, 1) in found(await verify(archived.crawl))
        assert (await verify(archived.crawl, repair=True)).is_clean
        assert index.read_text(encoding="utf-8") == right


async def test_rows_that_the_page_store_lost_are_made_from_their_captures(archived):
    lost = fingerprint(url(4))
    with PageStoreReader(archived.root / "pages") as collection:
        before = collection.find(lost)
    db = sqlite3.connect(archived.root / "pages" / "w1.db")
    db.execute("DELETE FROM page WHERE fingerprint = ?", [lost])
    db.commit()
    db.close()
    assert ("pages", FindingState.WRONG, 1) in found(await verify(archived.crawl))
    assert (await verify(archived.crawl, repair=True)).is_clean
    with PageStoreReader(archived.root / "pages") as collection:
        assert collection.find(lost) == before
        assert "Perovskite" in collection.text(lost)
    assert (await verify(archived.crawl)).findings == []


async def test_pages_that_were_fetched_before_archiving_began_have_no_capture(archived):
    record, _ = answered(70, fetched_at=1_600_000_000.0)
    archived.keep(record)
    frontier = archived.crawl.backend.frontier()
    await frontier.add([Candidate(url=record.url, score=1.0)])
    await frontier.close()
    assert (await verify(archived.crawl)).is_clean


async def test_while_a_run_is_under_way_its_last_file_may_be_unfinished(archived):
    path = warc_of(archived)
    path.write_bytes(path.read_bytes()[:-20])
    index_path(path).unlink()
    with archived.crawl.folder.only_one_run():
        report = await verify(archived.crawl)
    assert {state for _, state, _ in found(report)} == {FindingState.NOTE}

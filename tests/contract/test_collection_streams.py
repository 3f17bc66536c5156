"""Folders that are restored, copied or interrupted, and collections that lost entries: all pages are uploaded."""

import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.contract.collection_machines import Machine, entry, record, url_of
from thresher.collection.manifest import MANIFEST_CACHE, ManifestReader, ManifestWriter
from thresher.collection.status import collection_status
from thresher.collection.streams import ChangeStream, from_parquet, to_parquet
from thresher.collection.uploader import CollectionUploader
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import Judgement, Revision
from thresher.search.index import SearchIndex
from thresher.storage.page_store import PageStoreWriter
from thresher.storage.reader import PageStoreReader


def restored(machine, backup):
    """Put a backup of a machine's folder in the place of it, as after a lost disk."""
    machine.writer.close()
    machine.uploader.close()
    shutil.rmtree(machine.pages.parent)
    shutil.copytree(backup, machine.pages.parent)
    machine.writer = PageStoreWriter(machine.pages / "w1.db")
    machine.uploader = machine.new_uploader()


def status_of(machine):
    return collection_status(machine.objects, machine.pages, [machine.pages / "w1.db"], None)


@pytest.mark.parametrize("new_rows", [1, 3, 10])
def test_a_restored_folder_uploads_all_its_pages(machines, tmp_path, new_rows):
    one, two = machines
    one.writer.write([record(number) for number in range(10)])
    one.uploader.step(everything=True)
    shutil.copytree(tmp_path / "one", tmp_path / "backup")
    one.writer.write([record(number) for number in range(10, 13)])
    one.uploader.step(everything=True)
    restored(one, tmp_path / "backup")
    one.writer.write([record(number) for number in range(20, 20 + new_rows)])
    assert status_of(one).waiting_rows == 10 + new_rows
    one.uploader.step(everything=True)
    assert (one.uploader.waiting(), status_of(one).waiting_rows) == (0, 0)
    two.update()
    assert sorted(two.read()) == sorted(map(url_of, (*range(13), *range(20, 20 + new_rows))))


def test_two_copies_of_a_folder_that_upload_at_once_upload_all_their_pages(machines, tmp_path, objects):
    one, two = machines
    one.writer.write([record(1)])
    one.uploader.step(everything=True)
    shutil.copytree(tmp_path / "one", tmp_path / "copy")
    copy = Machine.__new__(Machine)
    copy.pages, copy.collected, copy.objects, copy.options = (
        tmp_path / "copy" / "pages",
        tmp_path / "copy" / "pages" / "collected",
        objects,
        {},
    )
    copy.writer, copy.uploader = PageStoreWriter(copy.pages / "w1.db"), copy.new_uploader()
    for number in range(2, 12, 2):
        one.writer.write([record(number)])
        copy.writer.write([record(number + 1)])
        one.uploader.step(everything=True)
        copy.uploader.step(everything=True)
    for machine in (one, copy):
        assert status_of(machine).waiting_rows == 0
    two.update()
    assert sorted(two.read()) == sorted(map(url_of, range(1, 12)))
    with PageStoreReader(two.pages) as pages:
        assert pages.tally().pages == 11
    copy.writer.close()
    copy.uploader.close()


@pytest.mark.parametrize("left", [0, 1, 2])
def test_entries_that_the_collection_has_lost_are_uploaded_again(machines, left):
    one, two = machines
    for number in range(4):
        one.writer.write([record(number)])
        one.uploader.step(everything=True)
    for key in list(one.objects.sizes("manifest"))[left:]:
        one.objects.delete(key)
    assert status_of(one).waiting_rows == 4
    one.uploader.close()
    one.uploader.step(everything=True)
    two.update()
    assert two.read() == one.read()
    assert len(two.read()) == 4


def test_a_segment_without_a_record_of_its_uploads_is_uploaded_again(machines):
    one, two = machines
    one.writer.write([record(1)])
    one.uploader.step(everything=True)
    with closing(sqlite3.connect(one.pages / "w1.db")) as db:
        db.execute("DROP TABLE uploaded")  # as before it was recorded
    one.uploader.close()
    assert one.uploader.step(everything=True) == 1
    two.update()
    assert two.read() == one.read()


def test_of_two_copies_of_a_row_the_newest_judgement_is_read(machines, tmp_path):
    one, _ = machines
    one.writer.write([record(1), record(2)])
    one.uploader.step(everything=True)
    for relevance in (0.5, 0.625, 0.75):
        one.writer.apply_revisions([Revision(url=url_of(1), judgement=Judgement(relevance=relevance, relevant=True))])
        with closing(ChangeStream(one.pages / "w1.db")) as changes:
            changes.rename()
        one.uploader.close()
        one.uploader.step(everything=True)
        for machine in machines:
            machine.update()
            assert machine.read()[url_of(1)][1] == relevance
            assert len(machine.read()) == 2


def test_a_page_that_was_uploaded_in_several_streams_is_found_once(machines, tmp_path):
    one, two = machines
    one.writer.write([record(number) for number in range(20)])
    for _ in range(4):
        one.uploader.step(everything=True)
        one.uploader.close()
        two.update()
        with SearchIndex(tmp_path / "two", two.pages) as index:
            index.catch_up()
            assert index.pages() == 20
        with PageStoreReader(two.pages) as pages:
            assert pages.tally().pages == 20
        with closing(ChangeStream(one.pages / "w1.db")) as changes:
            changes.rename()


class CutOff(Exception):
    """The process ends here."""


class CutObjects:
    """Ends the process before or after one of its writes."""

    def __init__(self, objects, cut_at):
        self._objects, self._left = objects, cut_at

    def put_new(self, key, content):
        self._cut()
        created = self._objects.put_new(key, content)
        self._cut()
        return created

    def _cut(self):
        self._left -= 1
        if self._left == 0:
            raise CutOff

    def __getattr__(self, name):
        return getattr(self._objects, name)


@pytest.mark.parametrize("cut_at", range(1, 13))
def test_an_upload_that_ends_anywhere_loses_nothing_and_begins_no_new_stream(machines, objects, cut_at):
    one, two = machines
    one.options = {"segment_rows": 4}
    one.writer.write([record(number) for number in range(12)])
    one.objects = CutObjects(objects, cut_at)
    cut = one.new_uploader()
    with pytest.raises(CutOff):
        cut.step(everything=True)
    one.writer.apply_revisions([Revision(url=url_of(3), judgement=Judgement(relevance=0.75, relevant=True))])
    cut.step(everything=True)  # the same uploader, as after an answer that was lost
    cut.close()
    one.objects = objects
    last = one.new_uploader()
    last.step(everything=True)
    last.close()
    two.update()
    assert two.read() == one.read()
    assert len(objects.folders("manifest")) == 1


def test_a_file_of_the_same_name_and_size_with_another_content_is_uploaded(objects, tmp_path):
    path = tmp_path / "w1.warc.gz"
    for content in (b"first", b"other"):
        path.write_bytes(content)
        os.utime(path, (1.0, 1.0))
        uploader = CollectionUploader(objects, list, folder=tmp_path, files=lambda upload: [("warc/w1.warc.gz", path)])
        uploader.step(everything=True)
        with closing(ManifestReader(tmp_path / MANIFEST_CACHE)) as manifest:
            manifest.update(objects)
            assert objects.get(manifest.files()["warc/w1.warc.gz"].key) == content


def test_the_last_version_of_a_file_counts_whatever_the_clocks_say(objects, tmp_path, monkeypatch):
    for machine, (now, content) in enumerate([(1000.0, b"old labels"), (400.0, b"new"), (300.0, b"newest")]):
        monkeypatch.setattr("thresher.collection.uploader.time.time", lambda now=now: now)
        folder = tmp_path / str(machine)
        folder.mkdir()
        uploader = CollectionUploader(
            objects, list, folder=folder, files=lambda upload, content=content: [("labels.jsonl", content)]
        )
        uploader.step(everything=True)
        with closing(ManifestReader(folder / MANIFEST_CACHE)) as manifest:
            manifest.update(objects)
            assert objects.get(manifest.files()["labels.jsonl"].key) == content


def test_versions_without_a_revision_are_ordered_by_their_place_in_a_stream(objects, tmp_path):
    for number, (digest, written_at) in enumerate([("a", 1000.0), ("b", 400.0)]):
        ManifestWriter(objects).add(replace(entry(digest, number), written_at=written_at))
    with closing(ManifestReader(tmp_path / MANIFEST_CACHE)) as manifest:
        manifest.update(objects)
        assert manifest.files()["labels.jsonl"].number == 1


def test_machines_of_versions_before_typed_reasons_read_texts_and_write_them(tmp_path):
    gone = replace(record(1), page=False, reason=Reason.of(ReasonKind.HTTP, 404))
    writer = PageStoreWriter(tmp_path / "w1.db")
    writer.write([gone, record(2)])
    writer.close()
    with closing(ChangeStream(tmp_path / "w1.db")) as stream:
        changed = stream.read(0, max_rows=9, max_bytes=10**6)
    content = to_parquet(changed)
    table = parquet.read_table(pa.BufferReader(content))
    assert table["reason"].to_pylist() == ["http 404", ""]
    sink = pa.BufferOutputStream()
    parquet.write_table(table.drop_columns(["reason_kind", "reason_detail", "signals"]), sink)
    for written in (content, bytes(sink.getvalue())):
        found = from_parquet(written)
        assert (found.column("reason_kind"), found.column("reason")) == (["http", ""], ["404", ""])
        assert found.column("url") == changed.column("url")
        assert found.column("signals") == ["", ""]

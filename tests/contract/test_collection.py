"""What a collection promises, over object storage of every kind: in memory, in a folder, and on an S3 server."""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from testing.servers.chaos import chaos
from tests.contract.collection_machines import Machine, entry, record, url_of
from thresher.collection.manifest import (
    MANIFEST_CACHE,
    ManifestReader,
    ManifestWriter,
    StreamTaken,
)
from thresher.collection.streams import ChangeStream
from thresher.collection.uploader import CollectionUploader, UploadThread
from thresher.errors import DamagedFile, ObjectMissing, StoreUnreachable
from thresher.objects.base import FolderObjects, open_objects
from thresher.objects.interruptible import InterruptibleObjects
from thresher.records import Judgement, Outcome, Revision
from thresher.storage.page_store import PageStoreWriter
from thresher.urls.canonical import fingerprint


def test_an_object_is_created_once(objects):
    assert objects.put_new("a/b", b"first")
    assert not objects.put_new("a/b", b"second")
    assert objects.get("a/b") == b"first"
    assert (objects.size("a/b"), objects.size("a/c")) == (5, None)


def test_a_missing_object_is_not_an_empty_one(objects):
    objects.put_new("something", b"")
    with pytest.raises(ObjectMissing):
        objects.get("nothing")


def test_a_deleted_object_is_gone_and_may_be_deleted_again(objects):
    objects.put_new("a/b", b"1")
    objects.put_new("a/c", b"22")
    objects.delete("a/b")
    objects.delete("a/b")
    assert objects.sizes("a") == {"a/c": 2}


def test_keys_are_listed_after_a_key_and_folders_by_name(objects):
    for key in ("m/x/1", "m/x/2", "m/y/1"):
        objects.put_new(key, b"")
    assert list(objects.sizes("m/x", after="m/x/1")) == ["m/x/2"]
    assert objects.folders("m") == ["x", "y"]
    assert objects.folders("n") == []


def test_a_large_file_comes_back_as_it_was(objects, tmp_path):
    content = os.urandom(9 << 20)
    (tmp_path / "large").write_bytes(content)
    objects.put_file("files/large", tmp_path / "large")
    objects.download("files/large", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == content


def test_a_machine_reads_what_another_uploaded(machines):
    one, two = machines
    one.writer.write([record(number) for number in range(1, 31)])
    two.writer.write([record(number) for number in range(21, 41)])
    assert one.uploader.step(everything=True) == 1
    assert two.update().rows == 30
    assert two.read() == {**one.read(), **two.read()}
    assert len(two.read()) == 40
    assert two.update().rows == 0


def test_a_revised_judgement_reaches_the_other_machines(machines):
    one, two = machines
    one.writer.write([record(1), record(2)])
    one.uploader.step(everything=True)
    two.update()
    one.writer.apply_revisions([Revision(url=url_of(1), judgement=Judgement(relevance=0.75, relevant=True))])
    assert one.uploader.waiting() == 1
    one.uploader.step(everything=True)
    two.update()
    assert two.read() == one.read()
    assert two.read()[url_of(1)][1] == 0.75


def test_the_latest_row_of_a_url_counts_wherever_it_was_stored(machines):
    one, two = machines
    one.writer.write([record(1, fetched_at=100.0, text="old")])
    two.writer.write([record(1, fetched_at=200.0, text="new")])
    for machine in machines:
        machine.uploader.step(everything=True)
    for machine in machines:
        machine.update()
        assert [text for _, _, text in machine.read().values()] == ["new 1"]


def test_an_uploader_continues_after_the_last_entry_of_its_stream(machines):
    one, two = machines
    one.writer.write([record(number) for number in range(10)])
    one.uploader.step(everything=True)
    again = one.new_uploader()
    assert again.step(everything=True) == 0
    one.writer.write([record(10)])
    assert again.step(everything=True) == 1
    again.close()
    two.update()
    assert two.read() == one.read()


def test_a_folder_that_is_made_anew_does_not_replace_the_rows_of_the_lost_one(machines, tmp_path, objects):
    one, two = machines
    one.writer.write([record(number) for number in range(5)])
    one.uploader.step(everything=True)
    shutil.rmtree(tmp_path / "one")
    new = Machine(tmp_path / "one", objects)
    new.writer.write([record(number) for number in range(5, 8)])  # the same row ids, by a worker of the same name
    new.uploader.step(everything=True)
    two.update()
    assert sorted(two.read()) == sorted(map(url_of, range(8)))
    new.uploader.close()
    new.writer.close()


def test_a_copied_folder_gets_a_stream_of_its_own(machines, tmp_path, objects):
    one, two = machines
    one.writer.write([record(1)])
    one.uploader.step(everything=True)
    shutil.copytree(tmp_path / "one", tmp_path / "copy")
    copy = CollectionUploader(objects, lambda: [tmp_path / "copy" / "pages" / "w1.db"], folder=tmp_path / "copy")
    copy.step(everything=True)  # both are at the same place of the same stream now
    one.writer.write([record(2)])
    one.uploader.step(everything=True)
    with closing(PageStoreWriter(tmp_path / "copy" / "pages" / "w1.db")) as writer:
        writer.write([record(3)])
    copy.step(everything=True)
    copy.step(everything=True)
    copy.close()
    two.update()
    assert sorted(two.read()) == sorted(map(url_of, (1, 2, 3)))


def test_only_settled_urls_are_in_the_index_of_a_segment(machines, tmp_path):
    one, _ = machines
    one.writer.write([record(1), record(2, outcome=Outcome.RETRY), record(3, outcome=Outcome.FAILED)])
    one.uploader.step(everything=True)
    with closing(ManifestReader(tmp_path / MANIFEST_CACHE)) as manifest:
        manifest.update(one.objects)
        assert manifest.fingerprints() == {fingerprint(url_of(1)), fingerprint(url_of(3))}


def test_a_missing_or_damaged_segment_is_reported_and_the_others_are_read(machines):
    one, two = machines
    one.writer.write([record(1)])
    one.uploader.step(everything=True)
    one.writer.write([record(2)])
    one.uploader.step(everything=True)
    with closing(ManifestReader(two.collected / MANIFEST_CACHE)) as manifest:
        manifest.update(one.objects)
        first, _ = manifest
    one.objects.delete(first.key)
    one.objects.put_new(first.key, b"damaged")
    assert two.update().lost == [first.key]
    assert list(two.read()) == [url_of(2)]


def test_a_segment_waits_until_it_is_large_or_old_enough(objects, tmp_path, clock):
    machine = Machine(tmp_path / "one", objects, segment_rows=10, segment_seconds=15.0, clock=lambda: clock.now)
    machine.writer.write([record(number) for number in range(9)])
    assert machine.uploader.step() == 0
    clock.now += 15
    assert machine.uploader.step() == 1
    machine.writer.write([record(number) for number in range(9, 20)])
    assert machine.uploader.step() == 1
    assert machine.uploader.waiting() == 1
    machine.uploader.close()
    machine.writer.close()


def test_the_entry_of_another_writer_is_never_replaced(objects):
    ManifestWriter(objects).add(entry("a"))
    ManifestWriter(objects).add(entry("a"))
    with pytest.raises(StreamTaken):
        ManifestWriter(objects).add(entry("b"))


class CountingObjects:
    """Counts the objects that are read."""

    def __init__(self, objects):
        self._objects = objects
        self.keys = []

    def get(self, key):
        self.keys.append(key)
        return self._objects.get(key)

    def __getattr__(self, name):
        return getattr(self._objects, name)


def read_entries(objects, cache):
    with closing(ManifestReader(cache)) as manifest:
        manifest.update(objects)
        return [(each.stream, each.number) for each in manifest]


@pytest.fixture
def merged_objects(objects, monkeypatch):
    """Entries of a stream: 8 that are merged, and 5 after them."""
    monkeypatch.setattr("thresher.collection.manifest.MERGE_ENTRIES", 8)
    writer = ManifestWriter(objects)
    for number in range(13):
        writer.add(entry(number=number))
        assert writer.merge("files.1") == (8 if number == 7 else 0)
    return CountingObjects(objects)


def test_a_new_reader_takes_merged_entries_and_the_later_ones(merged_objects, tmp_path):
    assert read_entries(merged_objects, tmp_path / "cache") == [("files.1", number) for number in range(13)]
    assert len(merged_objects.keys) == 1 + 5
    assert ManifestWriter(merged_objects).last("files.1").number == 12


def test_damaged_merged_entries_are_read_one_by_one(merged_objects, tmp_path):
    merged_objects.delete("merged/files.1/00000007.jsonl.zst")
    merged_objects.put_new("merged/files.1/00000007.jsonl.zst", b"damaged")
    assert read_entries(merged_objects, tmp_path / "cache") == [("files.1", number) for number in range(13)]
    for number in range(13, 16):
        ManifestWriter(merged_objects).add(entry(number=number))
    with pytest.raises(DamagedFile):
        ManifestWriter(merged_objects).merge("files.1")


def test_a_stream_with_a_gap_is_not_merged(objects, monkeypatch):
    monkeypatch.setattr("thresher.collection.manifest.MERGE_ENTRIES", 4)
    for number in (0, 1, 3, 4):
        ManifestWriter(objects).add(entry(number=number))
    with pytest.raises(DamagedFile):
        ManifestWriter(objects).merge("files.1")


WRITE_AND_MERGE = """
import sys
from thresher.collection import manifest
from thresher.objects.base import open_objects
manifest.MERGE_ENTRIES = 4
own, other, url = sys.argv[1:]
writer = manifest.ManifestWriter(open_objects(url))
for number in range(60):
    writer.add(manifest.ManifestEntry(
        stream=own, number=number, kind=manifest.FILE, name="a", sha256="a" * 64, size=1, written_at=1.0
    ))
    for stream in (own, other):
        writer.merge(stream)
"""


def test_two_processes_write_and_merge_at_once_and_no_entry_is_lost(s3, tmp_path, monkeypatch):
    objects = CountingObjects(open_objects(s3.url("merged")))
    processes = [
        subprocess.Popen([sys.executable, "-c", WRITE_AND_MERGE, *streams, objects.url])
        for streams in (("one", "two"), ("two", "one"))
    ]
    assert [process.wait(120) for process in processes] == [0, 0]
    monkeypatch.setattr("thresher.collection.manifest.MERGE_ENTRIES", 4)
    expected = [(stream, number) for stream in ("one", "two") for number in range(60)]
    assert read_entries(objects, tmp_path / "cache") == expected
    assert sum(key.startswith("merged/") for key in objects.keys) == 2
    assert len(objects.keys) <= 2 + 2 * 30  # merged when the number of entries has doubled


def test_uploads_go_on_when_the_server_comes_back(s3, tmp_path):
    objects = open_objects(s3.url("away"))
    machine = Machine(tmp_path / "one", objects, segment_seconds=0.0)
    thread = UploadThread(machine.uploader, tick_seconds=0.05)
    thread.start()
    s3.kill()
    machine.writer.write([record(number) for number in range(20)])
    deadline = time.monotonic() + 30
    while not thread.error:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    with pytest.raises(StoreUnreachable):
        objects.get("anything")
    s3.start()
    assert thread.finish(30) == 0
    assert thread.error == ""
    other = Machine(tmp_path / "two", objects)
    assert other.update().rows == 20
    for each in (machine, other):
        each.writer.close()
    other.uploader.close()


def test_rows_that_a_silent_server_did_not_get_are_counted_in_time(s3, tmp_path, monkeypatch):
    with chaos(urlsplit(s3.environment["AWS_ENDPOINT_URL"]).port) as network:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{network.port}")
        objects = InterruptibleObjects(open_objects(s3.url("silent")))
        machine = Machine(tmp_path / "one", objects, segment_seconds=0.0)
        machine.writer.write([record(number) for number in range(20)])
        thread = UploadThread(machine.uploader, objects, tick_seconds=0.05)
        thread.start()
        await_no_rows(machine)
        network.set(cut="from")
        machine.writer.write([record(number) for number in range(20, 28)])
        time.sleep(2)
        began = time.monotonic()
        assert thread.finish(2) == 8
        assert time.monotonic() - began < 5
        assert re.search(r"silent did not answer for [34] s", thread.error)
        network.set()
        with pytest.raises(StoreUnreachable, match="did not answer"):
            objects.put_new("late", b"")  # nothing is sent after the end
        machine.objects = open_objects(s3.url("silent"))
        again = machine.new_uploader()
        again.step(everything=True)
        assert again.waiting() == 0
        other = Machine(tmp_path / "two", machine.objects)
        other.update()
        assert len(other.read()) == 28
    for each in (machine.writer, other.writer, again, other.uploader):
        each.close()


def await_no_rows(machine):
    deadline = time.monotonic() + 30
    while machine.uploader.waiting():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_rows_wait_though_the_collection_has_never_answered(tmp_path):
    (tmp_path / "collection").write_text("no folder")
    machine = Machine(tmp_path / "one", FolderObjects(tmp_path / "collection"))
    machine.writer.write([record(number) for number in range(8)])
    thread = UploadThread(machine.uploader, tick_seconds=0.05)
    thread.start()
    assert thread.finish(0.2) == 8
    assert "cannot be used" in thread.error
    machine.writer.close()


def test_no_file_stays_open_while_the_collection_does_not_answer(tmp_path, monkeypatch):
    machine = Machine(tmp_path / "one", FolderObjects(tmp_path / "collection"))
    machine.writer.write([record(1)])
    opened = []

    def not_now(manifest, stream):
        if stream.startswith("files."):
            return
        raise StoreUnreachable("the collection does not answer")

    monkeypatch.setattr("thresher.collection.uploader.ManifestWriter.last", not_now)
    monkeypatch.setattr(
        "thresher.collection.uploader.ChangeStream", lambda path: opened.append(ChangeStream(path)) or opened[-1]
    )
    with pytest.raises(StoreUnreachable):
        machine.uploader.step(everything=True)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].waiting(0)
    machine.writer.close()


UPLOAD_FOR_EVER = """
import sys
from pathlib import Path
from thresher.objects.base import open_objects
from thresher.collection.uploader import CollectionUploader
pages = Path(sys.argv[1])
uploader = CollectionUploader(
    open_objects(sys.argv[2]), lambda: sorted(pages.glob("*.db")), folder=pages / "collected", segment_rows=20
)
print("ready", flush=True)
uploader.step(everything=True)
"""


def test_a_killed_upload_loses_and_repeats_nothing(s3, tmp_path):
    objects = open_objects(s3.url("killed"))
    machine = Machine(tmp_path / "one", objects)
    machine.writer.write([record(number) for number in range(2000)])
    for pause in (0.05, 0.15):
        process = subprocess.Popen(
            [sys.executable, "-c", UPLOAD_FOR_EVER, machine.pages, objects.url], stdout=subprocess.PIPE
        )
        assert process.stdout.readline() == b"ready\n"
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        process.stdout.close()
    machine.uploader.step(everything=True)
    other = Machine(tmp_path / "two", objects)
    assert other.update().rows == 2000
    assert other.read() == machine.read()
    for each in (machine, other):
        each.writer.close()
        each.uploader.close()

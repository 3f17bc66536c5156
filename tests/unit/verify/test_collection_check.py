"""verify reads the whole collection: what is missing or damaged in it is found, and uploaded again from here."""

import asyncio
import json
import shutil
import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner

from testing.servers.fixtures import redis_server_of_session, redis_url  # noqa: F401
from tests.contract.collection_machines import upload_waiting
from tests.unit.storage.warc.captures import answered, archived
from tests.unit.verify.conftest import TOPIC, SmallCrawl, page
from thresher.cli import thresher
from thresher.crawl import CrawlSetup
from thresher.objects.base import open_objects

ROUNDS, PAGES = 3, 4


class Collected:
    """A crawl with pages and captures in a collection, in several segments."""

    def __init__(self, folder):
        self.folder = folder
        self.url = f"file://{folder}/storage"
        self.small = SmallCrawl(folder / "small", TOPIC + f"collection: {self.url}\n")
        for start in range(1, ROUNDS * PAGES, PAGES):
            pages = [answered(number) for number in range(start, start + PAGES)]
            archived(self.small.root, *pages)
            self.small.keep(*(record for record, *_ in pages))
            asyncio.run(self.small.settle(*(record for record, *_ in pages)))
            upload_waiting(CrawlSetup.open(self.small.root))
        self.objects = open_objects(self.url)

    def entries(self):
        return [key for key in self.objects.sizes("manifest") if "/files." not in key]

    def called(self, *words):
        return CliRunner().invoke(thresher, [*map(str, words)])

    def verify(self, *options, root=None):
        done = self.called("verify", root or self.small.root, *options, "--json")
        return done.exit_code, json.loads(done.stdout) if done.stdout else done.output

    def gathered(self):
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        done = self.called("pull", self.url, copy, "--json")
        return done.exit_code, json.loads(done.stdout)["pages"]


@pytest.fixture
def collected(tmp_path):
    return Collected(tmp_path)


def delete_all_segments(collected):
    for key in collected.objects.sizes("segments"):
        collected.objects.delete(key)


def delete_the_middle_entry(collected):
    collected.objects.delete(collected.entries()[1])


def delete_the_last_entry(collected):
    collected.objects.delete(collected.entries()[-1])


def truncate_an_entry(collected):
    path = collected.folder / "storage" / collected.entries()[1]
    path.write_bytes(path.read_bytes()[:40])


def spoil_a_segment(collected):
    spoil(collected, next(iter(collected.objects.sizes("segments"))))


def spoil_a_warc_file(collected):
    """Change it at the same size."""
    for key in collected.objects.sizes("files"):
        if collected.objects.get(key).startswith(b"\x1f\x8b"):
            spoil(collected, key)
            return
    raise AssertionError("no WARC file was uploaded")


def spoil(collected, key):
    path = collected.folder / "storage" / key
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def delete_everything(collected):
    shutil.rmtree(collected.folder / "storage")
    (collected.folder / "storage").mkdir()


def forget_the_manifest(collected):
    for path in (collected.small.root / "pages" / "collected").glob("manifest.sqlite*"):
        path.unlink()


DAMAGES = [
    delete_all_segments,
    delete_the_middle_entry,
    delete_the_last_entry,
    truncate_an_entry,
    spoil_a_segment,
    spoil_a_warc_file,
    delete_everything,
]


@pytest.mark.parametrize("with_cache", [True, False])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found_and_repaired_on_the_machine_that_wrote(collected, damage, with_cache):
    code, report = collected.verify()
    assert (code, report["findings"]) == (0, [])
    assert report["looked_at"]["collection objects"] == len(collected.objects.sizes(""))
    assert report["looked_at"]["collection bytes"] == sum(collected.objects.sizes("").values())
    damage(collected)
    if not with_cache:
        forget_the_manifest(collected)
    code, report = collected.verify()
    assert code == 1, report
    assert {each["part"] for each in report["findings"] if each["state"] == "wrong"} == {"collection"}
    code, report = collected.verify("--repair")
    assert code == 0, report
    code, report = collected.verify()
    assert (code, {each["state"] for each in report["findings"]} - {"note"}) == (0, set()), report
    assert collected.gathered() == (0, ROUNDS * PAGES)
    copies = {path.name: path.read_bytes() for path in (collected.folder / "copy" / "warc").iterdir()}
    assert copies == {path.name: path.read_bytes() for path in (collected.small.root / "warc").iterdir()}


@pytest.mark.parametrize("damage", [delete_the_middle_entry, delete_the_last_entry, truncate_an_entry])
def test_pages_that_a_damaged_manifest_lost_are_not_taken_for_those_of_a_copied_folder(collected, damage, caplog):
    damage(collected)
    forget_the_manifest(collected)
    collected.verify("--repair")
    assert "in the manifest are missing or damaged; all of its pages are uploaded again" in caplog.text
    assert "may be a copy" not in caplog.text


def test_a_folder_whose_stream_another_copy_continued_may_be_a_copy(collected, caplog):
    backup = shutil.copytree(collected.small.root, collected.folder / "backup")
    record, *_ = answered(50)
    collected.small.keep(record)
    upload_waiting(CrawlSetup.open(collected.small.root))
    collected.verify("--repair", root=backup)
    assert "are not those of this folder, which may be a copy or a backup" in caplog.text


@pytest.mark.parametrize("damage", [delete_the_middle_entry, truncate_an_entry, delete_all_segments, spoil_a_warc_file])
def test_a_copy_of_a_damaged_collection_says_that_it_is_not_complete(collected, damage):
    damage(collected)
    done = collected.called("pull", collected.url, collected.folder / "copy")
    assert done.exit_code == 1
    assert "missing or damaged" in done.output


def another_machine(collected):
    """A folder that holds the frontier and not the pages, as after a lost disk."""
    root = collected.folder / "second"
    shutil.copytree(collected.small.root, root)
    shutil.rmtree(root / "pages")
    shutil.rmtree(root / "warc")
    return root


def test_pages_that_are_nowhere_any_more_are_queued_again(collected):
    root = another_machine(collected)
    spoil_a_segment(collected)
    assert collected.verify(root=root)[0] == 1
    code, report = collected.verify("--repair", root=root)
    assert code == 0, report
    queued = [each["number"] for each in report["findings"] if "queued again" in each["words"]]
    assert queued == [PAGES]
    assert collected.verify(root=root)[0] == 0
    assert collected.gathered() == (0, (ROUNDS - 1) * PAGES)


def test_a_copy_of_the_pages_of_a_lost_machine_repairs_the_collection(collected):
    root = another_machine(collected)
    assert collected.verify(root=root)[0] == 0  # copies all pages
    delete_all_segments(collected)
    assert collected.verify(root=root)[0] == 1
    assert collected.verify("--repair", root=root)[0] == 0
    assert collected.verify(root=root)[0] == 0
    assert collected.gathered() == (0, ROUNDS * PAGES)


def test_a_file_that_no_machine_here_has_is_reported_as_lost_once(collected):
    root = another_machine(collected)
    spoil_a_warc_file(collected)
    code, report = collected.verify("--repair", root=root)
    assert code == 1
    assert [each["number"] for each in report["findings"] if each["state"] == "lost"] == [1]
    assert collected.verify(root=root)[0] == 0
    upload_waiting(CrawlSetup.open(collected.small.root))  # the machine that has it
    copied = collected.gathered()
    assert copied == (0, ROUNDS * PAGES)
    assert len(list((collected.folder / "copy" / "warc").glob("*.warc.gz"))) == ROUNDS


def test_rows_that_count_as_uploaded_and_are_not_are_found_and_uploaded(collected):
    record, *_ = answered(50)
    collected.small.keep(record)
    asyncio.run(collected.small.settle(record))
    with closing(sqlite3.connect(collected.small.root / "pages" / "w1.db")) as db, db:
        db.execute(
            "UPDATE change SET version = (SELECT min(version) - 1 FROM change) WHERE id = ?", [ROUNDS * PAGES + 1]
        )
    code, report = collected.verify()
    assert code == 1
    assert "1 segment of this machine has rows that were not uploaded" in str(
        [f"{each['number']} {each['words']}" for each in report["findings"]]
    )
    collected.verify("--repair")
    assert collected.gathered() == (0, ROUNDS * PAGES + 1)


def test_pages_of_a_shared_store_that_are_nowhere_any_more_are_queued_again(tmp_path, redis_url):  # noqa: F811
    url = f"file://{tmp_path}/storage"
    small = SmallCrawl(tmp_path / "small", TOPIC + f"collection: {url}\nstore: {redis_url}\n")
    for start in (1, 4, 7):
        pages = [page(number, [number + 1]) for number in range(start, start + 3)]
        small.keep(*pages)
        asyncio.run(small.settle(*pages))
        upload_waiting(CrawlSetup.open(small.root))
    shutil.rmtree(small.root / "pages")  # the disk was lost
    objects = open_objects(url)
    second = [key for key in objects.sizes("manifest") if "/files." not in key][1]
    objects.delete(f"segments/{json.loads(objects.get(second))['sha256']}.parquet")
    command = ["verify", str(small.root), "--json"]
    assert CliRunner().invoke(thresher, command).exit_code == 1
    repaired = CliRunner().invoke(thresher, [*command, "--repair"])
    states = {each["state"]: each["number"] for each in json.loads(repaired.stdout)["findings"]}
    assert states["repaired"] >= 1, repaired.stdout
    assert asyncio.run(small.state(4)).state == "waiting"  # named by a link; its links name the next ones

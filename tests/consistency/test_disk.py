"""Disks that refuse: words and an exit code, never a traceback; what only reads goes on reading."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from tests.consistency.disks import needs_mounts, on_full_disk, on_read_only_disk, small_crawl, with_limit
from tests.e2e.conftest import CommandLine, serving

FULL = 3


@pytest.fixture(scope="module")
def crawl(tmp_path_factory):
    """A finished crawl of six pages; tests that change it copy it."""
    with serving() as site:
        folder = small_crawl(tmp_path_factory.mktemp("disk"), site)
    urls = [url for (url,) in rows(folder, "SELECT url FROM page")]
    (folder.parent / "url").write_text(urls[0], encoding="utf-8")
    return folder


def rows(folder, query):
    with closing(sqlite3.connect(folder / "pages" / "w1.db")) as db:
        return db.execute(query).fetchall()


def url_of(crawl):
    return (crawl.parent / "url").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["csv", "parquet", "graphml", "opensearch"])
def test_u12_an_export_into_a_folder_that_is_not_there_is_refused_in_words(crawl, form):
    thresher = CommandLine(crawl.parent)
    done = thresher("export", "crawl", "-f", form, "-o", "/nonexist/pages")
    assert done.returncode == 1
    assert done.stderr == "/nonexist/pages cannot be written: No such file or directory; choose another place\n"


def test_u12_output_that_cannot_be_written_is_refused_in_words(crawl):
    for command in (["export", "crawl"], ["status", "crawl"]):
        done = with_limit("-c 0; exec >/dev/full", crawl.parent, *command)
        assert done.returncode == FULL, command
        assert "full" in done.stderr
        assert "Exception" not in done.stderr


@needs_mounts
def test_a8_commands_that_write_report_a_full_disk_and_others_go_on_reading(crawl):
    url = url_of(crawl)
    writing = [["label", "crawl", "--yes", url], ["export", "crawl", "-o", "pages.csv"], ["run", "crawl"]]
    reading = [["status", "crawl"], ["hosts", "crawl"], ["why", "crawl", url], ["export", "crawl"]]
    for command in writing:  # each on a disk of its own: a command that closes databases may make room
        [done] = on_full_disk(crawl, command)
        assert (done.returncode, "disk is full" in done.stderr) == (FULL, True), done
    for done in on_full_disk(crawl, *reading):
        assert (done.returncode, "disk is full" in done.stderr) == (0, False), done


@pytest.mark.parametrize("damage", ["nothing", "middle", "end"])
def test_a8_a_damaged_segment_is_reported_in_words(crawl, tmp_path, damage):
    shutil.copytree(crawl, tmp_path / "crawl")
    segment = tmp_path / "crawl" / "pages" / "w1.db"
    whole = segment.read_bytes()
    if damage == "nothing":
        segment.write_bytes(b"not a database " * 1000)
    elif damage == "middle":
        segment.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 8192) + whole[-4096:])
    else:
        segment.write_bytes(whole[: len(whole) // 2 // 4096 * 4096])
    thresher = CommandLine(tmp_path)
    for command in (
        ["export", "crawl", "--text"],
        ["search", "crawl", "orchard"],
        ["status", "crawl"],
        ["verify", "crawl"],
    ):
        done = thresher(*command)  # an error without words would be raised here
        assert done.returncode == 1, command
        assert "verify" in done.stderr + done.stdout, command


def test_a8_damaged_text_of_a_page_is_reported_in_words(crawl, tmp_path):
    shutil.copytree(crawl, tmp_path / "crawl")
    with closing(sqlite3.connect(tmp_path / "crawl" / "pages" / "w1.db", isolation_level=None)) as db:
        db.execute("UPDATE page SET text = zeroblob(length(text)), markup = zeroblob(length(markup))")
    done = CommandLine(tmp_path)("export", "crawl", "--text")
    assert done.returncode == 1
    assert "damaged" in done.stderr


def test_a12_a_file_size_limit_is_reported_as_a_full_disk(crawl, tmp_path):
    shutil.copytree(crawl, tmp_path / "crawl")
    (tmp_path / "crawl" / "seeds.txt").write_text(url_of(crawl) + "more\n", encoding="utf-8")
    for kilobytes, command in (
        (16, ["run", "crawl", "--pages", "100"]),
        (1, ["export", "crawl", "--text", "-o", "pages.csv"]),
        (4, ["label", "crawl", "--yes", url_of(crawl)]),
    ):
        done = with_limit(f"-f {kilobytes}", tmp_path, *command)
        assert done.returncode == FULL, (command, done.stderr)
        assert "ulimit -f" in done.stderr
    assert not (tmp_path / "pages.csv").exists()


@needs_mounts
def test_a7_commands_that_only_read_print_the_same_on_a_read_only_disk(crawl):
    commands = [
        ["status", "crawl"],
        ["hosts", "crawl"],
        ["frontier", "crawl"],
        ["why", "crawl", url_of(crawl)],
        ["search", "crawl", "orchard"],
        ["export", "crawl"],
        ["export", "crawl", "--mirrors"],
        ["verify", "crawl"],
    ]
    for command, done in zip(commands, on_read_only_disk(crawl, *commands), strict=True):
        expected = CommandLine(crawl.parent)(*command)
        assert (done.returncode, done.stdout) == (0, expected.stdout), done


@needs_mounts
def test_a7_pages_that_are_still_in_a_log_are_read_too(crawl, tmp_path):
    shutil.copytree(crawl, tmp_path / "crawl")
    with closing(sqlite3.connect(crawl / "pages" / "w1.db", isolation_level=None)) as db:
        [title] = db.execute("SELECT title FROM page WHERE page = 1").fetchone()
    source = tmp_path / "crawl" / "pages" / "w1.db"
    with closing(sqlite3.connect(source, isolation_level=None)) as db:
        db.execute("UPDATE page SET title = 'Only in the log' WHERE title = ?", [title])
        killed = tmp_path / "killed"  # as a worker that is killed leaves it: the log is not yet in the file
        shutil.copytree(tmp_path / "crawl", killed)
    (killed / "pages" / "w1.db-shm").unlink()
    assert (killed / "pages" / "w1.db-wal").stat().st_size
    [done] = on_read_only_disk(killed, ["export", "crawl"])
    assert "Only in the log" in done.stdout


@needs_mounts
def test_a7_commands_that_write_refuse_a_read_only_disk_in_words(crawl):
    commands = [["run", "crawl"], ["verify", "crawl", "--repair"], ["label", "crawl", "--yes", url_of(crawl)]]
    for done in on_read_only_disk(crawl, *commands):
        assert (done.returncode, "cannot be written" in done.stderr) == (1, True), done


@pytest.fixture(scope="module")
def collected(crawl):
    """The URL of a collection that has the pages of a copy of the crawl."""
    shutil.copytree(crawl, crawl.parent / "uploaded")
    url = (crawl.parent / "storage").as_uri()
    done = CommandLine(crawl.parent)("run", "uploaded", "--collection", url)
    assert done.returncode == 0, done.stderr
    return url


@pytest.mark.parametrize("kilobytes", [0, 1, 4, 16, 24, 32, 40, 48, 64, 96])
def test_gather_without_room_says_so_and_the_same_command_continues(crawl, collected, tmp_path, kilobytes):
    done = with_limit(f"-f {kilobytes}", tmp_path, "pull", collected, "copy")
    assert done.returncode == FULL, done.stderr
    assert "nothing is lost" in done.stderr
    thresher = CommandLine(tmp_path)
    again = thresher("pull", collected, "copy")
    assert again.returncode == 0, again.stderr
    assert len(thresher("export", "copy", "-f", "jsonl").stdout.splitlines()) == 6
    checked = thresher("verify", "copy")
    assert checked.returncode == 0, checked.stdout


@needs_mounts
def test_gather_on_a_full_disk_says_so(crawl, collected):
    [done] = on_full_disk(crawl.parent / "storage", ["pull", "file:///mnt/crawl", "copy"])
    assert (done.returncode, "disk is full" in done.stderr) == (FULL, True), done

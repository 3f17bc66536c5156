"""A store is made once for a page file, is whole or not there, and is made anew when the file or the code changes."""

import os
import sqlite3
import subprocess
import sys

import pytest
import zstandard

from thresher.errors import StoreError
from thresher_lab.webs import webstore
from thresher_lab.webs.importers.pagefile import SourcePage, write_web
from thresher_lab.webs.virtualweb import VirtualWeb
from thresher_lab.webs.webstore import (
    build_store,
    find_store,
    fingerprint_of,
    known_webs,
    packed_numbers,
    unpacked_numbers,
)


@pytest.fixture
def source(folders):
    path = folders["webs"] / "small.pages.jsonl.zst"
    write_web(path, [SourcePage(url="http://a.example/", html="<p>one</p>")])
    return path


def test_a_store_is_made_once_and_the_user_is_warned_that_it_takes_time(source, folders, caplog):
    first = find_store("small", **folders)
    assert ["small is imported" in message for message in caplog.messages] == [True]
    made = first.stat().st_mtime_ns
    assert find_store("small", **folders) == first
    assert first.stat().st_mtime_ns == made
    assert len(caplog.messages) == 1


def test_a_changed_file_is_imported_again(source, folders):
    before = find_store("small", **folders)
    write_web(source, [SourcePage(url="http://a.example/", html="<p>two, and more</p>")])
    after = find_store("small", **folders)
    assert after != before
    with VirtualWeb("small", after) as web:
        assert web.get("http://a.example/").html == "<p>two, and more</p>"


def test_changed_code_imports_again(source, folders, monkeypatch):
    before = find_store("small", **folders)
    monkeypatch.setattr(webstore, "code_fingerprint", lambda: "another")
    assert find_store("small", **folders) != before


def test_a_broken_import_leaves_nothing_behind(tmp_path):
    def read():
        yield SourcePage(url="http://a.example/", html="")
        raise StoreError("the disk went away")

    with pytest.raises(StoreError):
        build_store(tmp_path / "broken.db", read)
    assert list(tmp_path.iterdir()) == []


def test_two_processes_may_import_at_the_same_time(source, folders):
    script = (
        "import sys; from pathlib import Path; from thresher_lab.webs.webstore import find_store\n"
        "print(find_store('small', webs=Path(sys.argv[1]), cache=Path(sys.argv[2])))"
    )
    command = [sys.executable, "-c", script, str(folders["webs"]), str(folders["cache"])]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    stores = {process.communicate(timeout=60)[0].strip() for process in running}
    assert {process.returncode for process in running} == {0}
    assert [str(path) for path in folders["cache"].iterdir()] == list(stores)


def test_an_address_is_stored_canonically_and_once(tmp_path):
    pages = [
        SourcePage(url="HTTP://A.example:80/x#part", html="<p>first</p>"),
        SourcePage(url="http://a.example/x", html="<p>second</p>"),
        SourcePage(url="mailto:nobody", html="<p>no address</p>"),
    ]
    build_store(tmp_path / "web.db", lambda: pages)
    with VirtualWeb("web", tmp_path / "web.db") as web:
        assert list(web.urls()) == ["http://a.example/x"]
        assert web.get("http://a.example/x").html == "<p>first</p>"


def test_pages_with_much_in_common_are_stored_in_little_room(tmp_path):
    frame = " ".join(f"<li>{fingerprint_of(str(number))}</li>" for number in range(300))
    pages = [SourcePage(url=f"http://a.example/{n}", html=f"{frame}<p>{n}</p>") for n in range(200)]
    build_store(tmp_path / "web.db", lambda: pages)
    db = sqlite3.connect(tmp_path / "web.db")
    stored = db.execute("SELECT sum(length(html)) FROM markup").fetchone()[0]
    db.close()
    compress = zstandard.ZstdCompressor(level=3).compress
    assert stored < 0.5 * sum(len(compress(page.html.encode())) for page in pages)
    with VirtualWeb("web", tmp_path / "web.db") as web:
        assert web.get("http://a.example/150").html == pages[150].html


def test_links_by_another_spelling_are_links(tmp_path):
    pages = [
        SourcePage(url="http://a.example/", html='<a href="/list/index.html">list</a> <a href="/gone">gone</a>'),
        SourcePage(url="http://a.example/list/", html="<a href='https://a.example'>home</a>"),
    ]
    build_store(tmp_path / "web.db", lambda: pages)
    with VirtualWeb("web", tmp_path / "web.db") as web:
        assert [web.links_from(0), web.links_from(1)] == [(1,), (0,)]
        assert '<a href="http://a.example/list/">list</a> <a href="/gone">' in web.get("http://a.example/").html


def test_an_alias_that_the_source_knows_is_believed(tmp_path):
    home = SourcePage(
        url="http://a.example/",
        html='<a href="/welcome.html">us</a>',
        aliases={"http://a.example/welcome.html": "http://a.example/about"},
    )
    build_store(tmp_path / "web.db", lambda: [home, SourcePage(url="http://a.example/about", html="")])
    with VirtualWeb("web", tmp_path / "web.db") as web:
        assert web.links_from(0) == (1,)


def test_numbers_are_packed_in_four_bytes_each():
    assert packed_numbers([1, 70_000]) == b"\x01\x00\x00\x00\x70\x11\x01\x00"
    assert unpacked_numbers(packed_numbers(range(1_000))) == tuple(range(1_000))


def test_webs_are_known_by_their_files_and_views(folders):
    for name in ("webkb", "mine"):
        write_web(folders["webs"] / f"{name}.pages.jsonl.zst", [])
    assert known_webs(folders["webs"]) == ["mine", "webkb", "webkb+misc"]


def test_stores_go_to_the_users_cache_when_nobody_names_a_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("THRESHER_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert webstore.cache_folder() == tmp_path / ".cache" / "thresher" / "webs"
    assert os.listdir(tmp_path) == []

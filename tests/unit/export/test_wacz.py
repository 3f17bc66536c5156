"""A WACZ file holds what was archived of the chosen pages, and what a replay needs to find it."""

import gzip
import hashlib
import io
import json
import subprocess
import sys
import zipfile
from contextlib import closing
from importlib.util import find_spec

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.unit.storage.warc.captures import HTML, answered, archived, url
from thresher.errors import ExportError
from thresher.export import wacz
from thresher.export.formats import PageSelection
from thresher.export.wacz import ARCHIVE, BLOCKS, INDEX, PAGES, WACZ
from thresher.storage.page_store import UNCHANGED, PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.storage.warc.cdxj import merged

AGAIN = 1_700_100_000.5
MARKUP = f"<h1>Cells</h1><p>{'Perovskite cells lose their power in water. ' * 5}</p><nav><a href=/>Home</a></nav>"


@pytest.fixture
def crawl(tmp_path):
    """Three pages, the last with the body of the first; the first was found unchanged later, a fourth not archived."""
    captures = [answered(1, relevance=0.2, markup=MARKUP), answered(2, relevance=0.6)]
    captures.append(answered(3, relevance=0.9, body=HTML.replace(b"Cells", b"Cells 1")))
    unchanged = answered(1, status=304, body=b"", page=False, text="", reason=UNCHANGED, fetched_at=AGAIN)
    archived(tmp_path, *captures)
    archived(tmp_path, unchanged, worker="w2")
    records = [record for record, _ in captures]
    with closing(PageStoreWriter(tmp_path / "pages" / "w1.db")) as writer:
        writer.write([*records, answered(7, relevance=0.95)[0], unchanged[0]])
    return tmp_path


@pytest.fixture
def exported(crawl):
    """Export the pages that an option chooses; return the summary and the opened file."""
    with PageStoreReader(crawl / "pages") as collection:

        def export(name="crawl.wacz", **chosen):
            pages = PageSelection(
                collection=collection, chosen=chosen, crawl="solar", topic="电池", several=False, warc=crawl / "warc"
            )
            return WACZ.write(pages, crawl / name, sys.stdout), zipfile.ZipFile(crawl / name)

        yield export


def lines_of(package):
    """Read the index as a replay does: by the places of its blocks."""
    packed = package.read(BLOCKS)
    head, *places = package.read(INDEX).decode().splitlines()
    assert json.loads(head.removeprefix("!meta 0 ")) == {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}
    for line in places:
        key, _, place = line.partition(" {")
        fields = json.loads("{" + place)
        block = packed[fields["offset"] : fields["offset"] + fields["length"]]
        assert fields["digest"] == f"sha256:{hashlib.sha256(block).hexdigest()}"
        lines = gzip.decompress(block).decode().splitlines(keepends=True)
        assert lines[0].startswith(f"{key} {{")
        yield from lines


def pages_of(package):
    head, *pages = map(json.loads, package.read(PAGES).splitlines())
    assert (head["format"], head["hasText"]) == ("json-pages-1.0", True)
    return pages


def test_pages_have_title_time_and_main_text_best_first(exported):
    _, package = exported()
    pages = pages_of(package)
    assert [page["url"] for page in pages] == [url(3), url(2), url(1)]
    assert pages[2]["text"].startswith("Cells\n\nPerovskite cells lose")
    assert "Home" not in pages[2]["text"]
    assert (pages[2]["title"], pages[2]["ts"]) == ("钙钛矿", "2023-11-14T22:13:21+00:00")


def test_pages_that_were_not_archived_are_counted_and_not_listed(exported):
    summary, _ = exported()
    assert str(summary) == "3 pages, without 1 that were not archived"


def test_every_line_of_the_index_leads_to_its_record(exported):
    _, package = exported()
    records = package.read(ARCHIVE)
    lines = list(lines_of(package))
    assert lines == sorted(lines)
    for line in lines:
        fields = json.loads(line.split(" ", 2)[2])
        start, length = int(fields["offset"]), int(fields["length"])
        assert fields["filename"] == "data.warc.gz"
        [record] = ArchiveIterator(io.BytesIO(records[start : start + length]))
        assert record.rec_headers.get_header("WARC-Target-URI") == fields["url"]


def test_the_index_is_that_of_the_crawl_without_visits_that_found_no_change(exported, crawl):
    _, package = exported()
    assert without_places(lines_of(package)) == [
        line for line in without_places(merged(crawl / "warc")) if '"status": "304"' not in line
    ]
    statuses = [member.http_headers.get_statuscode() for member in responses(package)]
    assert statuses.count("304") == 1  # it is archived


def without_places(lines):
    place = {"offset", "filename"}
    found = []
    for line in lines:
        key, moment, fields = line.split(" ", 2)
        kept = {name: value for name, value in json.loads(fields).items() if name not in place}
        found.append(f"{key} {moment} {json.dumps(kept)}")
    return found


def responses(package):
    records = ArchiveIterator(io.BytesIO(package.read(ARCHIVE)))
    return [record for record in records if record.rec_type in ("response", "revisit")]


def test_what_a_revisit_refers_to_comes_along_but_is_no_page(exported):
    _, package = exported(min_relevance=0.8)
    assert [page["url"] for page in pages_of(package)] == [url(3)]
    found = {(record.rec_type, record.rec_headers.get_header("WARC-Target-URI")) for record in responses(package)}
    assert {("response", url(1)), ("revisit", url(3))} <= found
    assert {json.loads(line.split(" ", 2)[2])["url"] for line in lines_of(package)} == {url(1), url(3)}


def test_a_large_index_has_several_blocks(exported, monkeypatch):
    monkeypatch.setattr(wacz, "LINES_PER_BLOCK", 2)
    _, package = exported()
    assert package.read(INDEX).decode().count("\n") == 1 + 2
    assert len(list(lines_of(package))) == 3


def test_the_manifest_has_the_digest_of_every_file(exported):
    _, package = exported()
    content = package.read("datapackage.json")
    manifest, stated = json.loads(content), json.loads(package.read("datapackage-digest.json"))
    assert stated == {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(content).hexdigest()}"}
    assert (manifest["profile"], manifest["wacz_version"], manifest["description"]) == ("data-package", "1.1.1", "电池")
    listed = {resource["path"]: resource for resource in manifest["resources"]}
    assert set(listed) == {*package.namelist()} - {"datapackage.json", "datapackage-digest.json"}
    for path, resource in listed.items():
        written = package.read(path)
        assert resource["bytes"] == len(written)
        assert resource["hash"] == f"sha256:{hashlib.sha256(written).hexdigest()}"


def test_records_and_index_are_stored_as_they_are_and_found_where_a_replay_expects_them(exported, crawl):
    _, package = exported()
    assert package.getinfo(ARCHIVE).compress_type == package.getinfo(BLOCKS).compress_type == zipfile.ZIP_STORED
    content = (crawl / "crawl.wacz").read_bytes()
    for entry in package.infolist():
        assert entry.extra  # without, wabac.js does not look how long the header is
        sizes = content[entry.header_offset + 26 : entry.header_offset + 30]
        start = entry.header_offset + 30 + int.from_bytes(sizes[:2], "little") + int.from_bytes(sizes[2:], "little")
        stored = content[start : start + entry.compress_size]
        if entry.compress_type == zipfile.ZIP_STORED:
            assert stored == package.read(entry)


def test_a_wacz_file_is_named_as_one(exported):
    with pytest.raises(ExportError, match=r"ends in \.wacz"):
        exported(name="crawl.zip")


@pytest.mark.skipif(find_spec("wacz") is None, reason="wacz is not installed")
def test_webrecorders_validator_accepts_the_file(exported, crawl):
    exported()
    script = "import sys; from wacz.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", script, "validate", "-f", crawl / "crawl.wacz"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "succeeded" in done.stdout.lower()

"""WARC files hold every answer whole, with what was asked and why the page is there."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import textwrap

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.unit.storage.warc.captures import HTML, answered, archived, url, writer
from thresher.records import Outcome
from thresher.storage.page_store import UNCHANGED, PageStoreWriter
from thresher.storage.warc.cdxj import index_path, lines_of_file, merged
from thresher.storage.warc.reader import Damage, Member, walk
from thresher.storage.warc.writer import is_kept


def records(path):
    with path.open("rb") as file:
        for record in ArchiveIterator(file, check_digests=True):
            yield record, record.content_stream().read()
            assert record.digest_checker.passed is not False, record.digest_checker.problems


def kinds(path):
    return [record.rec_type for record, _ in records(path)]


def fields(content):
    return dict(line.split(": ", 1) for line in content.decode().splitlines())


def test_an_answer_becomes_a_response_a_request_and_metadata(tmp_path):
    [path] = archived(tmp_path, answered(1))
    assert kinds(path) == ["warcinfo", "response", "request", "metadata"]
    _, (response, body), (request, _), (metadata, _) = records(path)
    assert response.rec_headers.protocol == "WARC/1.1"
    assert response.rec_headers.get_header("WARC-Target-URI") == url(1)
    assert response.rec_headers.get_header("WARC-Date") == "2023-11-14T22:13:21.250000Z"
    assert b"<title>Cells 1</title>" in body
    assert response.http_headers.headers[1:3] == [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]
    assert request.http_headers.get_header("User-Agent") == "thresher-tests"
    assert request.http_headers.statusline == "/1?b=2&a=1 HTTP/1.1"
    for other in (request, metadata):
        assert other.rec_headers.get_header("WARC-Concurrent-To") == response.rec_headers.get_header("WARC-Record-ID")


def test_the_metadata_say_how_relevant_a_page_is_why_and_how_it_was_found(tmp_path):
    seed, _ = answered(1)
    pages = PageStoreWriter(tmp_path / "pages" / "w2.db")  # found by another worker
    pages.write([seed])
    pages.close()
    [path] = archived(
        tmp_path,
        answered(2, parent=seed.fingerprint, depth=1),
        answered(3, parent=answered(2)[0].fingerprint, depth=2),
    )
    printed = fields([body for record, body in records(path) if record.rec_type == "metadata"][1])
    assert printed["via"] == url(2)
    assert json.loads(printed["path"]) == [url(1), url(2)]
    assert printed["hopsFromSeed"] == "LL"
    assert (printed["relevance"], printed["relevant"]) == ("0.750000", "yes")
    record = json.loads(printed["record"])
    assert record["parts"] == {"match en": 0.75}
    assert record["title"] == "钙钛矿"
    assert "text" not in record


def test_the_same_body_is_archived_once_and_then_revisited(tmp_path):
    first, second = answered(1, body=HTML), answered(2, body=HTML)
    warc = writer(tmp_path)
    warc.write([first])
    warc.write([second])
    warc.close()
    [path] = (tmp_path / "warc").glob("*.warc.gz")
    [(revisit, body)] = [(record, body) for record, body in records(path) if record.rec_type == "revisit"]
    assert body == b""
    assert revisit.rec_headers.get_header("WARC-Refers-To-Target-URI") == url(1)
    assert revisit.rec_headers.get_header("WARC-Refers-To-Date") == "2023-11-14T22:13:21.250000Z"
    assert revisit.rec_headers.get_header("WARC-Profile").endswith("1.1/revisit/identical-payload-digest")


def test_a_body_of_an_earlier_run_is_known_again(tmp_path):
    archived(tmp_path, answered(1, body=HTML))
    *_, path = archived(tmp_path, answered(1, body=HTML, fetched_at=1_800_000_000.0))
    assert "revisit" in kinds(path)


def test_a_page_that_the_server_calls_unchanged_is_a_revisit(tmp_path):
    warc = writer(tmp_path)
    warc.write([answered(1)])
    warc.write(
        [answered(1, status=304, body=b"", reason=UNCHANGED), answered(2, status=304, body=b"", reason=UNCHANGED)]
    )
    warc.close()
    [path] = (tmp_path / "warc").glob("*.warc.gz")
    assert kinds(path).count("revisit") == 1, "what was never archived is not revisited"
    revisit = next(record for record, _ in records(path) if record.rec_type == "revisit")
    assert revisit.rec_headers.get_header("WARC-Profile").endswith("server-not-modified")


def test_headers_of_the_packed_form_are_renamed_and_the_length_is_that_of_the_body(tmp_path):
    lines = [("Content-Encoding", "gzip"), ("Content-Length", "7"), ("X-Bad", "one\r\nX-Smuggled: two")]
    [path] = archived(tmp_path, answered(1, header_lines=lines))
    response, body = next((record, body) for record, body in records(path) if record.rec_type == "response")
    http = response.http_headers
    assert http.get_header("X-Crawler-Content-Encoding") == "gzip"
    assert http.get_header("Content-Encoding") is None
    assert http.get_header("Content-Length") == str(len(body))
    assert http.get_header("X-Smuggled") is None


def test_pages_that_are_not_kept_and_failures_are_not_archived():
    assert is_kept(answered(1)[0])
    assert is_kept(answered(1, status=301)[0])
    assert not is_kept(answered(1, text="")[0])
    assert not is_kept(answered(1, status=404)[0])
    assert not is_kept(answered(1, status=302, outcome=Outcome.FAILED)[0])


def test_a_large_file_is_closed_and_another_begun(tmp_path):
    paths = archived(tmp_path, *(answered(number, body=os.urandom(3000)) for number in range(10)), max_bytes=10_000)
    assert len(paths) >= 3
    assert all(index_path(path).exists() for path in paths)
    found = [record for path in paths for record, _ in records(path) if record.rec_type == "response"]
    assert len(found) == 10


def test_two_workers_have_files_of_their_own(tmp_path):
    archived(tmp_path, answered(1), worker="w1")
    names = [path.name for path in archived(tmp_path, answered(2), worker="w2")]
    assert [name.split("-")[0] for name in names] == ["w1", "w2"]


def test_the_index_of_the_writer_is_the_one_that_is_made_from_the_file(tmp_path):
    answers = [answered(number) for number in range(5)]
    again = answered(7, body=answers[0][1].body)
    warc = writer(tmp_path)
    warc.write(answers)
    warc.write([again, answered(8, status=301, body=b""), answered(9, status=304, body=b"")])
    warc.close()
    [path] = (tmp_path / "warc").glob("*.warc.gz")
    lines = index_path(path).read_text(encoding="utf-8").splitlines(keepends=True)
    assert lines == lines_of_file(path)
    assert lines == sorted(lines)
    assert len(lines) == 8
    key, moment, entry = lines[0].split(" ", 2)
    assert key == "example,h0)/0?a=1&b=2"
    assert moment == "20231114221320"
    assert json.loads(entry)["status"] == "200"


def test_a_line_of_the_index_leads_to_its_record(tmp_path):
    archived(tmp_path, *map(answered, range(20)), max_bytes=3000)
    lines = list(merged(tmp_path / "warc"))
    assert lines == sorted(lines)
    assert len(lines) == 20
    for line in lines:
        entry = json.loads(line.split(" ", 2)[2])
        with (tmp_path / "warc" / entry["filename"]).open("rb") as file:
            file.seek(int(entry["offset"]))
            record = next(ArchiveIterator(file))
            assert record.rec_headers.get_header("WARC-Target-URI") == entry["url"]


def test_a_file_without_an_index_is_read_for_it(tmp_path):
    [path] = archived(tmp_path, answered(1))
    lines = list(merged(path.parent))
    index_path(path).unlink()
    assert list(merged(path.parent)) == lines


def test_when_the_disk_is_full_no_half_record_stays(tmp_path, monkeypatch):
    warc, write = writer(tmp_path), os.write
    warc.write([answered(1)])

    def full(file, content):
        if len(content) < 100:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, content[: len(content) // 2])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        warc.write([answered(2)])
    monkeypatch.undo()
    warc.write([answered(3)])
    warc.close()
    [path] = (tmp_path / "warc").glob("*.warc.gz")
    assert kinds(path).count("response") == 2
    assert not any(isinstance(found, Damage) for found in walk(path))
    assert len(lines_of_file(path)) == 2


def test_kill_9_leaves_whole_records_and_at_most_one_torn_at_the_end(tmp_path):
    script = textwrap.dedent(f"""
        import os, pathlib
        from tests.unit.storage.warc.captures import answered, writer
        warc = writer(pathlib.Path({str(tmp_path)!r}))
        for number in range(100_000):
            warc.write([answered(number, body=os.urandom(200_000))])
            print(number, flush=True)
    """)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        written = [int(process.stdout.readline()) for _ in range(20)]
        os.kill(process.pid, signal.SIGKILL)
        written += [int(line) for line in process.stdout]
    [path] = (tmp_path / "warc").glob("*.warc.gz")
    found = list(walk(path))
    whole = {member.headers["warc-target-uri"] for member in found if getattr(member, "kind", "") == "response"}
    assert whole >= {url(number) for number in written}
    damages = [place for place in found if isinstance(place, Damage)]
    assert len(damages) <= 1
    assert all(damage.at_end for damage in damages)
    writer(tmp_path, "w2").close()
    assert not index_path(path).exists(), "another worker may still write to it"
    writer(tmp_path).close()
    assert index_path(path).read_text() == "".join(lines_of_file(path))


def test_a_file_cut_anywhere_is_read_up_to_the_last_whole_record(tmp_path):
    [path] = archived(tmp_path, *map(answered, range(3)))
    content, members = path.read_bytes(), [found for found in walk(path) if isinstance(found, Member)]
    ends = [member.offset + member.length for member in members]
    assert ends[-1] == len(content)
    for size in range(1, len(content), 7):
        path.write_bytes(content[:size])
        found = list(walk(path))
        whole = [member for member in found if isinstance(member, Member)]
        assert len(whole) == sum(end <= size for end in ends)
        assert (len(found) > len(whole)) == (size not in ends)


def test_names_of_files_say_who_wrote_them_and_when(tmp_path):
    [path] = archived(tmp_path, answered(1))
    assert re.fullmatch(r"w1-\d{14}-00000\.warc\.gz", path.name)

"""A crawl with WARC files: every page that is kept is in them, with what was asked and why, and verify agrees."""

import gzip
import io
import json
import zipfile

import pyarrow.parquet as pq
import pytest
import yaml
from warcio.archiveiterator import ArchiveIterator

from tests.e2e.conftest import quick
from thresher.storage.warc.cdxj import merged

SOLAR = "<p>Perovskite solar cells: perovskite layers make solar cells cheap.</p>"


@pytest.fixture
def archived(site, thresher, tmp_path):
    site.pages = {
        "/": f'<title>Seed</title>{SOLAR}<a href="/good">perovskite cells</a> <a href="/moved">old</a>',
        "/good": (
            200,
            {"Content-Type": "text/html", "Set-Cookie": "a=1", "X-Thing": "yes"},
            f"<title>Good</title>{SOLAR}<p>Tandem.</p>",
        ),
        "/moved": (301, {"Location": "/better"}, ""),
        "/better": f"<title>Better</title>{SOLAR}<p>Silicon.</p>",
    }
    made = thresher("new", "solar", "--topic", "perovskite solar cells", "--seed", site.url("/"))
    assert made.returncode == 0, made.stderr
    quick(tmp_path / "solar")
    topic = tmp_path / "solar" / "topic.yaml"
    config = yaml.safe_load(topic.read_text(encoding="utf-8"))
    config.setdefault("output", {})["warc"] = True
    topic.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    ran = thresher("run", "solar")
    assert ran.returncode == 0, ran.stderr
    return tmp_path / "solar"


def records(folder):
    for path in sorted((folder / "warc").glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                yield record, record.content_stream().read()


def test_pages_and_redirects_are_archived_with_question_and_reasons(archived, site, thresher):
    found = list(records(archived))
    answers = {r.rec_headers.get_header("WARC-Target-URI"): (r, body) for r, body in found if r.rec_type == "response"}
    assert set(answers) == {site.url(path) for path in ("/", "/good", "/moved", "/better")}
    good, body = answers[site.url("/good")]
    assert b"Tandem" in body
    assert good.http_headers.get_header("X-Thing") == "yes"
    assert answers[site.url("/moved")][0].http_headers.get_statuscode() == "301"
    asked = [record for record, _ in found if record.rec_type == "request"]
    assert all("thresher" in record.http_headers.get_header("User-Agent").lower() for record in asked)
    reasons = [body.decode() for record, body in found if record.rec_type == "metadata"]
    [of_better] = [printed for printed in reasons if '"title":"Better"' in printed]
    assert json.dumps([site.url("/"), site.url("/moved")], separators=(",", ":")) in of_better
    assert len(list(merged(archived / "warc"))) == 4
    verified = thresher("verify", "solar")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "4 captures" in verified.stdout


def test_the_archive_of_a_crawl_leaves_for_replay_and_as_a_table(archived, site, thresher, tmp_path):
    replay = thresher("export", "solar", "-f", "wacz", "-o", "crawl.wacz")
    assert replay.stderr.startswith("3 pages in crawl.wacz"), replay.stderr
    with zipfile.ZipFile(tmp_path / "crawl.wacz") as package:
        _, *pages = map(json.loads, package.read("pages/pages.jsonl").splitlines())
        lines = gzip.decompress(package.read("indexes/index.cdx.gz")).decode().splitlines()
    assert {page["url"] for page in pages} == {site.url(path) for path in ("/", "/good", "/better")}
    assert all("Perovskite solar cells" in page["text"] for page in pages)
    assert len(lines) == 3  # the redirect is no page
    table = thresher("export", "solar", "-f", "url-index", "-o", "index")
    assert table.stderr.startswith("3 captures of pages in index"), table.stderr
    for row in pq.read_table(tmp_path / "index").to_pylist():
        with (archived / row["warc_filename"]).open("rb") as file:
            file.seek(row["warc_record_offset"])
            [record] = ArchiveIterator(io.BytesIO(file.read(row["warc_record_length"])))
        assert record.rec_headers.get_header("WARC-Target-URI") == row["url"]
        assert (row["crawl"], row["subset"], row["fetch_status"], row["url_port"]) == ("solar", "warc", 200, site.port)

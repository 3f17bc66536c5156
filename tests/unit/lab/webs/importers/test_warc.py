"""WARC files become webs; their records are understood without the library that reads them."""

import io
import sys

import pytest

from thresher.errors import ConfigError
from thresher_lab.webs.importers.warc import from_warc, read_record


class Headers(dict):
    def get_header(self, name):
        return self.get(name)

    def get_statuscode(self):
        return self["status"]


class Record:
    """A record as warcio gives it."""

    def __init__(self, body, *, kind="response", status="200", content_type="text/html"):
        self.rec_type = kind
        self.rec_headers = Headers({"WARC-Target-URI": "http://a.example/"})
        self.http_headers = Headers({"status": status, "Content-Type": content_type})
        self._body = body

    def content_stream(self):
        return io.BytesIO(self._body)


def test_a_page_is_decoded():
    page = read_record(Record("<p>学校的中文网站首页</p>".encode("gbk"), content_type="text/html; charset=gbk"))
    assert (page.url, page.html) == ("http://a.example/", "<p>学校的中文网站首页</p>")


@pytest.mark.parametrize(
    "record", [Record(b"", kind="request"), Record(b"", status="404"), Record(b"", content_type="image/png")]
)
def test_what_is_no_page_is_left_out(record):
    assert read_record(record) is None


def test_a_record_without_an_answer_is_left_out():
    record = Record(b"")
    record.http_headers = None
    assert read_record(record) is None


def test_without_warcio_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "warcio.archiveiterator", None)
    with pytest.raises(ConfigError, match=r'pip install "thresher-crawler\[lab\]"'):
        next(from_warc([tmp_path / "x.warc.gz"]))


def test_a_warc_file_becomes_pages(tmp_path):
    pytest.importorskip("warcio", reason="needs warcio: pip install 'thresher-crawler[lab]'")
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>W</title>"
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\n"
        "WARC-Date: 2020-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(answer)}\r\n\r\n"
    )
    path = tmp_path / "x.warc"
    path.write_bytes(head.encode() + answer + b"\r\n\r\n")
    assert [(page.url, page.html) for page in from_warc([path])] == [("http://a.example/", "<title>W</title>")]

"""Answers to archive, for the tests of WARC files."""

from thresher.records import FetchedPage, Outcome
from thresher.storage.page_store import PageRecord
from thresher.storage.warc.provenance import Paths
from thresher.storage.warc.writer import WarcWriter
from thresher.urls.canonical import fingerprint

ABOUT = {"software": "Thresher tests", "format": "WARC File Format 1.1", "operator": "tests@example.org"}
HTML = b"<html><head><title>Cells</title></head><body><p>Perovskite \xe9\x92\x99 cells</p></body></html>"


def url(number):
    return f"http://h{number % 3}.example/{number}?b=2&a=1"


def answered(number, *, body=None, status=200, header_lines=(), **more):
    """A page with its answer."""
    text = f"words of {number}" if 200 <= status < 300 else ""
    fields = {
        "fingerprint": fingerprint(url(number)),
        "url": url(number),
        "status": status,
        "outcome": Outcome.DONE,
        "fetched_at": 1_700_000_000.25 + number,
        "page": bool(text),
        "text": text,
        "relevance": 0.75,
        "relevant": True,
        "parts": {"match en": 0.75},
        "title": "钙钛矿",
        **more,
    }
    record = PageRecord(**fields)
    lines = header_lines or [("Content-Type", "text/html; charset=utf-8"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]
    answer = FetchedPage(
        url=record.url,
        status=status,
        headers={"content-type": "text/html"},
        body=HTML.replace(b"Cells", b"Cells %d" % number) if body is None else body,
        fetched_at=record.fetched_at,
        header_lines=lines,
        request_lines=[("User-Agent", "thresher-tests"), ("Accept", "text/html")],
    )
    return record, answer


def writer(folder, worker="w1", **options):
    return WarcWriter(folder / "warc", worker, about=ABOUT, paths=Paths(folder / "pages"), **options)


def archived(folder, *answers, **options):
    """Archive answers, complete the files and return where they lie."""
    warc = writer(folder, **options)
    warc.write(answers)
    warc.close()
    return sorted((folder / "warc").glob("*.warc.gz"))

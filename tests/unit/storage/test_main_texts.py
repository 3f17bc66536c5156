"""The main text that is extracted when it is read is the one that a worker would have extracted."""

import pytest

from tests.unit.parsing.test_main_content import CHINESE, ENGLISH, MENU, html
from thresher.parsing import main_content as module
from thresher.parsing.html import parse
from thresher.parsing.main_content import MAX_BYTES, MAX_TAGS, MOST_BYTES, main_blocks, main_content
from thresher.parsing.markup import markup
from thresher.records import Outcome
from thresher.storage.page_store import PageRecord, PageStoreWriter
from thresher.storage.reader import PageStoreReader

URL = "http://a.example/cells"
RENDERED = "<!DOCTYPE html><html><head></head><body><div id=root><main><p>{}</p></main></div></body></html>"
KINDS = {
    "English": (html(ENGLISH), "text/html"),
    "Chinese": (html(CHINESE), "text/html; charset=utf-8"),
    "Chinese in GB 18030": (html(CHINESE, "gb18030"), "text/html; charset=gb2312"),
    "another charset in its meta element": (html(ENGLISH + "é").replace(b"utf-8", b"gb2312"), "text/html"),
    "UTF-16": (html(CHINESE, "utf-16"), "text/html"),
    "XHTML": (b'<?xml version="1.0"?>' + html(ENGLISH), "application/xhtml+xml"),
    "without a type": (html(ENGLISH), ""),
    "rendered by a browser": (RENDERED.format(ENGLISH).encode(), "text/html; charset=utf-8"),
    "truncated": (html(CHINESE)[:-700], "text/html"),
    "plain text": (ENGLISH.encode(), "text/plain; charset=utf-8"),
    "only links": (f"<ul>{MENU}</ul>".encode(), "text/html"),
    "blocks and relative links": (f"<div>{MENU}</div><div>{ENGLISH}</div><div>{MENU}</div>".encode(), "text/html"),
    "unclosed elements": (b"<font><b><i><p>word " * 900, "text/html"),
    "nothing": (b"", "text/html"),
    "bytes": (bytes(range(256)) * 20, "text/html"),
    "many bytes": (html(ENGLISH * (MAX_BYTES // len(ENGLISH))), "text/html"),
    "many tags": (html("<p>a" * MAX_TAGS), "text/html"),
    "too many bytes": (html(ENGLISH * (MOST_BYTES // len(ENGLISH))), "text/html"),
}


def extracted_by_a_worker(page, body, content_type):
    """Extract with the page and its bytes at hand."""
    if len(body) > MOST_BYTES or content_type.startswith("text/plain"):
        return page.text
    is_light = len(body) <= MAX_BYTES and body.count(b"<") <= 2 * MAX_TAGS
    found = module._extracted(markup(body, content_type)) if is_light else ""
    return found or main_blocks(page) or page.text


def record_of(page, body, content_type):
    main = main_content(page, body, content_type)
    known = {"fingerprint": 1, "url": page.url, "status": 200, "outcome": Outcome.DONE, "fetched_at": 1.0, "page": True}
    return PageRecord(**known, text=page.text, main=main.text, markup=main.markup)


@pytest.fixture(params=["extractor", "blocks"])
def _way(request, monkeypatch):
    if request.param == "blocks":
        monkeypatch.setattr(module, "_extractor", lambda: None)


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_main_text_is_read_as_was_extracted_at_the_fetch(kind, tmp_path):
    body, content_type = KINDS[kind]
    page = parse(URL, body, content_type)
    writer = PageStoreWriter(tmp_path / "w1.db")
    writer.write([record_of(page, body, content_type)])
    writer.close()
    stored = extracted_by_a_worker(page, body, content_type).encode("utf-8", "replace").decode()
    with PageStoreReader(tmp_path) as collection:
        assert collection.main_text(1) == stored
        assert collection.text(1) == page.text.encode("utf-8", "replace").decode()


def test_a_url_without_a_page_has_no_main_text(tmp_path):
    PageStoreWriter(tmp_path / "w1.db").close()
    with PageStoreReader(tmp_path) as collection:
        assert collection.main_text(1) == ""


def test_the_markup_of_the_last_visit_is_read(tmp_path):
    writer = PageStoreWriter(tmp_path / "w1.db")
    for text in (ENGLISH, CHINESE):
        body = html(text)
        writer.write([record_of(parse(URL, body, "text/html"), body, "text/html")])
    writer.close()
    with PageStoreReader(tmp_path) as collection:
        assert CHINESE in collection.main_text(1)

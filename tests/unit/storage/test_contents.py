"""The content that is read from the page store is extracted from what a worker stored."""

import pytest

from tests.unit.parsing.test_main_content import CHINESE, ENGLISH, html
from thresher.errors import DamagedFile
from thresher.parsing.html import parse
from thresher.parsing.main_content import stored_markup
from thresher.records import Outcome
from thresher.storage.page_store import PageRecord, PageStoreWriter, StoredContent
from thresher.storage.reader import PageStoreReader

URL = "http://a.example/cells"
KNOWN = {"fingerprint": 1, "url": URL, "status": 200, "outcome": Outcome.DONE, "fetched_at": 1.0, "page": True}


def stored(folder, *records):
    writer = PageStoreWriter(folder / "w1.db")
    writer.write(records)
    writer.close()
    return PageStoreReader(folder)


def record_of(body, content_type="text/html"):
    page = parse(URL, body, content_type)
    return PageRecord(**KNOWN, text=page.text, markup=stored_markup(page, body, content_type))


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, ENGLISH * 1000])
def test_the_content_is_extracted_from_the_markup(text, tmp_path):
    with stored(tmp_path, record_of(html(text))) as collection:
        assert collection.content(1).text == f"Cells\n\n{text.strip()}\n\n{text.strip()}"
        assert collection.content(1).markdown.startswith("# Cells\n\n")


def test_without_markup_the_stored_text_is_the_content(tmp_path):
    with stored(tmp_path, PageRecord(**KNOWN, text="all the words")) as collection:
        assert collection.content(1).text == "all the words"


def test_the_main_text_of_earlier_formats_is_read(tmp_path):
    with stored(tmp_path, PageRecord(**KNOWN, text="menu one two", main="one\ntwo")) as collection:
        assert collection.content(1).text == "one\n\ntwo"


def test_a_page_without_visible_content_falls_back_to_its_text(tmp_path):
    record = PageRecord(
        **KNOWN, text="Title of a page", markup="<title>Title of a page</title><meta name=author content=A>"
    )
    with stored(tmp_path, record) as collection:
        assert collection.content(1).text == "Title of a page"
        assert collection.content(1).metadata.author == "A"


def test_a_url_without_a_page_has_no_content(tmp_path):
    with stored(tmp_path) as collection:
        assert collection.content(1).markdown == ""


def test_the_markup_of_the_last_visit_is_read(tmp_path):
    with stored(tmp_path, record_of(html(ENGLISH)), record_of(html(CHINESE))) as collection:
        assert CHINESE in collection.content(1).text


def test_damaged_bytes_are_reported():
    with pytest.raises(DamagedFile):
        StoredContent(URL, markup=b"no zstd").content()

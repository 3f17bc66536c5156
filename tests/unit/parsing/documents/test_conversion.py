"""Documents are converted in a child process, which may fail without harm."""

import sys

import pytest

from testing.malicious_pdfs import content, pdf
from thresher.parsing.documents import conversion
from thresher.parsing.documents.conversion import DocumentConverter
from thresher.parsing.documents.document import DocumentLimits
from thresher.parsing.isolated import Unparsable
from thresher.records import FetchedPage

FAULTY = """
from thresher.parsing.documents import conversion, pdf
def faulty(body, limits):
    if b"hang" in body:
        while True: pass
    if b"memory" in body:
        bytearray(1 << 30)
    if b"write" in body:
        open("/tmp/thresher-should-not-exist", "wb").write(b"x")
    if b"crash" in body:
        __import__("os").abort()
    return read_pdf(body, limits)
read_pdf, pdf.read_pdf = pdf.read_pdf, faulty
conversion.main()
"""


def fetched(body=None, **more):
    headers = {"content-type": "application/pdf", "etag": '"1"'}
    return FetchedPage(
        url="http://a.example/x", status=200, headers=headers, body=body or pdf(), fetched_at=1.0, **more
    )


@pytest.fixture
def converter(monkeypatch):
    """A converter that only CPU time limits: a busy machine may need long for half a second of it."""
    monkeypatch.setattr(conversion, "EXTRA_SECONDS", 120.0)
    made = DocumentConverter(limits=DocumentLimits(seconds=0.5), command=[sys.executable, "-c", FAULTY])
    yield made
    made.close()


async def test_a_document_becomes_a_page(converter):
    page = await converter.convert(fetched(), "pdf")
    assert page.headers == {"content-type": "text/html; charset=utf-8", "etag": '"1"'}
    assert b"Perovskite solar cells" in page.body
    assert not page.truncated


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"hang", "PDF, more than 0.5 s"),
        (b"memory", "PDF, more memory than allowed"),
        (b"write", "PDF, damaged"),
        (b"crash", "PDF, the parser broke down"),
        (b"%PDF-", "PDF, damaged"),
        (content(b""), r"PDF, no text \(scanned\)"),
    ],
)
async def test_a_document_that_cannot_be_read_is_refused_for_good_and_the_next_one_is_read(converter, body, why):
    with pytest.raises(Unparsable, match=f"cannot be parsed: {why}") as caught:
        await converter.convert(fetched(body), "pdf")
    assert caught.value.final
    assert b"Perovskite" in (await converter.convert(fetched(), "pdf")).body


async def test_a_truncated_document_is_named_so(converter):
    with pytest.raises(Unparsable, match="PDF, truncated"):
        await converter.convert(fetched(b"%PDF-1.7\n1 0 obj", truncated=True), "pdf")
    assert (await converter.convert(fetched(truncated=True), "pdf")).truncated


async def test_a_document_that_is_not_read_to_its_end_is_truncated():
    converter = DocumentConverter(limits=DocumentLimits(max_pages=1))
    try:
        two = pdf({2: b"<</Type/Pages/Kids[3 0 R 3 0 R]/Count 2>>"})
        assert (await converter.convert(fetched(two), "pdf")).truncated
    finally:
        converter.close()

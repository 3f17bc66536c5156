"""A PDF is read as a page: text in paragraphs, headings, links, title and fields of its head."""

import pytest

from testing.malicious_pdfs import CATALOG, PAGE, TEXT, catalog, content, pdf, stream
from thresher.parsing.documents.document import DocumentLimits, UnreadableDocument
from thresher.parsing.documents.pdf import read_pdf
from thresher.parsing.html import parse_markup

URL = "http://a.example/x.pdf"
LINK = b"<</Type/Annot/Subtype/Link/Rect[%s]/A<</S/URI/URI(%s)>>>>"


def read(body, **limits):
    return read_pdf(body, DocumentLimits(**limits))


def page_of(body):
    return parse_markup(URL, str(read(body)))


def lines(*texts, size=12, top=720, pitch=14):
    shown = b"".join(b"(%s) Tj 0 -%d Td " % (text, pitch) for text in texts)
    return b"BT /F1 %d Tf 72 %d Td %s ET\n" % (size, top, shown)


def pages(*contents):
    """Return a file with a page for each content."""
    objects = {1: CATALOG % b""}
    kids = []
    for place, data in enumerate(contents):
        number = 10 + 2 * place
        objects[number] = (PAGE % (b"", b"")).replace(b"4 0 R", b"%d 0 R" % (number + 1))
        objects[number + 1] = stream(data)
        kids.append(b"%d 0 R" % number)
    objects[2] = b"<</Type/Pages/Kids[%s]/Count %d>>" % (b" ".join(kids), len(kids))
    return pdf(objects)


def test_the_text_of_a_page_is_read_and_is_its_title_when_there_is_no_other():
    page = page_of(pdf())
    assert page.title == "Perovskite solar cells and their efficiency"
    assert page.text == f"{page.title} {page.title}"


def test_title_and_other_fields_come_from_the_document():
    info = b"<</Title(On cells)/Author(A. Author)/Subject(Energy)/Keywords(solar, cell)/CreationDate(D:20230102)>>"
    source = str(read(pdf({6: info}, trailer=b"/Info 6 0 R")))
    page = parse_markup(URL, source)
    assert (page.title, page.keywords, page.description) == ("On cells", "solar, cell", "Energy")
    assert '<meta name="author" content="A. Author">' in source
    assert '<meta name="date" content="2023-01-02">' in source


@pytest.mark.parametrize("title", [b"untitled", b"Microsoft Word - x.doc", b"paper.tex", b""])
def test_a_title_that_says_nothing_is_ignored(title):
    assert page_of(pdf({6: b"<</Title(%s)>>" % title}, trailer=b"/Info 6 0 R")).title.startswith("Perovskite")


def test_lines_are_joined_to_paragraphs():
    first = lines(b"The first line of a para-", b"graph goes on,", b"and ends here.")
    second = lines(b"Another paragraph", b"is here.", top=640)
    source = str(read(content(first + second)))
    assert "<p>The first line of a paragraph goes on, and ends here.</p>" in source
    assert "<p>Another paragraph is here.</p>" in source


def test_large_lines_are_headings():
    page = page_of(content(lines(b"Solar cells", size=20) + lines(b"Small text about", b"solar cells.", top=680)))
    assert page.headings == ("Solar cells",)


def test_lines_of_almost_the_same_size_are_one_heading():
    heading = lines(b"A long heading", size=24) + lines(b"of two lines", size=23, top=692)
    assert page_of(content(heading + lines(*[b"Text."] * 9, top=600))).headings == ("A long heading of two lines",)


def test_the_outline_gives_headings():
    entries = {
        6: b"<</First 7 0 R/Last 8 0 R>>",
        7: b"<</Title(Perovskite solar cells and their efficiency)/Next 8 0 R/Dest[3 0 R/Fit]>>",
        8: b"<</Title(Not on the page)/Dest[3 0 R/Fit]>>",
    }
    page = page_of(catalog(b"/Outlines 6 0 R", entries))
    assert set(page.headings) == {"Perovskite solar cells and their efficiency", "Not on the page"}


def test_links_of_annotations_are_over_their_text():
    annotated = pdf(
        {
            3: PAGE % (b"", b"/Annots[6 0 R 7 0 R 8 0 R]"),
            6: LINK % (b"72 715 126 735", b"http://b.example/perovskite"),
            7: LINK % (b"400 100 500 120", b"relative.pdf"),
            8: LINK % (b"400 200 500 220", b"javascript:alert(1)"),
        }
    )
    links = [(link.url, link.anchor) for link in page_of(annotated).links]
    assert links == [("http://b.example/perovskite", "Perovskite"), ("http://a.example/relative.pdf", "")]


def test_urls_in_the_text_are_links():
    page = page_of(content(lines(b"See http://b.example/x for more.")))
    assert [link.url for link in page.links] == ["http://b.example/x"]


def test_headers_and_footers_are_left_out():
    one = [
        lines(b"Journal of Cells", top=780) + lines(b"Text of page %d." % n, top=400) + lines(b"%d" % n, top=20)
        for n in range(6)
    ]
    page = page_of(pages(*one))
    assert "Journal" not in page.text
    assert page.text.endswith(
        "Text of page 0. Text of page 1. Text of page 2. Text of page 3. Text of page 4. Text of page 5."
    )


def test_pages_beyond_the_limit_are_left_out():
    body = pages(*(lines(b"Text of page number %d." % n) for n in range(3)))
    assert not read(body, max_pages=3).is_cut
    cut = read(body, max_pages=2)
    assert cut.is_cut
    assert "number 1" in str(cut)
    assert "number 2" not in str(cut)


def test_a_page_that_cannot_be_read_is_skipped():
    body = pages(TEXT, TEXT).replace(b"/Type/Page/", b"/Type/Xage/", 1)
    assert "Perovskite" in str(read(body))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"%PDF-1.7\nnothing", "damaged"),
        (b"", "damaged"),
        (content(b"q Q"), "no text"),
        (pdf(trailer=b"/Encrypt<</Filter/Other>>/ID[<00><00>]"), "encrypted"),
    ],
)
def test_the_reason_is_named(body, why):
    with pytest.raises(UnreadableDocument, match=why):
        read(body)

"""A DOCX document is read within limits: text, headings, lists, tables and links."""

import io
import zipfile

import pytest

from thresher.parsing.documents import docx
from thresher.parsing.documents.document import UnreadableDocument
from thresher.parsing.documents.docx import read_docx
from thresher.parsing.html import parse_markup

START = (
    '<w:document xmlns:w="w" xmlns:r="r" xmlns:mc="mc"><w:body>'
    '<w:p><w:pPr><w:pStyle w:val="1"/></w:pPr><w:r><w:t>Solar cells</w:t></w:r></w:p>'
)
BODY = (
    START
    + '<w:p><w:r><w:t xml:space="preserve">About </w:t></w:r><w:hyperlink r:id="rId7"><w:r><w:t>perovskite</w:t></w:r>'
    "</w:hyperlink><w:r><w:tab/><w:t>&amp; more</w:t><w:instrText>HYPERLINK</w:instrText></w:r></w:p>"
    "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>an item</w:t></w:r></w:p>"
    "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    "</w:body></w:document>"
)
STYLES = '<w:styles xmlns:w="w"><w:style w:styleId="1"><w:name w:val="heading 1"/></w:style></w:styles>'
LINKS = '<Relationships><Relationship Id="rId7" TargetMode="External" Target="http://b.example/p"/></Relationships>'
PROPERTIES = '<c xmlns:dc="dc"><dc:title>On cells</dc:title><dc:creator>A. Author</dc:creator></c>'


def archive(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in files.items():
            packed.writestr(NAMES[name], text)
    return buffer.getvalue()


NAMES = {
    "body": "word/document.xml",
    "styles": "word/styles.xml",
    "links": "word/_rels/document.xml.rels",
    "properties": "docProps/core.xml",
    "other": "word/other.xml",
}


def test_a_document_is_read():
    source = str(read_docx(archive(body=BODY, styles=STYLES, links=LINKS, properties=PROPERTIES)))
    page = parse_markup("http://a.example/x.docx", source)
    assert page.title == "On cells"
    assert page.headings == ("Solar cells",)
    assert page.text == "On cells Solar cells About perovskite & more an item a b"
    assert [(link.url, link.anchor) for link in page.links] == [("http://b.example/p", "perovskite")]
    assert '<meta name="author" content="A. Author">' in source
    assert "<table>\n<tr><td>a</td><td>b</td></tr>\n</table>" in source
    assert "<ul>\n<li>an item</li>\n</ul>" in source


@pytest.mark.parametrize(
    "body",
    [b"", b"PK\x03\x04 and nothing", archive(other="x"), archive(body="no XML"), archive(body=BODY)[:-100]],
)
def test_a_damaged_document_is_refused(body):
    with pytest.raises(UnreadableDocument, match="damaged"):
        read_docx(body)


def test_a_document_without_text_is_refused():
    with pytest.raises(UnreadableDocument, match="no text"):
        read_docx(archive(body="<w:document xmlns:w='w'><w:body/></w:document>"))


def test_an_encrypted_document_is_refused():
    body = bytearray(archive(body=BODY))
    place = body.index(b"PK\x01\x02")
    body[6] |= 1
    body[place + 8] |= 1
    with pytest.raises(UnreadableDocument, match="encrypted"):
        read_docx(bytes(body))


def test_entities_and_depth_are_refused():
    laughs = '<!DOCTYPE d [<!ENTITY a "ha">]>' + BODY
    with pytest.raises(UnreadableDocument, match="damaged"):
        read_docx(archive(body=laughs))
    deep = START + "<w:x>" * 500
    assert read_docx(archive(body=deep)).is_cut


def test_a_bomb_is_cut_off(monkeypatch):
    monkeypatch.setattr(docx, "MAX_XML_BYTES", 1 << 20)
    assert read_docx(archive(body=START + " " * (2 << 20))).is_cut
    assert read_docx(archive(body=START + "<w:p><w:r><w:t>" + "x" * (2 << 20))).is_cut


def test_long_text_is_cut_off_at_the_limit():
    html = read_docx(
        archive(body=START + "<w:p><w:r><w:t>" + "word " * 300_000 + "</w:t></w:r></w:p></w:body></w:document>")
    )
    assert html.is_cut
    assert html.is_full

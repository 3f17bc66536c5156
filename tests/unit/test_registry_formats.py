"""Export formats and document formats are found by name, and a package can add one."""

import sys
from contextlib import closing
from importlib.metadata import EntryPoint

import pytest
from click.testing import CliRunner

from tests.unit.storage.test_collection import page
from thresher import registry
from thresher.cli import thresher
from thresher.config.schema import CrawlConfig, DocumentsConfig
from thresher.engine.download.request import usual_headers
from thresher.export.formats import ExportSummary, PageSelection
from thresher.parsing.documents.document import DocumentHtml, UnreadableDocument
from thresher.parsing.documents.formats import DocumentFormat
from thresher.parsing.response import ResponseKind, classify_response
from thresher.records import FetchedPage
from thresher.storage.page_store import PageStoreWriter
from thresher.storage.reader import PageStoreReader


class Urls:
    is_folder = False

    def write(self, pages, path, out):
        number = 0
        for row in pages.rows(text=False, markdown=False):
            number += 1
            out.write(row["url"] + "\n")
        return ExportSummary(number, "pages")


def read_rtf(body, limits):
    if not body.startswith(b"{\\rtf"):
        raise UnreadableDocument("damaged")
    return DocumentHtml(title="An RTF document")


RTF = DocumentFormat(
    label="RTF",
    media_types=("application/rtf", "text/rtf"),
    is_body=lambda body: body.startswith(b"{\\rtf"),
    reader=f"{__name__}:read_rtf",
)


@pytest.fixture
def plug_ins(monkeypatch):
    installed = {
        "thresher.export_formats": EntryPoint("urls", f"{__name__}:URLS", "thresher.export_formats"),
        "thresher.document_formats": EntryPoint("rtf", f"{__name__}:RTF", "thresher.document_formats"),
    }
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [installed[group]] * (group in installed))


URLS = Urls()


def test_a_package_adds_an_export_format(plug_ins, tmp_path, capsys):
    with closing(PageStoreWriter(tmp_path / "w1.db")) as writer:
        writer.write([page(1, url="http://a.example/", at=1)])
    with PageStoreReader(tmp_path) as collection:
        pages = PageSelection(collection=collection, chosen={}, crawl="c", topic="t", several=False, warc=tmp_path)
        written = registry.find("export format", "urls").write(pages, None, sys.stdout)
    assert (str(written), capsys.readouterr().out) == ("1 pages", "http://a.example/\n")


def test_a_package_adds_a_document_format(plug_ins):
    config = CrawlConfig.model_validate({"documents": {"formats": ["pdf", "rtf"]}})
    assert ",application/pdf;q=0.7,application/rtf;q=0.7," in usual_headers(config)["Accept"]
    sent = FetchedPage(
        url="http://a.example/", status=200, headers={"content-type": "text/rtf"}, body=b"{\\rtf", fetched_at=1.0
    )
    assert classify_response(sent, config.documents.formats).document == "rtf"
    assert classify_response(sent, ["pdf"]).kind is ResponseKind.REFUSAL
    assert RTF.load()(b"{\\rtf", None).title == "An RTF document"


def test_a_document_format_that_nobody_reads_is_refused():
    with pytest.raises(ValueError, match=r"'rtf' is not a format of documents; known: docx, pdf"):
        DocumentsConfig(formats=["rtf"])


def test_an_unknown_export_format_is_refused_with_the_known_ones():
    failed = CliRunner().invoke(thresher, ["export", ".", "-f", "exel"])
    assert failed.exit_code == 2
    assert "'jsonl', 'csv', 'parquet', 'markdown', 'dataset', 'opensearch', 'graphml', 'warc'" in failed.output

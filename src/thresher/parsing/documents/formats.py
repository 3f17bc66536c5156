"""The formats of documents that are read, by the names of the registry; a name is the file name extension too.

A package adds one by an entry point in the group ``thresher.document_formats``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

from thresher import registry
from thresher.parsing.documents.document import DocumentHtml, DocumentLimits

KIND = "document format"
Reader = Callable[[bytes, DocumentLimits], DocumentHtml]
_PDF_MARK_WITHIN = 1024


@dataclass(frozen=True, kw_only=True)
class DocumentFormat:
    """A format of documents.

    Args:
        label: Its name in messages.
        media_types: Those of its responses; the first is the one that is asked for.
        is_body: Whether a body without a media type is such a document.
        reader: The function that reads a body, as ``module:function``. Only a child process with limits imports it.
    """

    label: str
    media_types: Sequence[str]
    is_body: Callable[[bytes], bool]
    reader: str

    def load(self) -> Reader:
        """Import the function, which raises `UnreadableDocument` for a document that it cannot read."""
        module, _, function = self.reader.partition(":")
        reader: Reader = getattr(import_module(module), function)
        return reader


def document_format(name: str) -> DocumentFormat:
    """Return a format by its name."""
    found: DocumentFormat = registry.find(KIND, name)
    return found


PDF = DocumentFormat(
    label="PDF",
    media_types=("application/pdf", "application/x-pdf"),
    is_body=lambda body: b"%PDF-" in body[:_PDF_MARK_WITHIN],
    reader="thresher.parsing.documents.pdf:read_pdf",
)
DOCX = DocumentFormat(
    label="DOCX",
    media_types=("application/vnd.openxmlformats-officedocument.wordprocessingml.document",),
    is_body=lambda body: body.startswith(b"PK\x03\x04") and b"word/document.xml" in body,
    reader="thresher.parsing.documents.docx:read_docx",
)

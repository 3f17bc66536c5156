"""Malicious and damaged documents get no more time and memory than allowed."""

from tests.faults.documents import DOCX, cases, convert, is_bounded

QUICK = ("billion laughs", "depth", "20,000 files", "an entity of a file", "no archive", "half an archive")


def test_every_document_is_read_or_refused_within_its_limits():
    files = cases({name: DOCX[name] for name in QUICK}, 4)
    found = convert(files)
    assert len(found.read) + len(found.refused) + len(found.unfinished) == len(files)
    assert is_bounded(found), found
